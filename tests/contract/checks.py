"""The checks of the contract, as plain functions from a mechanism to an AssertionError.

The suite calls them on every registered mechanism; the negative controls call the same
functions on broken mechanisms and expect them to fail. Statistical checks use fixed
seeds, so they never flicker; their false-alarm rate says how surprising a failure is.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.categorical.hashing import LocalHashing

__all__ = [
    "FALSE_ALARM",
    "SAID",
    "check_channel",
    "check_epsilon",
    "check_hash_pairs",
    "check_sampler",
    "check_simulation_law",
    "check_unbiased_simulation",
    "check_unbiased_users",
    "fits",
    "has_public_coins",
    "is_listed",
    "support_moments",
    "z_limit",
]

FALSE_ALARM = 1e-9
SAID = f"false-alarm rate {FALSE_ALARM:g}"


# --- exact -----------------------------------------------------------------------------


def check_epsilon(mechanism: Any, *, slack: float = 1e-6) -> None:
    """The realised epsilon is at most the stated one, and not needlessly below.

    A mechanism that loses some of its budget by nature says so with `tight = False`.
    """
    exact = mechanism.exact_epsilon()
    assert exact <= mechanism.epsilon, f"{mechanism!r} realises epsilon {exact!r}, above what it states"
    least = mechanism.epsilon - slack if getattr(mechanism, "tight", True) else 0
    assert exact > least, f"{mechanism!r} wastes budget: it realises only {exact!r}"


def check_channel(mechanism: Any, *, coins: int = 64) -> None:
    """The enumerated channel is stochastic and its epsilon is the one that is stated as exact.

    A channel with public coins may be more private for some coins (all values in one
    bucket), never less; over some coins the exact epsilon is reached.
    """
    # The channel is that of one report; what a partner learns beyond it has tests of its own.
    exact = getattr(mechanism, "exact_epsilon_alone", mechanism.exact_epsilon)()
    worst = 0.0
    for coin in range(coins if has_public_coins(mechanism) else 1):
        channel = mechanism.channel(ldpkit.random.seeded(coin))
        records = _records(mechanism, channel.reports)
        assert len(set(records)) == len(records), f"{mechanism!r}: a report stands twice in the channel"
        assert len(channel.probabilities) == len(mechanism.domain), (
            f"{mechanism!r}: not one row for each value"
        )
        for value, row in enumerate(channel.probabilities):
            assert all(isinstance(entry, (int, Fraction)) for entry in row), f"{mechanism!r}: not exact"
            assert min(row) >= 0, f"{mechanism!r}: negative probability in row {value}"
            assert sum(row) == 1, f"{mechanism!r}: row {value} sums to {sum(row)}, not exactly to 1"
        found = channel.epsilon()
        assert found <= exact, (
            f"{mechanism!r}: the channel has epsilon {found!r}, above exact_epsilon {exact!r}"
        )
        worst = max(worst, found)
    assert worst == exact, (
        f"{mechanism!r}: exact_epsilon is {exact!r}, but the channel only reaches {worst!r}"
    )
    assert exact <= mechanism.epsilon, f"{mechanism!r} realises epsilon {exact!r}, above what it states"


def is_listed(mechanism: Any) -> bool:
    """Whether the reports are few enough to be listed by `channel`."""
    try:
        mechanism.channel()
    except InvalidParameterError:
        return False
    return True


def has_public_coins(mechanism: Any) -> bool:
    """Whether a report carries randomness that does not depend on the value, as a hash function."""
    first, second = (mechanism.channel(ldpkit.random.seeded(seed)).reports for seed in (1000, 1001))
    return bool((np.asarray(first) != np.asarray(second)).any())


# --- the sampler has the channel -------------------------------------------------------


def check_sampler(mechanism: Any, *, draws: int = 100_000, seed: int = 11) -> None:
    """Reports drawn for each value occur as often as the channel's exact probabilities say."""
    if not is_listed(mechanism):
        return  # what follows from p and q, or from `unbiased`, is checked by the moments
    if isinstance(mechanism, LocalHashing):
        _check_hash_sampler(mechanism, draws, seed)
        return
    if has_public_coins(mechanism):
        _check_coin_sampler(mechanism, draws, seed)
        return
    channel = mechanism.channel()
    place = {record: index for index, record in enumerate(_records(mechanism, channel.reports))}
    values = len(mechanism.domain)
    for value, source in enumerate(ldpkit.random.seeded(seed).spawn(values)):
        reports = mechanism.first_reports(np.full(draws, value), rng=source)
        observed = np.zeros(len(place))
        records, times = np.unique(_record_array(mechanism, reports), return_counts=True)
        for record, count in zip(records, times, strict=True):
            assert record.tobytes() in place, f"{mechanism!r} made a report that its channel does not have"
            observed[place[record.tobytes()]] = count
        expected = np.array([float(entry) for entry in channel.probabilities[value]])
        surprise = fits(observed, expected)
        assert surprise > FALSE_ALARM / values, (
            f"{mechanism!r}: reports of value {value} do not follow the channel, "
            f"p-value {surprise:.2g} ({SAID}); frequencies {observed / draws}, exact {expected}"
        )


