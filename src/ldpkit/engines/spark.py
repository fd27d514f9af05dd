"""Spark: tallies of reports in a lake, through the DataFrame API alone, classic and Connect.

Three ways for reports to reach the tasks:

- paths (the default for files): a task is given the names of files and reads them itself, so
  that no report passes through the JVM;
- rows: a task is given the rows of a frame, a report each;
- blocks: a row of the frame holds many reports.

Reports are never shuffled. A task returns partial tallies, and these are added where the
session is. Nothing counts in accumulators: Spark may run a task twice.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack, get_type_hints

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MissingDependencyError
from ldpkit.core.typing import Counts
from ldpkit.engines.lake import find_files
from ldpkit.engines.partial import Job, Partial, Reading, check_job
from ldpkit.engines.simulation import SimulatedUsers
from ldpkit.engines.tallies import Tallies, merge
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = [
    "batch_writer",
    "check_java",
    "partial_tallies",
    "read_batches",
    "simulate",
    "start_session",
    "tally",
]

_SQL = {str: "string", int: "bigint", bytes: "binary"}
_SCHEMA = ", ".join(f"{name} {_SQL[kind]}" for name, kind in get_type_hints(Partial).items())
_ALONE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}
_TASKS_A_CORE = 4  # so many that cores end together, so few that partial tallies are few
_NO_ID = "ldpkit: no id"
_KEYS = ("string", "byte", "short", "int", "bigint", "tinyint", "smallint", "date", "boolean")


def tally(
    reports: Any,
    mechanism: Mechanism | Mapping[Any, Mechanism] | None = None,
    by: Iterable[str] = (),
    *,
    unique: str | None = None,
    session: Any = None,
    **reading: Unpack[Reading],
) -> Tallies:
    """Return the tallies of reports by group, counted where they lie.

    Parameters
    ----------
    reports : Spark DataFrame, or paths
        A frame, or files, folders and patterns that every worker can read.
    mechanism, by, reading
        As of `ldpkit.engines.local.tally`.
    unique : str, optional
        A column with an id of each report: of rows with the same id one counts, the least in
        the order of bytes. This is the one thing that shuffles the reports, each once through
        the network and through disks, and needs them as rows. A row without an id is refused, and `by`
        then names columns, not folders.
    session : SparkSession, optional
        By default the one that is active, or a new one.

    Returns
    -------
    Tallies
        A mapping from keys, as text, to tallies: `estimate`, intervals and consistency work on
        them as everywhere.
    """
    job = check_job(mechanism, by, told=not is_frame(reports), **reading)
    return merge(job, _collected(partial_tallies(reports, job, unique=unique, session=session)))


def is_frame(reports: Any) -> bool:
    """Whether something is a frame of Spark, and not paths."""
    return hasattr(reports, "mapInArrow")


def partial_tallies(reports: Any, job: Job, *, unique: str | None = None, session: Any = None) -> Any:
    """Return the frame of partial tallies, not yet computed: a few small rows for each task."""
    if not is_frame(reports):
        spark = session or start_session()
        files = find_files(reports)
        if unique is None:
            return _from_paths(spark, job, files)
        if job.mechanism is None:
            raise InvalidParameterError(
                "rows without their file do not say what made them: give the mechanism"
            )
        reports = spark.read.parquet(*files)
    return _from_rows(reports, job, unique)


def _from_paths(spark: Any, job: Job, files: list[str]) -> Any:
    """Count files in tasks that read them: what Spark moves is the number of a task."""
    tasks = min(len(files), _TASKS_A_CORE * _parallelism(spark))
    # Neighbours lie in one folder, so a task has few groups.
    cuts = [len(files) * place // tasks for place in range(tasks + 1)]
    shares = [files[start:stop] for start, stop in itertools.pairwise(cuts)]

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield _as_batch(job.count_paths(shares[place]))

    return spark.range(0, tasks, 1, tasks).mapInArrow(count, _SCHEMA)


def _from_rows(frame: Any, job: Job, unique: str | None) -> Any:
    from pyspark.sql import functions as sf

    kinds = dict(frame.dtypes)
    for name in (job.column, *job.by, *([unique] if unique else [])):
        if name not in kinds:
            raise InvalidInputError(f"the frame has no column {name!r}: it has {', '.join(kinds)[:200]}")
    if kinds[job.column] != "binary":
        raise InvalidInputError(
            f"the column {job.column!r} holds {kinds[job.column]}, not bytes: name the column of reports"
        )
    for name in job.by:
        if kinds[name] not in _KEYS and not kinds[name].startswith(("varchar", "char")):
            raise InvalidInputError(
                f"the column {name!r} holds {kinds[name]}: group by text, whole numbers, dates or booleans"
            )
    chosen = [sf.col(_quoted(name)).cast("string").alias(name) for name in job.by]
    chosen.append(sf.col(_quoted(job.column)).alias(job.column))
    if unique is not None:
        own = sf.col(_quoted(unique))
        least = sf.min(sf.struct(*chosen, own.isNull().alias(_NO_ID))).alias("row")
        rows = frame.groupBy(own).agg(least).select("row.*")
    else:
        rows = frame.select(*chosen)

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        known = batches if unique is None else _with_ids(batches, unique)
        yield _as_batch(job.count_batches(known, "a partition of the frame"))

    return rows.mapInArrow(count, _SCHEMA)


def _with_ids(batches: Iterator[Any], unique: str) -> Iterator[Any]:
    """Pass on rows that have an id; all that have none are one row by now, so they must be refused."""
    for batch in batches:
        if True in batch.column(batch.schema.names.index(_NO_ID)).to_pylist():
            raise InvalidInputError(f"a row of the frame has no {unique}: repair the row")
        yield batch


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _as_batch(rows: list[Partial]) -> Any:
    import pyarrow as pa

    arrow = {str: pa.string(), int: pa.int64(), bytes: pa.binary()}
    kinds = [arrow[kind] for kind in get_type_hints(Partial).values()]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(Partial._fields)
    arrays = [pa.array(list(each), kind) for each, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, list(Partial._fields))


def _collected(frame: Any) -> Iterator[Partial]:
    for row in frame.collect():
        values = row.asDict()
        yield Partial(**{**values, "counts": bytes(values["counts"])})


def simulate(
    oracle: FrequencyOracle, counts: Counts, *, seed: int, tasks: int | None = None, session: Any = None
) -> Tallies:
    """Simulate a collection: make and count the report of every person, by partition.

    This is a simulation, not a collection: whoever runs it knows all values and the seed, so
    it protects nobody, and the tally says so. The reports are the same whatever the number of tasks.

    Parameters
    ----------
    oracle : FrequencyOracle
        What makes the reports.
    counts : array of int
        How many people hold each value.
    seed : int
        What the randomness comes from.
    tasks : int, optional
        Into how many parts the people are divided.
    session : SparkSession, optional
        By default the one that is active, or a new one.
    """
    spark = session or start_session()
    users = SimulatedUsers(oracle, counts, seed)
    number = min(tasks or _TASKS_A_CORE * _parallelism(spark), max(users.blocks, 1))

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield _as_batch(users.count_share(place, number))

    frame = spark.range(0, number, 1, number).mapInArrow(count, _SCHEMA)
    return merge(Job(oracle), _collected(frame))


def _parallelism(spark: Any) -> int:
    """Return how many tasks run at once, as far as the session says it; Connect keeps it to itself."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # of Connect, whose error differs between versions
        return 64


