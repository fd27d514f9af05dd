"""Dask: tallies of reports on many workers, and maximum likelihood over more than one memory holds.

Tasks are given the names of files and read them, or the partitions of a Dask frame. They
return partial tallies, which are added where the client is. Without a client, Dask's own
scheduler runs the tasks in threads of this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MissingDependencyError
from ldpkit.core.typing import Counts
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.engines.dedup import first_of_each
from ldpkit.engines.lake import Paths, find_files
from ldpkit.engines.likelihood import PartedEvidence, likelihood_of
from ldpkit.engines.partial import Job, Partial, Reading, check_job
from ldpkit.engines.simulation import SimulatedUsers
from ldpkit.engines.tallies import Tallies, merge
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import REPORT, Bad
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["likelihood", "simulate", "tally"]


def tally(
    reports: Any,
    mechanism: Mechanism | Mapping[Any, Mechanism] | None = None,
    by: Iterable[str] = (),
    *,
    unique: str | None = None,
    client: Any = None,
    watch: Watch = unwatched,
    **reading: Unpack[Reading],
) -> Tallies:
    """Return the tallies of reports by group, counted where they lie.

    Parameters
    ----------
    reports : Dask DataFrame, or paths
        A frame, or files, folders and patterns that every worker can read.
    mechanism, by, reading
        As of `ldpkit.engines.local.tally`.
    unique : str, optional
        A column with an id of each report: of rows with the same id the first in the order of
        files counts. The client holds 16 bytes for each report while it looks for them, and every file
        is read twice; only for files.
    client : distributed.Client, optional
        By default the current one, or threads of this process where there is none.
    watch : callable, optional
        Watches tasks end, for a progress bar.

    Examples
    --------
    >>> import ldpkit, pathlib, tempfile
    >>> from ldpkit.engines import dask as on_dask
    >>> from ldpkit.files.arrow import write_parquet
    >>> oracle = ldpkit.OLH(16, epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "a.parquet")
    ...     write_parquet(file, oracle, [oracle.privatize([3] * 100)], ldpkit.Provenance())
    ...     found = on_dask.tally(folder)
    >>> found.total().n
    100
    """
    is_frame = hasattr(reports, "to_delayed")
    job = check_job(mechanism, by, told=not is_frame, **reading)
    if is_frame:
        if unique is not None:
            raise InvalidParameterError("unique looks through files: give paths instead of a frame")
        parts = _frame_parts(reports, job)
        return merge(job, _chained(_run(_count_frame, [(job, part) for part in parts], client, watch)))
    files = find_files(reports)
    if unique is None:
        return merge(job, _chained(_run(_count_file, [(job, file) for file in files], client, watch)))
    ids = _run(_read_ids, [(file, unique) for file in files], client, watch)
    kept = first_of_each(ids)
    tasks = [(job, file, each) for file, each in zip(files, kept, strict=True)]
    return merge(job, _chained(_run(_count_kept, tasks, client, watch)))


def likelihood(
    paths: Paths,
    oracle: FrequencyOracle | None = None,
    *,
    column: str = REPORT,
    bad: Bad = "refuse",
    client: Any = None,
    watch: Watch = unwatched,
) -> Evidence | PartedEvidence:
    """Return the likelihood to maximise, over reports that no one memory holds.

    Each file is a part. A step asks every part for its sums, and adds them in the order of the
    files: `estimate("mle")` has the same bits as in one process with the same parts, whichever
    worker had which file. Workers keep nothing between steps: they read the file again, and hold one
    file each at a time.

    Parameters
    ----------
    paths : str, path or several
        Files, folders and patterns that every worker can read.
    oracle : FrequencyOracle, optional
        What made the reports; by default what the files say.
    column, bad
        As of `tally`.
    client : distributed.Client, optional
        By default the current one, or threads of this process where there is none.
    watch : callable, optional
        Watches tasks of the first pass end, for a progress bar.

    Examples
    --------
    >>> import ldpkit, pathlib, tempfile
    >>> from ldpkit.engines import dask as on_dask
    >>> from ldpkit.files.arrow import write_parquet
    >>> oracle = ldpkit.OLH(16, epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "a.parquet")
    ...     write_parquet(file, oracle, [oracle.privatize([3, 3, 5] * 2000)], ldpkit.Provenance())
    ...     estimate = on_dask.likelihood(folder, oracle).estimate("mle")
    >>> bool(abs(estimate[3] - 2 / 3) < 5 * estimate.stderr[3])
    True
    """
    files = find_files(paths)
    counted = tally(files, oracle, column=column, bad=bad, client=client, watch=watch)

    def run(work: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        return _run(work, arguments, client, unwatched)

    return likelihood_of(files, counted, column, bad, run)


def simulate(
    oracle: FrequencyOracle, counts: Counts, *, seed: int, tasks: int = 16, client: Any = None
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
    tasks : int
        Into how many parts the people are divided.
    client : distributed.Client, optional
        By default the current one, or threads of this process where there is none.

    Examples
    --------
    >>> import ldpkit
    >>> simulate(ldpkit.GRR(3, epsilon=1), [600, 300, 100], seed=1, tasks=2)
    Tallies(one group, n=1000, bad=0)
    """
    users = SimulatedUsers(oracle, counts, seed)
    number = min(tasks, max(users.blocks, 1))
    shares = [(users, place, number) for place in range(number)]
    return merge(Job(oracle), _chained(_run(SimulatedUsers.count_share, shares, client, unwatched)))