def _check_hash_sampler(mechanism: LocalHashing, draws: int, seed: int) -> None:
    """Given its hash function, a report is the own bucket with p and any other with q; coins are uniform."""
    buckets, size = mechanism.buckets, len(mechanism.domain)
    p = float(mechanism.support_probabilities[0])
    law = np.array([p] + [(1 - p) / (buckets - 1)] * (buckets - 1))
    tests = 3 * size
    for value, source in enumerate(ldpkit.random.seeded(seed).spawn(size)):
        reports = mechanism.first_reports(np.full(draws, value), rng=source)
        own = mechanism.hash(reports["a"], reports["b"], np.array([value], np.uint32)).astype(np.int64)
        turn = (reports["y"].astype(np.int64) - own) % buckets
        surprise = fits(np.bincount(turn, minlength=buckets), law)
        assert surprise > FALSE_ALARM / tests, (
            f"{mechanism!r}: buckets of value {value} do not follow randomised response, "
            f"p-value {surprise:.2g} ({SAID}); frequencies {np.bincount(turn) / draws}"
        )
        for coin in ("a", "b"):
            top = reports[coin] >> (8 * mechanism.word.itemsize - 8)
            surprise = fits(np.bincount(top.astype(np.int64), minlength=256), np.full(256, 1 / 256))
            assert surprise > FALSE_ALARM / tests, (
                f"{mechanism!r}: coin {coin} is not uniform for {value}, p-value {surprise:.2g} ({SAID})"
            )


def _check_coin_sampler(mechanism: Any, draws: int, seed: int) -> None:
    """Without a law of the coins at hand: supports occur with exactly p and q, per value."""
    size = len(mechanism.domain)
    p, q = mechanism.support_probabilities
    for value, source in enumerate(ldpkit.random.seeded(seed).spawn(size)):
        counts = mechanism.tally(mechanism.first_reports(np.full(draws, value), rng=source)).counts
        for other in range(size):
            chance = float(p if other == value else q)
            surprise = fits(np.array([counts[other], draws - counts[other]]), np.array([chance, 1 - chance]))
            assert surprise > FALSE_ALARM / size**2, (
                f"{mechanism!r}: reports of {value} support {other} with frequency {counts[other] / draws}, "
                f"exact {chance}, p-value {surprise:.2g} ({SAID})"
            )


