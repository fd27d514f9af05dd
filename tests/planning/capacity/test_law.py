"""The law of the estimated total: against enumeration, convolution and simulation."""

from __future__ import annotations

import math
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.papers.capri.water import water
from ldpkit.planning.capacity import question as question_module
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.capacity.totals import right_decisions
from ldpkit.planning.laws import report_sums as reports_module
from ldpkit.planning.laws import set_sums as sets_module
from ldpkit.planning.laws.report_sums import Bits
from ldpkit.planning.laws.set_sums import Sets
from ldpkit.planning.laws.totals import cantelli, chebyshev, law_at, mean_estimation_law, total_law
from slow import slow

PURE = ("grr", "sue", "oue", "the", "ss", "blh", "olh")


def question_of(amounts, counts, capacity):
    """Return a question about some people, whichever side they are on."""
    return CapacityQuestion.right_decision(amounts, np.array(counts), capacity, 0.05)


# --- the thesis' own numbers ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("capacity", "total", "epsilon", "exact"), [(500, 600, 0.8, 0.00523595), (400, 500, 0.4, 0.10417455)]
)
def test_figure_4_1_exact_false_negatives(capacity, total, epsilon, exact):
    question = question_of([0, 1], [1000 - total, total], capacity)
    law = total_law(ldpkit.GRR(2, epsilon=epsilon), question)
    assert law.how == "lattice"
    assert law.at_most(capacity) == pytest.approx(exact, abs=5e-9)


@pytest.mark.parametrize(
    ("capacity", "total", "epsilon", "bound"),
    [(500, 600, 0.8, 0.148177), (400, 500, 0.4, 0.616733)],
)
def test_figure_4_1_bounds(capacity, total, epsilon, bound):
    question = question_of([0, 1], [1000 - total, total], capacity)
    law = total_law(ldpkit.GRR(2, epsilon=epsilon), question)
    assert chebyshev(law, question) == pytest.approx(bound, abs=5e-7)
    assert cantelli(law, question) == pytest.approx(bound / (1 + bound), abs=5e-7)
    assert law.at_most(capacity) < cantelli(law, question) < chebyshev(law, question)


# --- against everything that can happen ----------------------------------------------------


def enumerated(oracle, counts, points):
    """Return the exact probabilities of the sum 0, 1, ... by convolving the channel's rows."""
    channel = oracle.channel()
    bits = np.unpackbits(
        oracle.packed_supports(channel.reports), axis=1, count=oracle.size, bitorder="little"
    )
    sums = bits @ points
    law = np.ones(1)
    for value, people in enumerate(counts):
        row = np.bincount(sums, weights=[float(p) for p in channel.probabilities[value]])
        for _ in range(people):
            law = np.convolve(law, row)
    return law


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "the", "ss"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_small_collections_against_enumeration(name, epsilon):
    points, counts = np.array([0, 1, 2, 5, 3]), [2, 0, 3, 1, 1]
    oracle = ldpkit.get(name, 5, epsilon=epsilon)
    whole = enumerated(oracle, counts, points)
    p, q = oracle.support_probabilities
    for limit in range(-1, len(whole) + 1):
        # A capacity between two sums, so that no rounding decides.
        capacity = float((limit + 0.5 - sum(counts) * q * int(points.sum())) / (p - q))
        law = total_law(oracle, question_of(points, counts, capacity))
        assert law.at_most(capacity) == pytest.approx(whole[: max(0, limit + 1)].sum(), abs=1e-12)
    mean = whole @ np.arange(len(whole))
    variance = whole @ (np.arange(len(whole)) - mean) ** 2
    assert law.reports.mean == pytest.approx(mean, rel=1e-12)
    assert law.reports.variance == pytest.approx(variance, rel=1e-9)


