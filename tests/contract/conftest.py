"""Fixtures of the contract suite: a mechanism at a time, with values and reports of it.

The mechanisms are looked up when tests are collected, not when this file is imported:
pytest imports it before `--plugin` has added its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ldpkit

if TYPE_CHECKING:
    from contract.subjects import Subject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        from contract.subjects import MECHANISM_NAMES

        metafunc.parametrize("case", MECHANISM_NAMES, indirect=True)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Subject:
    from contract.subjects import subject

    return subject(request.param)


@pytest.fixture
def mechanism(case):
    return case.mechanism


@pytest.fixture
def reports(case):
    return case.mechanism.first_reports(case.values, rng=ldpkit.random.seeded(1))
