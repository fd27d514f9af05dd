"""Evidence: exact likelihood ratios, packed supports, pooling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from contract.subjects import oracle as make
from estimation.likely import LIKELY
from ldpkit.core.errors import FrozenError, InvalidInputError, MismatchError
from ldpkit.estimation.evidence import Evidence, Part
from slow import slow


def unpacked(supports, size):
    return np.unpackbits(supports, axis=1, count=size, bitorder="little").astype(bool)


@pytest.mark.parametrize("name", LIKELY)
@pytest.mark.parametrize(("size", "epsilon"), [(5, 3.0), *slow((2, 1.0), (5, 0.5))])
def test_the_likelihood_of_every_report_has_the_two_levels_that_are_claimed(name, size, epsilon):
    """Exactly, in rational numbers, from the probability of every report under every value."""
    oracle = make(name, size, epsilon)
    channel = oracle.channel(ldpkit.random.seeded(1))
    supports = unpacked(oracle.packed_supports(channel.reports), size)
    for column, supported in zip(zip(*channel.probabilities, strict=True), supports, strict=True):
        base = {
            p / (oracle.support_ratio if is_in else 1) for p, is_in in zip(column, supported, strict=True)
        }
        assert len(base) == 1
    assert isinstance(oracle.support_ratio, Fraction)
    assert oracle.support_ratio > 1


@pytest.mark.parametrize("name", LIKELY)
@pytest.mark.parametrize("size", [4, 13, *slow(12, 37)])
def test_packed_supports_say_what_the_tally_says(name, size):
    oracle = make(name, size)
    reports = oracle.first_reports(np.arange(700) % size, rng=ldpkit.random.seeded(2))
    supports = oracle.packed_supports(reports)
    assert supports.shape == (700, -(-size // 8))
    tally = oracle.tally(reports)
    assert (unpacked(supports, size).sum(axis=0) == tally.counts).all()
    assert (np.bitwise_count(supports).sum() == tally.counts.sum()).all(), "unused bits are zero"
    assert Evidence.of(oracle, reports).tally() == tally


def test_support_size_is_that_of_every_report():
    for name in LIKELY:
        oracle = make(name, 20)
        sizes = np.bitwise_count(oracle.packed_supports(oracle.first_reports(np.arange(200) % 20))).sum(
            axis=1
        )
        assert (oracle.support_size is None) == (len(set(sizes.tolist())) > 1)
        assert oracle.support_size in (None, sizes[0])


def test_memory_is_a_bit_for_each_report_and_value_or_less():
    values = np.zeros(5000, int)
    oracle = ldpkit.OLH(100, 1.0)
    [part] = Evidence.of(oracle, oracle.first_reports(values)).parts
    assert part.supports.nbytes == 5000 * 13
    assert part.counts is None
    small = ldpkit.OUE(12, 1.0)
    [part] = Evidence.of(small, small.privatize(values)).parts
    assert len(part.supports) == len(part.counts) == 2**12
    single = ldpkit.GRR(1000, 1.0)
    [part] = Evidence.of(single, single.privatize(values)).parts
    assert part.supports is None
    assert part.counts.shape == (1000,)


@pytest.mark.parametrize(("name", "size"), [("grr", 30), ("oue", 5), ("olh", 30)])
def test_evidence_adds(name, size):
    oracle = make(name, size)
    reports = oracle.first_reports(np.arange(300) % size, rng=ldpkit.random.seeded(3))
    whole = Evidence.of(oracle, reports)
    halves = sum([Evidence.of(oracle, reports[:100]), Evidence.of(oracle, reports[100:])])
    assert halves.n == whole.n == 300
    assert halves.tally() == whole.tally()
    assert repr(halves) == repr(whole) == f"Evidence({oracle!r}: 300)"
    assert len(halves.parts) == (2 if name == "olh" else 1), "counted groups merge"
    first, second = (each.estimate("mle") for each in (halves, whole))
    assert np.allclose(first.values, second.values, atol=1e-9)


def test_many_pieces_merge_at_once():
    olh, grr = ldpkit.OLH(30, 1.0), ldpkit.GRR(30, 1.0)
    pieces = [Evidence.of(olh, olh.privatize([1, 2])) for _ in range(5)] + [Evidence.of(grr, [3])] * 4
    merged = Evidence.merge(pieces)
    assert merged.n == 14
    assert len(merged.parts) == 6
    assert {oracle.name: tally.n for oracle, tally in merged.tallies()} == {"olh": 10, "grr": 4}
    with pytest.raises(InvalidInputError, match="at least one"):
        Evidence.merge([])


def test_different_mechanisms_pool_but_have_no_common_tally():
    grr, oue = ldpkit.GRR(6, 1.0), ldpkit.OUE(6, 2.0)
    pooled = Evidence.of(grr, [0, 1, 5]) + Evidence.of(oue, oue.privatize([1, 1]))
    assert pooled.n == 5
    assert pooled.oracles == [grr, oue]
    assert [tally.n for _, tally in pooled.tallies()] == [3, 2]
    with pytest.raises(MismatchError, match="no common tally"):
        pooled.tally()
    with pytest.raises(MismatchError, match="no common tally"):
        pooled.estimate("mi")


def test_a_tally_estimator_works_where_there_is_one_mechanism():
    oracle = ldpkit.OUE(6, 1.0)
    reports = oracle.first_reports(np.arange(600) % 6)
    evidence = Evidence.of(oracle, reports)
    assert (evidence.estimate("mi").values == oracle.tally(reports).estimate("mi").values).all()


def test_different_domains_do_not_pool():
    here, there = ldpkit.GRR(["a", "b"], 1.0), ldpkit.GRR(2, 1.0)
    with pytest.raises(MismatchError, match="one domain"):
        Evidence.of(here, [0]) + Evidence.of(there, [0])
    with pytest.raises(MismatchError):
        Evidence.of(ldpkit.OUE(9, 1.0), np.zeros((1, 2), np.uint8)) + Evidence.of(there, [0])


def test_reports_of_another_size_are_refused():
    with pytest.raises(InvalidInputError, match="another mechanism"):
        Evidence.of(ldpkit.OUE(16, 1.0), ldpkit.OUE(24, 1.0).privatize([0, 1]))


@pytest.mark.parametrize("name", ["she", "dbitflip"])
def test_a_mechanism_without_two_levels_is_refused(name):
    oracle = ldpkit.get(name, 4, epsilon=1.0)
    reports = oracle.first_reports([0, 1])
    with pytest.raises(InvalidInputError, match='use the estimator "mi"'):
        Evidence.of(oracle, reports)
    with pytest.raises(InvalidInputError, match='use the estimator "mi"'):
        oracle.tally(reports).estimate("mle")


def test_foreign_things_are_refused():
    with pytest.raises(InvalidInputError, match="frequency oracle"):
        Evidence.of("olh", [0])
    with pytest.raises(InvalidInputError, match="at least one part"):
        Evidence(())
    with pytest.raises(TypeError):
        Evidence.of(ldpkit.GRR(2, 1.0), [0]) + 1


def test_evidence_does_not_change():
    evidence = Evidence.of(ldpkit.GRR(2, 1.0), [0])
    with pytest.raises((FrozenError, AttributeError)):
        evidence.parts = ()


def test_a_part_unpacks_its_rows():
    part = Part(ldpkit.OUE(3, 1.0), np.array([[5], [2]], np.uint8), None)
    assert part.bits(slice(None)).tolist() == [[1, 0, 1], [0, 1, 0]]
    single = Part(ldpkit.GRR(3, 1.0), None, np.array([1, 0, 2]))
    assert single.bits(np.array([2])).tolist() == [[0, 0, 1]]
    assert single.n == 3
