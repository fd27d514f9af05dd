"""Programs that a test starts in a process of their own, most of them to let something die.

- `python spark_programs.py stream FOLDER` counts a stream, and kills itself in the first batch in which it
  has not done so before.
- `executor FOLDER KILLS` has the first task of each job kill the Java process that runs it.
- `accumulator FOLDER` does so between the stages of a job.
- `connect FOLDER ADDRESS` counts through a server of Spark Connect.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.lakes import OLH, Killed
from ldpkit.engines import spark as on_spark
from ldpkit.engines.lake import find_files
from ldpkit.engines.partial import Partial
from ldpkit.engines.tallies import merge


def session(master: str) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.deploy.maxExecutorRetries": "-1",  # a new executor for each that dies
        # Work begins when both executors are there, on a busy machine too: so each has something to lose.
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "5min",
    }.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def stream(folder: Path) -> None:
    """Count what has come in; the driver dies once in each batch but the last, when it has written it."""
    spark = session("local[2]")
    incoming = str(folder / "incoming")
    write = on_spark.batch_writer(str(folder / "tallies"), OLH)
    last = len(list((folder / "incoming").iterdir())) - 1

    def die_once(frame: Any, batch: int) -> None:
        write(frame, batch)
        mark = folder / f"died-{batch}"
        if batch < last and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    frame = spark.readStream.schema(spark.read.parquet(incoming).schema)
    rows = frame.option("maxFilesPerTrigger", 1).parquet(incoming)
    query = rows.writeStream.foreachBatch(die_once).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    found = on_spark.read_batches(str(folder / "tallies"), OLH, session=spark).total()
    (folder / "result.tally").write_bytes(found.to_bytes())
    spark.stop()


def kill_executor() -> None:
    """Kill the Java process whose daemon has forked this worker, and wait until Spark ends the worker too."""
    import psutil

    psutil.Process().parent().parent().kill()
    signal.pause()


@dataclass(frozen=True)
class ExecutorKilled(Killed):
    """A job whose first task kills its executor when it has counted."""

    def _die_once(self, made: list[Partial]) -> list[Partial]:
        mark = Path(self.mark, "killed")
        if not mark.exists():
            mark.touch()
            kill_executor()
        return made


def executor(folder: Path, kills: str) -> None:
    """Count files on two executors, of which the first to have counted something dies; so many times."""
    spark = session("local-cluster[2,1,1024]")
    files = find_files(folder / "files")
    for kill in range(int(kills)):
        mark = folder / str(kill)
        mark.mkdir()
        job = ExecutorKilled(OLH, mark=str(mark))
        found = merge(job, on_spark._collected(on_spark._from_paths(spark, job, files))).total()
        (mark / "result.tally").write_bytes(found.to_bytes())
    spark.stop()


def accumulator(folder: Path) -> None:
    """Count in an accumulator too, and lose an executor when the first stage of the job is done."""
    from engines.accumulators import tally_twice

    spark = session("local-cluster[2,1,1024]")
    mark = folder / "killed"

    def lose() -> None:
        mark.touch()  # first: nobody comes back from the death
        kill_executor()

    returned, accumulated = tally_twice(spark, find_files(folder / "files"), lose, mark)
    (folder / "result.tally").write_bytes(returned.to_bytes())
    (folder / "accumulated.tally").write_bytes(accumulated.to_bytes())
    spark.stop()


def connect(folder: Path, address: str) -> None:
    """Count paths, rows and blocks with a client of Spark Connect, and what the command line shows."""
    import pickle

    from engines import lakes
    from ldpkit.cli.lake import BadRows, Engine, Lake

    command = Lake([str(folder / "rows")], Engine.spark, address, ["question", "day"], BadRows.refuse)
    found = {"command": dict(command.tallies())}
    spark, asked = on_spark.start_session(address), {"app": lakes.OLH, "mood": lakes.GRR}
    assert type(spark).__module__ == "pyspark.sql.connect.session"
    by = ["question", "day"]
    rows, blocks = (spark.read.parquet(str(folder / name)) for name in ("rows", "blocks"))
    found["paths"] = dict(on_spark.tally(folder / "rows", asked, by=by, session=spark))
    found["rows"] = dict(on_spark.tally(rows, asked, by=by))
    found["blocks"] = dict(on_spark.tally(blocks, asked, by=by, blocks=True))
    spark.stop()
    texts = {name: {key: tally.to_bytes() for key, tally in each.items()} for name, each in found.items()}
    (folder / "connect.pickle").write_bytes(pickle.dumps(texts))


if __name__ == "__main__":
    from pyspark import cloudpickle

    from engines import accumulators, lakes

    cloudpickle.register_pickle_by_value(lakes)
    cloudpickle.register_pickle_by_value(accumulators)
    programs = {"stream": stream, "executor": executor, "accumulator": accumulator, "connect": connect}
    programs[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
