"""Maximum likelihood from reports: against brute force, for every mechanism and pooled."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from contract.subjects import oracle as make
from estimation.likely import LIKELY, ONE_TIME
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.bayes.climb import Rules
from ldpkit.estimation.bayes.loglikelihood import Likelihood
from ldpkit.estimation.bayes.mle import maximise
from ldpkit.estimation.evidence import Evidence
from slow import slow


def grid(steps):
    """Return all distributions over three values in whole multiples of 1/steps."""
    first, second = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    inside = first + second <= steps
    first, second = first[inside], second[inside]
    return np.stack([first, second, steps - first - second], axis=1) / steps


def brute_force(rows, counts):
    """Return the maximum of sum_i counts_i log(rows_i . f), by a grid and a solver from its best point.

    `rows` has the exact probability of each observed report under each of three values.
    """
    from scipy.optimize import minimize

    points = grid(60)
    heights = np.log(points @ rows.T) @ counts
    found = minimize(
        lambda f: -counts @ np.log(rows @ f) / counts.sum(),
        points[np.argmax(heights)],
        jac=lambda f: -(counts / (rows @ f)) @ rows / counts.sum(),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda f: f.sum() - 1, "jac": lambda f: np.ones(3)},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert counts @ np.log(rows @ found.x) >= heights.max() - 1e-9
    return found.x, counts @ np.log(rows @ found.x)


def observed(oracle, shares, n, seed):
    """Return random reports, with the exact probability of each under every value."""
    generator = np.random.default_rng(seed)
    reports, rows, counts = [], [], []
    for hash_function in range(10):  # a channel has the coins of one hash function
        channel = oracle.channel(ldpkit.random.seeded(hash_function))
        table = np.array([[float(p) for p in row] for row in channel.probabilities])
        times = generator.multinomial(n // 10, shares @ table)
        reports.append(np.repeat(channel.reports, times, axis=0))
        rows.append(table.T)
        counts.append(times)
    return np.concatenate(reports), np.concatenate(rows), np.concatenate(counts)


@pytest.mark.parametrize("name", LIKELY)
@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.9, 0.1, 0.0)])
def test_it_is_the_brute_force_maximum(name, shares):
    oracle = make(name, 3)
    reports, rows, counts = observed(oracle, np.array(shares), 400, seed=5)
    top = maximise(Evidence.of(oracle, reports))
    expected, height = brute_force(rows, counts)
    assert top.converged
    assert np.abs(top.frequencies - expected).max() < 1e-4
    reached = counts @ np.log(rows @ top.frequencies)
    assert reached >= height - 1e-8, "no point that brute force finds is higher"


def test_it_is_the_brute_force_maximum_of_pooled_mechanisms_and_epsilons():
    parts = [
        observed(make(name, 3, epsilon), np.array([0.6, 0.3, 0.1]), 200, seed)
        for seed, (name, epsilon) in enumerate([("oue", 0.5), ("grr", 2.0), ("olh", 1.0), ("oue", 3.0)])
    ]
    oracles = [make("oue", 3, 0.5), make("grr", 3, 2.0), make("olh", 3, 1.0), make("oue", 3, 3.0)]
    evidence = sum(
        Evidence.of(oracle, reports) for oracle, (reports, _, _) in zip(oracles, parts, strict=True)
    )
    expected, _ = brute_force(
        np.concatenate([rows for _, rows, _ in parts]), np.concatenate([counts for _, _, counts in parts])
    )
    top = maximise(evidence)
    assert evidence.n == 800
    assert np.abs(top.frequencies - expected).max() < 1e-4
    assert top.converged


def patterns(*sets):
    """Return OUE reports over three values that hold the given sets, each so many times."""
    return np.concatenate(
        [np.full((times, 1), sum(1 << v for v in chosen), np.uint8) for chosen, times in sets]
    )


def test_equal_tallies_with_different_maxima():
    """Support counts are not sufficient: the two data sets of errata 13."""
    oracle = ldpkit.OUE(3, epsilon=1)
    spread = patterns(((0,), 20), ((0, 1), 10), ((1, 2), 10))
    nested = patterns(((0, 1), 20), ((0, 2), 10), ((), 10))
    expected = {0: [0.8607, 0.1393, 0], 1: [1, 0, 0]}
    for place, reports in enumerate((spread, nested)):
        tally = oracle.tally(reports)
        assert (tally.n, tally.counts.tolist()) == (40, [30, 20, 10])
        for accelerate in ("scoring", "squarem", False):
            estimate = Evidence.of(oracle, reports).estimate(
                "mle", accelerate=accelerate, max_iterations=100_000
            )
            assert np.abs(estimate.values - expected[place]).max() < 6e-5
            assert estimate.diagnostics["converged"]
        assert tally.estimate("ibu_limit").values.round(4).tolist() == [0.8328, 0.1672, 0]


@pytest.mark.parametrize(
    ("name", "size"), [("olh", 33), ("grr", 40), *slow(("oue", 20), ("ss", 9), ("sue", 12))]
)
def test_all_ways_lead_to_the_same_top(name, size):
    oracle = make(name, size, 2.0)
    values = np.random.default_rng(1).zipf(1.5, 4000) % size
    evidence = Evidence.of(oracle, oracle.first_reports(values, rng=ldpkit.random.seeded(6)))
    tops = [
        maximise(evidence, rules=Rules(20_000, accelerate, largest_gap=gap))
        for accelerate, gap in (("scoring", 1e-12), ("squarem", 1e-9), (False, 1e-6))
    ]
    assert all(top.converged for top in tops)
    assert tops[0].iterations < 60
    # The gap is a certificate: nobody is higher than it allows.
    for top in tops:
        assert tops[0].log_likelihood - top.log_likelihood <= evidence.n * top.gap + 1e-7
    assert np.abs(tops[0].frequencies - tops[1].frequencies).max() < 1e-4


@pytest.mark.parametrize("size", [3, 8, 9, 30, 64])
def test_the_slope_and_curvature_are_those_of_the_formula(size):
    """Compiled byte tables against plain matrices, over several blocks and with weights."""
    oracle = ldpkit.SUE(size, epsilon=1.5)
    generator = np.random.default_rng(2)
    n = 150_000 if size == 30 else 500
    reports = oracle.first_reports(generator.integers(0, size, n), rng=ldpkit.random.seeded(7))
    evidence = Evidence.of(oracle, reports)
    [part] = evidence.parts
    frequencies = generator.dirichlet(np.ones(size))
    weights = part.counts if part.counts is not None else generator.integers(0, 3, n)
    given = None if part.counts is not None else [weights]
    bits = part.bits(slice(None)).astype(float)
    density = 1 + part.excess * (bits @ frequencies)
    with Likelihood(evidence, given) as likelihood:
        view = likelihood(frequencies, curvature=True)
    slope = (weights / density) @ (1 + part.excess * bits) / n
    assert np.allclose(view.slope, slope, rtol=1e-12)
    assert view.base == pytest.approx((weights / density).sum() / n, rel=1e-12)
    assert view.log_likelihood == pytest.approx(weights @ np.log(density), rel=1e-12)
    square = weights / density**2
    mean = square @ bits / square.sum()
    if n == 500:  # with several blocks each has its own mean
        assert np.allclose(view.curvature, part.excess**2 * (square @ (bits - mean) ** 2) / n, rtol=1e-9)


def test_threads_and_blocks_do_not_change_the_result():
    oracle = ldpkit.OLH(20, epsilon=1)
    reports = oracle.first_reports(np.arange(200_000) % 7, rng=ldpkit.random.seeded(8))
    evidence = Evidence.of(oracle, reports)
    first, second = maximise(evidence), maximise(evidence)
    assert (first.frequencies == second.frequencies).all()
    pieces = sum(Evidence.of(oracle, reports[start : start + 9999]) for start in range(0, 200_000, 9999))
    assert np.abs(maximise(pieces).frequencies - first.frequencies).max() < 1e-8


def test_grr_needs_no_more_than_its_tally():
    oracle = ldpkit.GRR(50, epsilon=1)
    reports = oracle.first_reports(np.arange(3000) % 20, rng=ldpkit.random.seeded(9))
    tally = oracle.tally(reports)
    from_tally, from_reports = tally.estimate("mle"), Evidence.of(oracle, reports).estimate("mle")
    assert (from_tally.values == from_reports.values).all()
    # For GRR the stand-in of IBU is the likelihood itself.
    assert np.abs(from_tally.values - tally.estimate("ibu_limit").values).max() < 1e-8


@pytest.mark.parametrize("name", ["oue", "olh", "ss", "losue"])
def test_other_tallies_are_not_enough(name):
    oracle = make(name, 20)
    tally = oracle.tally(oracle.first_reports([0, 1, 2]))
    with pytest.raises(InvalidInputError, match="mle needs the reports, not only their tally: Evidence"):
        tally.estimate("mle")


def test_stopping_early_stays_near_the_start():
    oracle = ldpkit.OUE(30, epsilon=1)
    evidence = Evidence.of(oracle, oracle.first_reports(np.arange(3000) % 5, rng=ldpkit.random.seeded(10)))
    distances = []
    for steps in (1, 10, 100, 1000):
        estimate = evidence.estimate("mle", accelerate=False, max_iterations=steps)
        assert estimate.diagnostics["iterations"] == steps
        assert not estimate.diagnostics["converged"]
        distances.append(np.abs(estimate.values - 1 / 30).sum())
    assert distances == sorted(distances)
    assert distances[0] < 0.1 < 1 < distances[-1]


def test_a_start_can_be_given():
    oracle = ldpkit.OUE(4, epsilon=2)
    evidence = Evidence.of(oracle, oracle.first_reports([0, 0, 1, 2] * 500, rng=ldpkit.random.seeded(11)))
    start = [0.7, 0.1, 0.1, 0.1]
    early = evidence.estimate("mle", start=start, accelerate=False, max_iterations=1).values
    assert early[0] > 0.6
    late = [evidence.estimate("mle", start=each).values for each in (None, start)]
    assert np.abs(late[0] - late[1]).max() < 1e-6


def test_reports_that_say_nothing_leave_the_start():
    oracle = ldpkit.OUE(3, epsilon=1)
    top = maximise(Evidence.of(oracle, patterns(((), 5))))
    assert np.allclose(top.frequencies, 1 / 3)
    assert top.converged


@pytest.mark.parametrize("n", [1, *slow(2, 5)])
@pytest.mark.parametrize("name", ONE_TIME)
def test_a_handful_of_reports_is_enough(name, n):
    oracle = make(name, 200, 2.0)
    estimate = Evidence.of(oracle, oracle.first_reports(np.arange(n))).estimate("mle")
    assert estimate.values.sum() == pytest.approx(1, abs=1e-9)
    assert np.isfinite(estimate.stderr).all()


def test_no_reports_are_refused():
    oracle = ldpkit.OUE(3, epsilon=1)
    with pytest.raises(InvalidInputError, match="no reports"):
        Evidence.of(oracle, np.empty((0, 1), np.uint8)).estimate("mle")


def test_bad_options_are_refused():
    evidence = Evidence.of(ldpkit.GRR(3, epsilon=1), [0, 1, 2])
    for options in (
        {"max_iterations": 0},
        {"tolerance": -1.0},
        {"accelerate": "warp"},
        {"start": [1, 1]},
        {"start": [0, 1, 1]},
        {"errors": "guess"},
        {"repeats": 1},
    ):
        with pytest.raises(InvalidParameterError):
            evidence.estimate("mle", **options)


def test_the_estimate_says_how_it_was_made():
    olh, grr = ldpkit.OLH(5, epsilon=2), ldpkit.GRR(5, epsilon=1)
    alone = Evidence.of(olh, olh.privatize([0, 1, 1, 2] * 100))
    assert dict(alone.estimate().made_by) == {"mechanism": "olh", "epsilon": 2.0, "method": "mle"}
    pooled = alone + Evidence.of(grr, [0, 1])
    estimate = pooled.estimate("mle", consistency="norm_sub")
    assert estimate.made_by["mechanism"] == "OLH(5, epsilon=2) + GRR(5, epsilon=1)"
    assert np.allclose(estimate.values, pooled.estimate().values, atol=1e-9)
    assert "converged after" in repr(estimate)
    assert estimate.n == 402


def test_more_private_people_add_to_what_others_tell():
    """Pooling gains, and the few who tell a lot are not drowned by the many who tell little."""
    careful, relaxed = ldpkit.OUE(6, epsilon=0.5), ldpkit.OUE(6, epsilon=3)
    values = np.arange(3000) % 3
    one = Evidence.of(careful, careful.privatize(values, rng=ldpkit.random.seeded(12)))
    other = Evidence.of(relaxed, relaxed.privatize(values, rng=ldpkit.random.seeded(13)))
    errors = [each.estimate(population=True).stderr for each in (one, other, one + other)]
    alone, better, pooled = ((error**2).sum() for error in errors)
    assert pooled < better < alone
    assert 1 / pooled == pytest.approx(1 / alone + 1 / better, rel=0.1)
