"""Spark on this machine: the tallies of one process in every mode, a worker killed, a stream that fails.

All of it is one test, because a start of Spark costs more than everything that is done with it.
"""

from __future__ import annotations

import os
import pickle
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collector.serving import free_port
from engines import accumulators, lakes
from engines.lakes import GRR, OLH, make_lake
from engines.running import check_java, run
from ldpkit.core.errors import InvalidInputError
from ldpkit.engines import local
from ldpkit.engines import spark as on_spark
from ldpkit.engines.lake import find_files
from ldpkit.engines.partial import check_job
from ldpkit.engines.tallies import merge
from ldpkit.mechanisms.tally import Tally
from slow import slow

pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
BY = ["question", "day", "region"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    check_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark import cloudpickle as spark_pickle
    from pyspark.sql import SparkSession

    for module in (lakes, accumulators):  # workers know the package, not the tests
        spark_pickle.register_pickle_by_value(module)
    builder = SparkSession.builder.master("local[2,4]").appName("tests")  # a task may fail three times
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",  # the same Java serves Connect
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(free_port()),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # for a short life
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    for module in (lakes, accumulators):
        spark_pickle.unregister_pickle_by_value(module)


def plan_of(frame):
    return frame._jdf.queryExecution().executedPlan().toString()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("repeats", [1, *slow(10)])
def test_spark_counts_as_one_process_does(spark, lake, tmp_path, repeats):
    """One session of Spark, some small jobs, a kill and a stream: the start is most of the cost."""
    folder, asked = lake
    _check_modes(spark, folder, asked, tmp_path)
    _check_refusals(spark, folder, asked, tmp_path)
    _check_plan_of_many_groups(spark, tmp_path)
    _check_unique(spark, tmp_path)
    for repeat in range(repeats):
        _check_killed_worker(spark, folder, tmp_path / f"kill-{repeat}")
    _check_accumulator(spark, folder, tmp_path)
    _check_connect(spark, tmp_path / "connect")
    _check_stream(spark, tmp_path, failures=min(repeats, 5))
    counts = np.full(64, 3000)
    made = [on_spark.simulate(OLH, counts, seed=4, tasks=tasks, session=spark).total() for tasks in (1, 3)]
    assert made[0] == made[1]
    assert made[0].provenance.randomness == "seeded"


def _check_modes(spark, folder, asked, tmp_path):
    one = local.tally(folder, asked, by=BY)
    assert dict(on_spark.tally(folder, asked, by=BY, session=spark)) == dict(one)
    assert dict(on_spark.tally(str(folder), by=["question"])) == dict(local.tally(folder, by=["question"]))
    rows = spark.read.parquet(str(folder))
    assert dict(on_spark.tally(rows, asked, by=BY)) == dict(one)
    make_lake(tmp_path / "blocks", kind="blocks")
    blocks = spark.read.parquet(str(tmp_path / "blocks"))
    by = ["question", "day"]
    assert dict(on_spark.tally(blocks, asked, by=by, blocks=True)) == dict(local.tally(folder, asked, by=by))


def _check_refusals(spark, folder, asked, tmp_path):
    rows = spark.read.parquet(str(folder))
    with pytest.raises(InvalidInputError, match="frame has no column 'city'"):
        on_spark.tally(rows, asked, by=["question", "city"])
    with pytest.raises(InvalidInputError, match="'region' holds string, not bytes"):
        on_spark.tally(rows, OLH, column="region")
    with pytest.raises(InvalidInputError, match=r"holds reports of GRR.*, not of OLH"):
        on_spark.tally(folder / "question=mood", OLH, session=spark)
    good = OLH.encode(OLH.privatize([1]))
    (tmp_path / "bad").mkdir()
    pq.write_table(pa.table({"report": [good, b"short", None]}), tmp_path / "bad" / "a.parquet")
    frame = spark.read.parquet(str(tmp_path / "bad"))
    with pytest.raises(InvalidInputError, match="row 2: 5 bytes, reports of OLH"):
        on_spark.tally(frame, OLH)
    found = on_spark.tally(frame, OLH, bad="count")
    assert (found.n, found.bad) == (1, 2)
    empty = frame.filter("report is null and report is not null")
    assert on_spark.tally(empty, OLH).total().n == 0


def _check_plan_of_many_groups(spark, tmp_path):
    """160 groups by question and day: no report is moved between tasks."""
    n, names = 1600, [f"q{number}" for number in range(16)]
    reports = OLH.privatize(lakes.values(n, 64, 1))
    columns = {"question": [names[row % 16] for row in range(n)], "day": [row // 16 % 10 for row in range(n)]}
    lakes.write_table(tmp_path / "many" / "a.parquet", OLH, reports, **columns)
    frame = spark.read.parquet(str(tmp_path / "many"))
    job = check_job(dict.fromkeys(names, OLH), ["question", "day"])
    partials = on_spark.partial_tallies(frame, job)
    assert "Exchange" not in plan_of(partials)
    assert "Exchange" in plan_of(frame.groupBy("question").count())  # as a plan that shuffles says it
    found = merge(job, on_spark._collected(partials))
    assert len(found) == 160
    assert dict(found) == dict(local.tally(tmp_path / "many", job.mechanism, by=job.by))


def _check_unique(spark, tmp_path):
    reports = GRR.privatize([0, 1, 2] * 10)
    ids = [f"r{row}" for row in range(30)]
    lakes.write_table(tmp_path / "twice" / "a.parquet", GRR, reports, id=ids)
    lakes.write_table(tmp_path / "twice" / "b.parquet", GRR, reports[20:], id=ids[20:])
    found = on_spark.tally(tmp_path / "twice", GRR, unique="id", session=spark)
    assert found.total() == GRR.tally(reports)
    lakes.write_table(tmp_path / "twice" / "c.parquet", GRR, reports[:2], id=pa.nulls(2, pa.string()))
    with pytest.raises(InvalidInputError, match="has no id: repair the row"):
        on_spark.tally(tmp_path / "twice", GRR, unique="id", session=spark)


def _check_killed_worker(spark, folder, mark):
    """A Python worker dies when it has counted; its task runs again, and returns its tally once."""
    mark.mkdir()
    files = find_files(folder / "question=app")
    job = lakes.Killed(OLH, mark=str(mark))
    found = merge(job, on_spark._collected(on_spark._from_paths(spark, job, files))).total()
    assert (mark / "killed").exists()
    assert found == local.tally(files, OLH).total()


def _check_accumulator(spark, folder, tmp_path):
    """The negative control: outputs of a stage are lost, its tasks run again, an accumulator adds twice."""
    files = find_files(folder / "question=app")
    lose = accumulators.delete_outputs(spark.conf.get("spark.local.dir"))
    returned, accumulated = accumulators.tally_twice(spark, files, lose, tmp_path / "lost")
    whole = local.tally(files, OLH).total()
    assert returned == whole
    assert accumulated.n > whole.n
    assert accumulated != whole  # so the comparison that every engine must pass catches it


def _check_connect(spark, folder):
    """A client in another process, through the Connect server of this one's Java."""
    make_lake(folder / "rows")
    make_lake(folder / "blocks", kind="blocks")
    port = spark.conf.get("spark.connect.grpc.binding.port")
    done = run("connect", folder, f"sc://127.0.0.1:{port}")
    assert done.returncode == 0, done.stderr[-2000:]
    one = dict(local.tally(folder / "rows", by=["question", "day"]))
    found = pickle.loads((folder / "connect.pickle").read_bytes())
    assert set(found) == {"command", "paths", "rows", "blocks"}
    for name, texts in found.items():
        assert {key: Tally.from_bytes(text) for key, text in texts.items()} == one, name


def _check_stream(spark, tmp_path, failures):
    """A stream whose batches fail after they were written: every report counts once."""
    incoming, kept, checkpoint = (str(tmp_path / name) for name in ("incoming", "tallies", "checkpoint"))
    parts = [OLH.privatize(lakes.values(50, 64, seed)) for seed in range(failures + 1)]
    for place, reports in enumerate(parts):
        lakes.write_table(tmp_path / "incoming" / f"{place}.parquet", OLH, reports, "binary")
    schema = spark.read.parquet(incoming).schema
    write, failed = on_spark.batch_writer(kept, OLH), set()

    def fail_once(frame, batch):
        write(frame, batch)
        if len(failed) < failures and batch not in failed:
            failed.add(batch)
            raise RuntimeError("the driver dies before Spark notes that the batch is done")

    def run():
        frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(incoming)
        stream = frame.writeStream.foreachBatch(fail_once).option("checkpointLocation", checkpoint)
        query = stream.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            query.stop()

    for _ in range(failures):
        with pytest.raises(Exception, match="the driver dies"):
            run()
    run()
    assert len(failed) == failures
    assert on_spark.read_batches(kept, OLH, session=spark).total() == OLH.tally(np.concatenate(parts))
