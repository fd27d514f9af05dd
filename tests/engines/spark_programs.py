"""Programs that a test starts and lets die: a stream whose driver is killed, a job whose executor is.

`python spark_programs.py stream FOLDER` counts a stream, and kills itself in the first batch that it has not
killed itself in before; `executor FOLDER` has the first task kill the Java process that runs it.
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


@dataclass(frozen=True)
class ExecutorKilled(Killed):
    """A job whose first task kills the executor, which is the parent of the daemon that forks workers."""

    def _die_once(self, made: list[Partial]) -> list[Partial]:
        import psutil

        mark = Path(self.mark, "killed")
        if not mark.exists():
            mark.touch()
            psutil.Process().parent().parent().kill()
            signal.pause()  # until Spark ends this worker too
        return made


def executor(folder: Path) -> None:
    """Count files on two executors, of which the first to have counted something dies."""
    spark = session("local-cluster[2,1,1024]")
    job = ExecutorKilled(OLH, mark=str(folder))
    files = find_files(folder / "files")
    found = merge(job, on_spark._collected(on_spark._from_paths(spark, job, files))).total()
    (folder / "result.tally").write_bytes(found.to_bytes())
    spark.stop()


if __name__ == "__main__":
    from pyspark import cloudpickle

    from engines import lakes

    cloudpickle.register_pickle_by_value(lakes)
    {"stream": stream, "executor": executor}[sys.argv[1]](Path(sys.argv[2]))
