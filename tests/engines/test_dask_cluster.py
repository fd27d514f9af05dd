"""Dask on a real cluster of two worker processes: the tallies of one process, with a worker killed too."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pytest

from engines import lakes
from engines.lakes import OLH
from ldpkit.core.errors import InvalidInputError
from ldpkit.engines import dask as on_dask
from ldpkit.engines import local
from ldpkit.engines.lake import find_files
from ldpkit.engines.tallies import merge
from slow import slow

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
BY = ["question", "day", "region"]


@pytest.fixture(scope="module")
def client():
    import dask

    settings = {
        "distributed.worker.daemon": False,
        "distributed.comm.timeouts.connect": "120s",
        # On a busy machine a killed worker takes longer than Dask's 15 seconds to come back; then its place
        # is given up, and with both places gone the tally would wait for ever.
        "distributed.deploy.lost-worker-timeout": "10 minutes",
        "distributed.scheduler.no-workers-timeout": "10 minutes",
    }
    cloudpickle.register_pickle_by_value(lakes)  # workers know the package, not the tests
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # 8787 is of the first cluster here
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    cloudpickle.unregister_pickle_by_value(lakes)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a killed worker leaves pipes
@pytest.mark.parametrize("kills", [1, *slow(10)])
def test_a_cluster_counts_as_one_process_does(client, lake, tmp_path, kills):
    """Two worker processes, of which one dies in mid-job: that they start is what this test costs."""
    folder, asked = lake
    one = local.tally(folder, asked, by=BY)
    assert dict(on_dask.tally(folder, asked, by=BY, client=client)) == dict(one)

    frame = pytest.importorskip("dask.dataframe").read_parquet(str(folder / "question=app"))
    rows = on_dask.tally(frame, OLH, by=["region"], client=client)
    assert dict(rows) == dict(local.tally(folder / "question=app", OLH, by=["region"]))
    with pytest.raises(InvalidInputError, match="frame has no column 'city'"):
        on_dask.tally(frame, OLH, by=["city"])

    with pytest.raises(InvalidInputError, match=r"question=mood.* holds .* GRR.*, not of OLH") as caught:
        on_dask.tally(folder / "question=mood", OLH, client=client)
    assert "\n" not in str(caught.value)  # what a task must refuse is one line for the user

    alone = on_dask.likelihood(folder / "question=app", client=None)
    together = on_dask.likelihood(folder / "question=app", client=client)
    assert (alone.estimate("mle").values == together.estimate("mle").values).all()

    counts = np.full(64, 3000)
    made = on_dask.simulate(OLH, counts, seed=4, tasks=3, client=client).total()
    assert made == on_dask.simulate(OLH, counts, seed=4, tasks=1, client=client).total()

    files = find_files(folder / "question=app")
    whole = local.tally(files, OLH).total()
    for kill in range(kills):
        mark = tmp_path / str(kill)
        mark.mkdir()
        job = lakes.Killed(OLH, mark=str(mark))
        tasks = [(job, file) for file in files]
        returned = on_dask._run(on_dask._count_file, tasks, client, local.unwatched)
        assert (mark / "killed").exists()
        assert merge(job, on_dask._chained(returned)).total() == whole
        assert job.accumulated() > whole.n  # a counter that tasks change has counted some reports twice