def test_large_sets_against_enumeration():
    # The exact law of sets with three and more values: held and missed ones, picks at the ends.
    oracle = ldpkit.SS(8, epsilon=0.2)
    assert oracle.omega >= 3
    points, counts = np.array([0, 3, 1, 7, 2, 2, 9, 4]), [1, 0, 2, 0, 0, 1, 1, 0]
    whole = enumerated(oracle, counts, points)
    sums = Sets(np.array(counts), points.astype(float), oracle.p, oracle.omega)
    for angle in (0.0, 0.1, 1.0, 2.5):
        expected = whole @ np.exp(1j * angle * np.arange(len(whole)))
        found = np.exp(sums.cumulants(np.array([1j * angle])))[0]
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["olh", "blh"])
def test_hashing_is_as_independent_bits(name):
    oracle = ldpkit.get(name, 3, epsilon=1.0)
    law = total_law(oracle, question_of([0, 1, 2], [3, 2, 1], 4))
    assert isinstance(law.reports, Bits)
    assert law.mean == pytest.approx(4)


@given(
    st.lists(st.tuples(st.integers(-6, 9), st.integers(0, 12)), min_size=2, max_size=5).filter(
        lambda rows: len({amount for amount, _ in rows}) > 1 and sum(people for _, people in rows) > 0
    ),
    st.sampled_from(["grr", "sue", "oue", "ss"]),
    st.floats(0.05, 6.0),
    st.floats(-0.5, 1.5),
)
def test_the_fourier_sum_is_the_convolution(rows, name, epsilon, place):
    """The quick sum over few frequencies equals the full transform over all of them."""
    amounts, counts = (np.array(column) for column in zip(*rows, strict=True))
    oracle = ldpkit.get(name, len(amounts), epsilon=epsilon)
    total, spread = float(amounts @ counts), 40.0
    law = total_law(oracle, question_of(amounts, counts, total + place * spread))
    low, high = (int(end) for end in law.reports.support)
    length = high - low + 1
    angles = 2 * np.pi * np.arange(length) / length
    transform = np.exp(law.reports.cumulants(1j * angles) - 1j * angles * low)
    whole = np.fft.fft(transform).real / length
    limit = (total + place * spread) * float(law.gain) + float(law.offset)
    if abs(limit - round(limit)) > 1e-6:
        expected = whole[: max(0, math.floor(limit) - low + 1)].sum()
        assert law.at_most(total + place * spread) == pytest.approx(expected, abs=1e-9)


# --- against simulation --------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PURE, "she", "dbitflip"])
def test_large_collections_against_simulation(name):
    counts = water(2000, 32_000)[:12] + 20
    oracle = ldpkit.get(name, 12, epsilon=1.0)
    probe = total_law(oracle, question_of(range(12), counts, 0))
    capacity = round(probe.mean - 0.7 * probe.stderr)
    question = question_of(range(12), counts, capacity)
    exact = total_law(oracle, question).at_most(capacity)
    runs = 4000
    simulated = 1 - right_decisions(oracle, question, runs, ldpkit.random.seeded(11)) / runs
    error = math.sqrt(exact * (1 - exact) / runs)
    assert abs(simulated - exact) < 4.5 * error, "false alarm: 7e-6 for each mechanism"


def test_forgetting_covariances_would_be_noticed():
    """Negative control: GRR with independent values has another variance, and simulation tells."""
    counts = water(2000, 32_000)[:12] + 20
    oracle = ldpkit.GRR(12, epsilon=1.0)
    law = total_law(oracle, question_of(range(12), counts, 0))
    wrong = Bits(counts, np.arange(12.0), oracle.p, oracle.q)
    assert wrong.mean == pytest.approx(law.reports.mean)
    runs = 4000
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(3), repeats=runs)
    simulated = float((supports @ np.arange(12)).var(ddof=1))
    error = law.reports.variance * math.sqrt(2 / runs)
    assert abs(simulated - law.reports.variance) < 5 * error, "false alarm: 6e-7"
    assert abs(simulated - wrong.variance) > 5 * error