def check_hash_pairs(
    mechanism: LocalHashing, pairs: Sequence[tuple[int, int]], *, draws: int = 200_000, seed: int = 12
) -> None:
    """Over the coins, two values fall into any two buckets as independently as exact widths say."""
    coins = mechanism._hash_functions(draws, ldpkit.random.seeded(seed))
    buckets = mechanism.buckets
    cells = 1 << (4 * mechanism.word.itemsize)
    edges = [-(-bucket * cells // buckets) for bucket in range(buckets + 1)]
    width = np.diff(edges) / cells
    for first, second in pairs:
        left, right = (
            mechanism.hash(coins["a"], coins["b"], np.array([value], np.uint32)).astype(np.int64)
            for value in (first, second)
        )
        observed = np.bincount(left * buckets + right, minlength=buckets**2)
        surprise = fits(observed, np.outer(width, width).ravel())
        assert surprise > FALSE_ALARM / len(pairs), (
            f"{mechanism!r}: values {first} and {second} are not hashed independently, "
            f"p-value {surprise:.2g} ({SAID})"
        )


def fits(observed: Any, probabilities: Any) -> float:
    """Return the p-value of a chi-square test of counts against exact probabilities.

    Cells that are expected fewer than ten times are pooled, so that the law of the
    statistic is good far out in the tail.
    """
    from scipy.stats import chi2

    observed, probabilities = np.asarray(observed, float), np.asarray(probabilities, float)
    expected = observed.sum() * probabilities
    if observed[probabilities == 0].any():
        return 0.0
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    observed, expected = observed[expected > 0], expected[expected > 0]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(observed) - 1)) if len(observed) > 1 else 1.0


# --- moments ---------------------------------------------------------------------------


def check_unbiased_simulation(oracle: Any, *, repeats: int = 4000, seed: int = 13) -> None:
    """Estimates from `simulate` have the true frequencies as mean and `variance` as variance."""
    size = len(oracle.domain)
    counts = 40 * (1 + np.arange(size) % 7) ** 2
    counts[-1] = 0  # nobody holds the last value
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(seed), repeats=repeats)
    _check_estimates(oracle, counts, supports, "simulated collections")


def check_unbiased_users(oracle: Any, *, people: int = 200, repeats: int = 1500, seed: int = 14) -> None:
    """Estimates from real reports have the true frequencies as mean and `variance` as variance."""
    counts = _population(len(oracle.domain), people)
    supports = _collect(oracle, counts, repeats, ldpkit.random.seeded(seed))
    _check_estimates(oracle, counts, supports, "collections of real reports")


def _check_estimates(oracle: Any, counts: Any, supports: Any, what: str) -> None:
    from scipy.stats import kurtosis

    n, repeats, size = counts.sum(), *supports.shape
    truth = counts / n
    estimates = oracle.unbiased(supports, int(n))
    variance = oracle.variance(truth, int(n))
    limit = z_limit(2 * size)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / repeats)
    assert np.abs(z).max() < limit, f"{oracle!r}: {what} are biased, z-scores {z.round(1)} ({SAID})"
    spread = estimates.var(axis=0, ddof=1) / variance
    z = (spread - 1) / np.sqrt((2 + kurtosis(estimates, axis=0)) / repeats)
    assert np.abs(z).max() < limit, (
        f"{oracle!r}: {what} have {spread.round(3)} times the stated variance, z-scores {z.round(1)} ({SAID})"
    )


def check_simulation_law(oracle: Any, *, people: int = 300, repeats: int = 2000, seed: int = 15) -> None:
    """`simulate` and real reports have the same means and covariances, those of the exact channel."""
    counts = _population(len(oracle.domain), people)
    users, simulated = ldpkit.random.seeded(seed).spawn(2)
    real = _collect(oracle, counts, repeats, users)
    drawn = oracle.simulate(counts, rng=simulated, repeats=repeats)
    moments = support_moments(oracle, counts)
    if moments is None:  # no exact law to compare with: real reports stand for it
        _check_moments(oracle, "simulate against real reports", drawn, real)
        return
    for what, sample in (("real reports", real), ("simulate", drawn)):
        _check_moments(oracle, what, sample, None, *moments)


