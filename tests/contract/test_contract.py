"""Every registered mechanism keeps the contract: each check that applies to it."""

from __future__ import annotations

import pytest

from contract.hash_checks import check_hash_sampler
from contract.subjects import MECHANISM_NAMES, ORACLE_NAMES, oracle
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.categorical.hashing import LocalHashing
from ldpkit.testing import check_mechanism, checks_for

HASHED = [name for name in ORACLE_NAMES if issubclass(MECHANISMS.get(name), LocalHashing)]

# What a mechanism of the house may leave out. Keep this short: for all others, epsilon is
# proved by looking at every report.
# Partners report together, in one batch: mechanisms/test_jrr.py has bias, variance and chunks of these,
# by enumeration for jrr and in sampled collections for the other two.
PAIRED = {"chunks", "unbiased", "variance"}
EXCUSED = {"she": {"channels", "samplers"}, "jrr": PAIRED, "joint_olh": PAIRED, "joint_sue": PAIRED}


@pytest.mark.parametrize("name", MECHANISM_NAMES)
def test_contract(name):
    report = check_mechanism(name)
    excused = dict(report.skipped)
    assert excused.keys() <= {"valid_records"} | EXCUSED.get(name, set()), f"{name} is excused: {excused}"
    assert {*report.passed, *excused} == {check.name for check in checks_for(name)}


def test_hashing_is_covered():
    assert {"blh", "olh"} <= set(HASHED)


@pytest.mark.parametrize("name", HASHED)
def test_a_report_names_its_bucket_by_randomised_response_and_uniform_coins(name):
    check_hash_sampler(oracle(name, 3, 1.0))