def test_irregular_amounts_by_saddle_point():
    amounts, counts = [0.0, 1.0, math.sqrt(2), math.pi], [300, 200, 400, 100]
    question = question_of(amounts, counts, 900.0)
    law = total_law(ldpkit.OUE(4, epsilon=1.0), question)
    assert law.how == "saddle point"
    runs = 20_000
    simulated = (
        1 - right_decisions(ldpkit.OUE(4, epsilon=1.0), question, runs, ldpkit.random.seeded(5)) / runs
    )
    exact = law.at_most(900.0)
    assert abs(simulated - exact) < 4.5 * math.sqrt(exact * (1 - exact) / runs), "false alarm: 7e-6"


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("deviations", [-5.0, 0.0, 0.05, *slow(-1.0, -0.05, 2.0)])
def test_saddle_point_agrees_with_the_lattice(name, deviations):
    counts = water(5000, 80_000)
    oracle = ldpkit.get(name, 41, epsilon=0.7)
    law = total_law(oracle, question_of(range(41), counts, 1))
    capacity = law.mean + deviations * law.stderr
    exact, approximate = law.at_most(capacity), law.by_saddle_point(capacity)
    assert approximate == pytest.approx(exact, rel=2e-4, abs=1e-12)


# --- limits --------------------------------------------------------------------------------


def test_totals_that_cannot_be():
    law = total_law(ldpkit.GRR(2, epsilon=1.0), question_of([0, 1], [5, 5], 4))
    assert law.at_most(-1e9) == 0
    assert law.at_most(1e9) == 1


def test_a_tie_counts_as_not_above():
    # One person, two values: the estimate is one of two numbers, and the capacity is the lower.
    oracle = ldpkit.GRR(2, epsilon=math.log(3))
    p, q = oracle.support_probabilities
    law = total_law(oracle, question_of([0, 1], [1, 1], 1.0))
    # Two reports: the sum is 0, 1 or 2, and the estimate is 1 exactly for the sum 1.
    assert law.at_most(1.0) == pytest.approx(1 - float(p * q), abs=1e-12)
    assert law.at_most(1.0 - 1e-9) == pytest.approx(float(p * q), abs=1e-12)


def test_many_people_and_a_fine_lattice():
    counts = np.full(50, 10**7)
    law = total_law(ldpkit.OUE(50, epsilon=1.0), question_of(np.arange(50) * 0.001, counts, 1.2e7))
    capacity = law.mean - law.stderr
    assert law.at_most(capacity) == pytest.approx(0.158655, abs=1e-4)


def test_mechanisms_without_a_law_are_refused():
    question = question_of(range(6), [9] * 6, 10)
    with pytest.raises(
        InvalidParameterError, match=r"the distribution of a total is not known.*method capri"
    ):
        total_law(ldpkit.get("dbitflip", 6, epsilon=1, d=2), question)
    with pytest.raises(InvalidParameterError, match="lgrr takes epsilon_inf and epsilon_1"):
        law_at("lgrr", question)


# --- totals from means ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["laplace", "duchi", "piecewise"])
def test_mean_estimation_against_reports(name):
    amounts, counts = np.arange(5.0), np.array([30, 40, 20, 50, 10])
    question = question_of(amounts, counts, 300)
    mechanism = ldpkit.get(name, (0, 4), epsilon=1.0)
    law = mean_estimation_law(mechanism, question)
    values = np.repeat(amounts, counts)
    source = ldpkit.random.seeded(8)
    totals = np.array(
        [mechanism.values_of(mechanism.privatize(values, rng=source)).sum() for _ in range(400)]
    )
    error = math.sqrt(law.variance / len(totals))
    assert abs(totals.mean() - law.mean) < 4.5 * error, "false alarm: 7e-6"
    assert abs(totals.var(ddof=1) / law.variance - 1) < 4.5 * math.sqrt(3 / len(totals)), "false alarm: 7e-6"


def test_a_biased_mean_moves_the_law():
    question = question_of(np.arange(5.0), [30, 40, 20, 50, 10], 300)
    mechanism = ldpkit.get("truncated_laplace", (0, 4), epsilon=1.0)
    law = mean_estimation_law(mechanism, question)
    assert law.mean != pytest.approx(question.total, rel=1e-3)