def start_session(master: str | None = None, name: str = "ldpkit") -> Any:
    """Return the active session, or a new one, on a master such as local[2] or sc://host if one is given."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependencyError("pyspark", "the engine spark", "spark") from None
    remote = master is not None and master.startswith("sc://")
    active = None if master is not None else SparkSession.getActiveSession()
    if active is not None:
        return active
    if remote:
        return SparkSession.builder.remote(master).appName(name).getOrCreate()
    if "SPARK_REMOTE" not in os.environ:
        check_java()
    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):  # nobody else needs to reach it
            for setting, value in _ALONE.items():
                builder = builder.config(setting, value)
    return builder.getOrCreate()


def check_java() -> None:
    """Refuse to start Spark here where there is no Java to run it."""
    home = os.environ.get("JAVA_HOME")
    there = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if there is None:
        place = f"JAVA_HOME={home}" if home else "the search path"
        raise InvalidInputError(
            f"Spark needs Java 17 or newer, and {place} has none: install a Java runtime (on Debian "
            "openjdk-17-jre-headless), or give the address of a cluster such as sc://host"
        )


def batch_writer(
    folder: str,
    mechanism: Mechanism | Mapping[Any, Mechanism],
    by: Iterable[str] = (),
    **reading: Unpack[Reading],
) -> Callable[[Any, int], None]:
    """Return what `foreachBatch` of a stream calls: it writes the partial tallies of a batch to its folder.

    Spark numbers the batches in its checkpoint, and gives a batch that was not finished again with
    the same number and the same rows. Each has one folder, which is overwritten, so a batch that
    runs twice counts once. Late rows are just another partial tally of their group.

    Parameters
    ----------
    folder : str
        Where the folders of batches go; every worker must be able to write there.
    mechanism, by, reading
        As of `tally`.
    """
    job = check_job(mechanism, by, told=False, **reading)

    def write(frame: Any, batch: int) -> None:
        made = partial_tallies(frame, job)
        made.write.mode("overwrite").parquet(f"{folder}/batch={batch}")

    return write


def read_batches(
    folder: str,
    mechanism: Mechanism | Mapping[Any, Mechanism],
    by: Iterable[str] = (),
    *,
    question: str = "question",
    session: Any = None,
) -> Tallies:
    """Return the sum of what `batch_writer` has written so far, given the same mechanism and keys."""
    job = check_job(mechanism, by, question=question)
    spark = session or start_session()
    frame = spark.read.schema(_SCHEMA).parquet(f"{folder}/batch=*")
    return merge(job, _collected(frame.select(*Partial._fields)))
