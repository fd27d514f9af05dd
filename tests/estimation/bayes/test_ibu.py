"""The iterative Bayesian update and its limit."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.bayes.climb import Rules
from ldpkit.estimation.bayes.ibu import update
from ldpkit.estimation.bayes.limit import limit
from slow import slow

E = np.e


def supports_of(name, size, n, epsilon=1.0, skew=1.0):
    oracle = ldpkit.get(name, size, epsilon=epsilon)
    shares = 1 / np.arange(1, size + 1) ** skew
    people = np.random.default_rng(1).multinomial(n, shares / shares.sum())
    return oracle, oracle.simulate(people, rng=ldpkit.random.seeded(1))


@pytest.mark.parametrize("steps", [1, 7, 300])
def test_it_is_the_iteration_of_the_paper_on_a_channel(steps):
    """Eq. 3 with a matrix whose rows sum to one, against the O(k) loop (errata 13)."""
    oracle, [counts] = supports_of("oue", 9, 2000)
    size, p, q = 9, oracle.p, oracle.q
    channel = np.full((size, size), q) + (p - q) * np.eye(size)
    channel /= channel.sum(axis=1, keepdims=True)
    observed, frequencies = counts / counts.sum(), np.full(size, 1 / size)
    for _ in range(steps):
        joint = frequencies[:, None] * channel
        frequencies = (joint / joint.sum(axis=0)) @ observed
    [run] = update(counts[None], p, q, rules=Rules(steps))
    assert run.iterations == steps
    assert not run.converged
    assert np.allclose(run.frequencies, frequencies, atol=1e-14)


def test_the_numbers_of_the_errata():
    oracle = ldpkit.OUE(3, epsilon=1)
    tally = ldpkit.Tally(oracle, 40, [30, 20, 10])
    for estimate in (
        tally.estimate("ibu"),
        tally.estimate("ibu", accelerate=True),
        tally.estimate("ibu", accelerate="scoring"),
        tally.estimate("ibu_limit"),
    ):
        assert estimate.values.round(4).tolist() == [0.8328, 0.1672, 0]
        assert estimate.diagnostics["converged"]


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "ss"])
@pytest.mark.parametrize("n", [200, 10**7])
def test_the_plain_iteration_converges_to_the_limit(name, n):
    oracle, counts = supports_of(name, 10, n, epsilon=1.0)
    rules = Rules(2_000_000, largest_change=1e-16)
    [run] = update(counts, oracle.p, oracle.q, rules=rules)
    top = limit(counts, oracle.p, oracle.q)[0]
    assert run.converged
    assert np.abs(run.frequencies - top).max() < 1e-9
    assert (top == 0).any() == (n == 200), "one case on the boundary, one inside"


@pytest.mark.parametrize("accelerate", ["squarem", "scoring"])
@pytest.mark.parametrize(("size", "n", "skew"), [(16, 10**5, 1.0), (128, 10**8, 0.5), (1024, 10**9, 0.0)])
def test_the_accelerated_iteration_converges_to_the_limit(accelerate, size, n, skew):
    oracle, counts = supports_of("oue", size, n, skew=skew)
    [run] = update(counts, oracle.p, oracle.q, rules=Rules(5000, accelerate, largest_change=1e-14))
    assert run.converged
    assert run.iterations < 200
    assert np.abs(run.frequencies - limit(counts, oracle.p, oracle.q)[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("name", "epsilon"), [("olh", 0.5), ("grr", 1.0), *slow(("oue", 1.0), ("ss", 2.0), ("sue", 4.0))]
)
def test_scoring_finds_the_limit_where_most_values_are_at_zero(name, epsilon):
    oracle, counts = supports_of(name, 1024, 10**5, epsilon)
    [run] = update(counts, oracle.p, oracle.q, rules=Rules(200, "scoring", largest_gap=1e-14))
    top = limit(counts, oracle.p, oracle.q)[0]
    assert (top == 0).sum() > 300
    assert np.abs(run.frequencies - top).max() < 1e-9


def test_squarem_finds_the_limit_where_many_values_are_at_zero():
    oracle, counts = supports_of("oue", 128, 20_000)
    [run] = update(counts, oracle.p, oracle.q, rules=Rules(50_000, "squarem", largest_change=1e-15))
    top = limit(counts, oracle.p, oracle.q)[0]
    assert (top == 0).sum() > 40
    assert np.abs(run.frequencies - top).max() < 1e-9


def test_it_says_when_it_stopped_before_it_converged():
    """The published limit of 10,000 iterations is reached in ordinary settings (errata 74)."""
    oracle, [counts] = supports_of("oue", 128, 20_000)
    estimate = ldpkit.Tally(oracle, 20_000, counts).estimate("ibu")
    assert estimate.diagnostics["iterations"] == 10_000
    assert not estimate.diagnostics["converged"]
    assert estimate.diagnostics["tolerance"] == 1e-12
    assert "stopped before it converged after 10000 iterations" in repr(estimate)
    top = ldpkit.Tally(oracle, 20_000, counts).estimate("ibu_limit")
    assert top.diagnostics["converged"]
    assert top.diagnostics["log_likelihood"] > estimate.diagnostics["log_likelihood"]
    assert estimate.diagnostics["gap"] > 1e-9 > top.diagnostics["gap"]


def test_every_iteration_raises_the_likelihood_and_leaves_a_distribution():
    oracle, counts = supports_of("olh", 20, 3000)
    runs = [update(counts, oracle.p, oracle.q, rules=Rules(steps))[0] for steps in (1, 2, 5, 20, 100, 1000)]
    heights = [run.log_likelihood for run in runs]
    assert heights == sorted(heights)
    for run in runs:
        assert run.frequencies.sum() == pytest.approx(1, abs=1e-12)
        assert (run.frequencies >= 0).all()


def test_the_start_matters_only_before_convergence():
    oracle, [counts] = supports_of("grr", 6, 5000)
    tally = ldpkit.Tally(oracle, 5000, counts)
    start = [1, 2, 3, 4, 5, 6]
    early = [tally.estimate("ibu", max_iterations=2, start=each).values for each in (None, start)]
    late = [tally.estimate("ibu", start=each).values for each in (None, start)]
    assert np.abs(early[0] - early[1]).max() > 0.01
    assert np.abs(late[0] - late[1]).max() < 1e-8


def test_values_that_were_observed_equally_often_go_through_it_as_one(monkeypatch):
    from ldpkit.estimation.bayes import kernels

    lengths, run = [], kernels._iterate

    def watched(work, *rest):
        lengths.append(work.shape[1])
        return run(work, *rest)

    monkeypatch.setattr(kernels, "_iterate", watched)
    counts = np.zeros(1 << 20, np.int64)
    counts[:3] = 5, 2, 2
    [made] = update(counts[None, :], 0.5, 0.25, rules=Rules(max_iterations=100))
    assert lengths == [3]
    [alone] = update(np.array([[5, 2, 2, 0]]), 0.5, 0.25, rules=Rules(max_iterations=100))
    assert made.frequencies[0] > made.frequencies[1] == made.frequencies[2] > made.frequencies[3]
    assert alone.frequencies[1] == alone.frequencies[2]
    assert made.frequencies.sum() == pytest.approx(1)
    start = np.array([1, 2, 3, 4]) / 10  # equal counts that begin apart stay apart
    [apart] = update(np.array([[5, 2, 2, 0]]), 0.5, 0.25, rules=Rules(max_iterations=1), start=start)
    assert lengths[1:] == [3, 4]
    assert apart.frequencies[1] < apart.frequencies[2]


def test_a_batch_runs_row_by_row():
    oracle = ldpkit.OUE(7, epsilon=1)
    counts = oracle.simulate([100] * 7, rng=ldpkit.random.seeded(3), repeats=5)
    runs = update(counts, oracle.p, oracle.q)
    for row, run in zip(counts, runs, strict=True):
        [alone] = update(row[None], oracle.p, oracle.q)
        assert (alone.frequencies == run.frequencies).all()
        assert alone.iterations == run.iterations
    assert (limit(counts, oracle.p, oracle.q) == [limit(row, oracle.p, oracle.q) for row in counts]).all()


@hypothesis.given(
    counts=st.lists(st.integers(0, 1000), min_size=2, max_size=40).filter(any),
    q=st.floats(0.001, 0.6),
    lift=st.floats(0.001, 0.39),
)
def test_the_limit_is_optimal(counts, q, lift):
    """Slopes are equal where there is a frequency and smaller where there is none."""
    p = q + lift
    frequencies = limit(np.array(counts), p, q)
    assert frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert (frequencies >= 0).all()
    slope = np.array(counts) / (frequencies + q / (p - q))
    largest = slope.max()
    assert np.allclose(slope[frequencies > 1e-12], largest, rtol=1e-7)


def test_the_limit_of_easy_cases():
    assert limit(np.array([5, 0, 0]), 0.9, 0.1).tolist() == [1, 0, 0]
    assert np.allclose(limit(np.array([7, 7, 7, 7]), 0.5, 0.2), 0.25)
    inside = limit(np.array([300, 350, 350]), 0.9, 0.05)
    assert np.allclose(inside, (np.array([300, 350, 350]) / 1000 * (0.9 + 0.1) - 0.05) / 0.85)


@pytest.mark.parametrize("bad", [[0, 0], [-1, 2], [np.nan, 1], [np.inf, 1]])
def test_impossible_histograms_are_refused(bad):
    with pytest.raises(InvalidInputError):
        limit(np.array(bad), 0.5, 0.2)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.2, 0.5), (0.5, 0.0), (1.5, 0.2), (np.nan, 0.2)])
def test_impossible_probabilities_are_refused(p, q):
    with pytest.raises(InvalidParameterError, match="0 < q < p"):
        limit(np.array([1, 2]), p, q)


def test_bad_options_are_refused():
    tally = ldpkit.GRR(3, epsilon=1).tally([0, 1, 2])
    for options, message in [
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
        ({"tolerance": -1.0}, "tolerance must be finite and not negative, got -1"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"accelerate": "warp"}, "got 'warp'"),
        ({"start": [1, 1]}, r"3 frequencies, got shape \(2,\)"),
        ({"start": [1, 0, 1]}, "stays at zero"),
        ({"start": "uniform"}, "3 frequencies, got 'uniform'"),
        ({"errors": "guess"}, "got 'guess'"),
        ({"repeats": 1, "errors": "bootstrap"}, "repeats must be at least 2, got 1"),
    ]:
        with pytest.raises(InvalidParameterError, match=message):
            tally.estimate("ibu", **options)


@pytest.mark.parametrize("method", ["ibu", "ibu_limit"])
def test_tallies_that_say_nothing_are_refused(method):
    oracle = ldpkit.OUE(3, epsilon=1)
    with pytest.raises(InvalidInputError, match="tally is empty"):
        ldpkit.Tally(oracle, 0, [0, 0, 0]).estimate(method)
    with pytest.raises(InvalidInputError, match="support"):
        ldpkit.Tally(oracle, 5, [0, 0, 0]).estimate(method)
    she = ldpkit.get("she", 3, epsilon=1)
    with pytest.raises(InvalidInputError, match="not a pure protocol"):
        she.tally(she.privatize([0, 1])).estimate(method)


def test_the_estimate_says_how_it_was_made():
    oracle = ldpkit.OLH(5, epsilon=2)
    tally = oracle.tally(oracle.privatize([0, 1, 1, 2] * 100, rng=ldpkit.random.seeded(4)))
    for method in ("ibu", "ibu_limit"):
        estimate = tally.estimate(method)
        assert dict(estimate.made_by) == {"mechanism": "olh", "epsilon": 2.0, "method": method}
        keys = {"iterations", "converged", "log_likelihood", "gap", "tolerance", "errors"}
        assert set(estimate.diagnostics) == keys
        assert estimate.n == 400
        assert np.allclose(estimate.consistent("norm_sub").values, estimate.values, atol=1e-9)
