"""`plan cluster`: costs are measured units times what is asked for."""

from __future__ import annotations

import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.cluster import ENGINES, MEASURED, MEASURED_ON, STORED, cluster, measure

OLH = ldpkit.OLH(1024, epsilon=1)


def test_costs_are_units_times_reports():
    plan = cluster(OLH, 1_000_000, questions=1000, groups=4, engine="dask")
    unit = MEASURED["olh"]
    cost = unit.report + 1024 * unit.value
    assert plan.reports == 10**9
    assert plan.core_hours == pytest.approx(10**9 * cost * ENGINES["dask"].times / 3600e9)
    assert plan.stored_bytes == pytest.approx(STORED * 1e9 * OLH.report_bytes)
    rows = {row["cost"]: (row["amount"], row["unit"]) for row in plan.rows()}
    assert rows["network, mean over the day"] == (pytest.approx(8 * plan.stored_bytes / 86_400e6), "Mbit/s")
    assert plan.driver_bytes == 8 * 1024 * 4 * 1000 * 64
    assert MEASURED_ON in plan.caption
    assert "--measure" in plan.caption
    assert "bench_cluster.py" in plan.caption


def test_others_are_measured_here():
    numbers = ldpkit.get("piecewise", (0, 10), epsilon=1)
    plan = cluster(numbers, 1000)
    assert plan.nanoseconds > 0
    assert "measured now" in plan.caption
    assert all("likelihood" not in row["cost"] for row in plan.rows())
    assert measure(ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=1), 2000) > 0


def test_senseless_questions_are_refused():
    with pytest.raises(InvalidParameterError, match="people"):
        cluster(OLH, 0)
    with pytest.raises(InvalidParameterError, match="engine must be one of local, dask"):
        cluster(OLH, 1, engine="hadoop")