# --- many values ---------------------------------------------------------------------------


def test_amounts_are_read_exactly_once_however_many_epsilons_are_tried(monkeypatch):
    read = 0
    real = question_module.as_exact

    def counted(number):
        nonlocal read
        read += 1
        return real(number)

    monkeypatch.setattr(question_module, "as_exact", counted)
    question = CapacityQuestion(np.arange(500) / 8, [2] * 500, 100, "tp", at_least=0.9)
    law = law_at("oue", question)
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        law(epsilon).at_most(question.capacity)
    assert read < 600, "every epsilon reads all amounts again"


def test_many_values_take_the_saddle_point_and_sets_of_many_are_refused():
    question = CapacityQuestion(np.arange(20_000), [1] * 20_000, 10_000, "tp", at_least=0.9)
    assert total_law(ldpkit.GRR(20_000, epsilon=5.0), question).how == "saddle point"
    sets = total_law(ldpkit.SS(20_000, epsilon=1.0), question)
    assert sets.mean == pytest.approx(question.total)  # moments need no table
    with pytest.raises(InvalidParameterError, match=r"5,379 out of 20,000 values take .* take grr or oue"):
        sets.at_most(10_000)


def test_points_in_parts_give_what_points_at_once_give(monkeypatch):
    s = np.array([0.01 + 0.02j, -0.03 + 0.5j])
    angles = np.linspace(0.1, 3, 7)
    laws = [
        Bits(np.array([3, 1, 0, 9]), np.array([0.0, 2.0, 5.0, 7.0]), 0.5, 0.25),
        Sets(np.array([3, 1, 0, 9]), np.array([0.0, 2.0, 5.0, 7.0]), 0.75, 1),
    ]
    whole = [(law.cumulants(s), law.decay(angles)) for law in laws]
    monkeypatch.setattr(reports_module, "_CHUNK", 1)
    for law, (cumulants, decay) in zip(laws, whole, strict=True):
        assert law.cumulants(s) == pytest.approx(cumulants, rel=1e-12)
        assert law.decay(angles) == pytest.approx(decay, rel=1e-12)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_the_terms_that_count_are_found_without_a_step_for_each_cell_and_value(name, monkeypatch):
    """One Fourier transform has the bound of all cells; 3,000 values took 20 CPU seconds with steps."""
    points = np.array([*range(-150, 150), 700])
    question = CapacityQuestion(points, [3] * len(points), 100, "tp", at_least=0.9)
    reports = total_law(ldpkit.get(name, len(points), epsilon=3.0), question).reports
    cells = 8 * 700
    middles = (np.arange(cells) + 0.5) * (np.pi / cells)
    assert reports.decay_in_cells(cells) == pytest.approx(reports.decay(middles), rel=1e-9, abs=1e-9)
    steps, decay = [], type(reports).decay
    monkeypatch.setattr(type(reports), "decay", lambda self, at: steps.append(len(at)) or decay(self, at))
    assert 0 < len(reports.audible(100_000, -46.0)) < 1000
    assert sum(steps) < cells


@pytest.mark.parametrize(("values", "size"), [(7, 2), (9, 4)])
def test_means_of_uniform_sets_without_a_value_are_those_of_all_such_sets(values, size):
    """A step for each value and member, not a table of all of them: 5 CPU seconds for 16 on 1,000 values."""
    turns = np.exp(np.outer(np.arange(values) ** 2, [0.3j, 0.02 - 0.4j]))

    def mean_of(some, members):
        return np.mean([turns[list(chosen)].prod(axis=0) for chosen in combinations(some, members)], axis=0)

    uniform = sets_module._uniform_means(turns, size)
    assert uniform == pytest.approx(np.array([mean_of(range(values), r) for r in range(size + 1)]))
    held, missed = sets_module._without_each(turns, uniform, values)
    for value in range(values):
        others = [each for each in range(values) if each != value]
        assert held[value] == pytest.approx(mean_of(others, size - 1), rel=1e-12)
        assert missed[value] == pytest.approx(mean_of(others, size), rel=1e-12)
