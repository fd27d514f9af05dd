"""The reproduction of Optimus: claims say what was fitted, and nothing depends on the cores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldpkit.papers import Settings, Verdict
from ldpkit.papers.optimus import run
from ldpkit.papers.optimus.grid import OptimusTask, largest_difference, run_all
from ldpkit.simulation.populations import zipf

COUNTS = zipf(6, 20_000)


def test_without_data_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LDPKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    claims = list(run(Settings(quick=True)))
    assert {claim.verdict for claim in claims} == {Verdict.NO_DATA}
    assert all(claim.note for claim in claims)


def test_plans_do_not_depend_on_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [
        OptimusTask(COUNTS, protocol, 0.5, method)
        for protocol in ("grr", "oue")
        for method in ("bs", "sequential")
    ]
    chosen = []
    for cores in (1, 4):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        chosen.append([plan.epsilon for _, plan in run_all(tasks, seed=3)])
    assert chosen[0] == chosen[1]


def test_plans_that_disagree_on_feasibility_are_infinitely_apart() -> None:
    ((_, plan),) = run_all([OptimusTask(COUNTS, "oue", 0.5, "analytic")], seed=0)
    none = replace(plan, epsilon=None)
    assert largest_difference([plan, plan]) == 0
    assert largest_difference([plan, none]) == np.inf
    assert largest_difference([none, none]) == 0