def _count_file(job: Job, file: str) -> list[Partial]:
    return job.count_paths([file])


def _count_kept(job: Job, file: str, kept: Any) -> list[Partial]:
    return job.count_paths([file], kept)


def _count_frame(job: Job, part: Any) -> list[Partial]:
    import pyarrow as pa

    table = pa.Table.from_pandas(part[[*job.by, job.column]], preserve_index=False)
    return job.count_batches([table], "a partition of the frame")


def _read_ids(file: str, column: str) -> Any:
    from ldpkit.engines.dedup import read_ids

    return read_ids(file, column)


def _frame_parts(frame: Any, job: Job) -> list[Any]:
    for name in (job.column, *job.by):
        if name not in frame.columns:
            raise InvalidInputError(
                f"the frame has no column {name!r}: it has {', '.join(map(str, frame.columns))[:200]}"
            )
    parts: list[Any] = list(frame.to_delayed())
    return parts


def _chained(made: Iterable[list[Partial]]) -> Iterator[Partial]:
    return (partial for rows in made for partial in rows)


def _run(work: Callable[..., Any], arguments: list[tuple[Any, ...]], client: Any, watch: Watch) -> list[Any]:
    """Return what the work on each of some arguments gives, in their order."""
    try:
        import dask
    except ImportError:
        raise MissingDependencyError("dask", "the engine dask", "dask") from None
    client = client or _current_client()
    tasks = [dask.delayed(work, pure=False)(*each) for each in arguments]
    if client is None:
        return _run_in_threads(tasks, watch)
    from distributed import as_completed

    futures = client.compute(tasks)
    with contextlib.ExitStack() as stack:
        stack.callback(client.cancel, futures)
        with watching(as_completed(futures), len(futures), "counting", watch) as ended:
            for _ in ended:
                pass
        return list(client.gather(futures))


def _run_in_threads(tasks: list[Any], watch: Watch) -> list[Any]:
    """Return what tasks give that run in threads of this process."""
    import dask
    from dask.callbacks import Callback

    ours = {task.key for task in tasks}
    with watching(range(len(tasks) + 1), len(tasks), "counting", watch) as passing:
        next(passing)  # each further one says that a task has ended

        def tell(key: Any, *_: Any) -> None:
            if key in ours:  # a frame has tasks of its own
                next(passing, None)

        with Callback(posttask=tell):
            return list(dask.compute(*tasks, scheduler="threads"))


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:  # there is none
        return None