def _check_moments(
    oracle: Any, what: str, sample: Any, other: Any, mean: Any = None, covariance: Any = None
) -> None:
    size = sample.shape[1]
    limit = z_limit(size * (size + 3) // 2 + 1)
    centre = other.mean(axis=0) if other is not None else mean

    def statistics(draws: Any) -> dict[str, Any]:
        centred = draws - centre
        return {
            "mean": centred,
            "covariance": centred[:, :, None] * centred[:, None, :],
            "variance of the total": centred.sum(axis=1, keepdims=True) ** 2,
        }

    exact = {"mean": np.zeros(size), "covariance": covariance}
    if other is None:
        exact["variance of the total"] = np.array([covariance.sum()])
    for moment, draws in statistics(sample).items():
        z = (
            _z_scores(draws, exact[moment])
            if other is None
            else _two_sample_z(draws, statistics(other)[moment])
        )
        assert np.abs(z).max() < limit, (
            f"{oracle!r}: {what}: wrong {moment}, z-scores {z.round(1).tolist()} ({SAID})"
        )


def support_moments(oracle: Any, counts: Any) -> tuple[Any, Any] | None:
    """Return the exact mean and covariance of support counts, from the enumerated channel.

    For a pure protocol whose coins cannot be listed, supports of different values are
    uncorrelated (in local hashing up to the few parts in 2^16 by which buckets differ).
    None stands for an oracle for which neither is known.
    """
    size = len(counts)
    if not is_listed(oracle):
        return None
    if has_public_coins(oracle):
        if not oracle.can("pure"):
            return None
        p, q = oracle.p, oracle.q
        mean = counts * p + (counts.sum() - counts) * q
        return mean, np.diag(counts * p * (1 - p) + (counts.sum() - counts) * q * (1 - q))
    channel = oracle.channel()
    supports = np.array(
        [oracle.tally(channel.reports[i : i + 1]).counts for i in range(len(channel.reports))]
    )
    mean, covariance = np.zeros(size), np.zeros((size, size))
    for people, row in zip(counts, channel.probabilities, strict=True):
        weights = _floats(row)
        one = weights @ supports
        mean += people * one
        covariance += people * ((supports.T * weights) @ supports - np.outer(one, one))
    return mean, covariance


def _collect(oracle: Any, counts: Any, repeats: int, source: Any) -> Any:
    """Return the support counts of `repeats` collections in which everybody really reports."""
    people = np.repeat(np.arange(len(counts)), counts)
    reports = oracle.first_reports(np.tile(people, repeats), rng=source)
    each = len(people)
    return np.array([oracle.tally(reports[run * each : (run + 1) * each]).counts for run in range(repeats)])


def _population(size: int, people: int) -> Any:
    """Return uneven counts with an empty last value."""
    counts = np.arange(size - 1, 0, -1) ** 2
    counts = counts * people // counts.sum()
    counts[0] += people - counts.sum()
    return np.append(counts, 0)


def z_limit(tests: int) -> float:
    """Return what none of so many z-scores exceeds either way, but for a false alarm."""
    return -NormalDist().inv_cdf(FALSE_ALARM / (2 * tests))


def _z_scores(draws: Any, exact: Any) -> Any:
    """Return z-scores of means of draws; where draws do not vary, 0 if exactly right, else infinite."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    gap = draws.mean(axis=0) - exact
    near = np.abs(gap) < 1e-9 * (1 + np.abs(exact).max())
    return np.where(near, 0.0, gap / np.maximum(error, 1e-12))


def _two_sample_z(first: Any, second: Any) -> Any:
    error = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
    return (first.mean(axis=0) - second.mean(axis=0)) / np.maximum(error, 1e-12)


def _floats(row: Sequence[Fraction]) -> Any:
    return np.array([float(entry) for entry in row])


def _record_array(mechanism: Any, reports: Any) -> Any:
    return np.frombuffer(mechanism.encode(reports), f"V{mechanism.report_bytes}")


def _records(mechanism: Any, reports: Any) -> list[bytes]:
    return [record.tobytes() for record in _record_array(mechanism, reports)]
