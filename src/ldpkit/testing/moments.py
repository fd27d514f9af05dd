"""Estimates are unbiased with the stated variance, and a simulation has the law of real reports.

Where all reports can be listed, bias and variance follow from the exact channel, and
nothing is drawn; the sampler itself is compared with the channel elsewhere. Else real
collections are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.testing.epsilon import each_support, floats, has_public_coins, is_listed, support_moments
from ldpkit.testing.examples import cases
from ldpkit.testing.expect import NotApplicableError, UntouchedSource, refuses, require
from ldpkit.testing.false_alarms import SAID, two_sample_z, z_limit, z_scores

__all__ = ["FREQUENCY", "PURE", "check_estimates", "check_simulated_estimates", "check_simulation_law"]

_SENSELESS_COUNTS = (
    [1, 2],
    [[1, 2, 3]],
    [1, 2, -1],
    [1, 2, 0.5],
    [1, 2, np.nan],
    [1, 2, np.inf],
    [0, 0, 0],
    ["1", "2", "3"],
    None,
    3,
)


# --- one mechanism ---------------------------------------------------------------------


def check_estimates(oracle: Any, *, people: int = 200, repeats: int = 1500, seed: int = 14) -> None:
    """Estimates from real reports have the true frequencies as mean and `variance` as variance.

    Exactly, where the reports can be listed; else in so many collections of so many people.
    """
    if is_listed(oracle) and not has_public_coins(oracle):
        _check_listed_estimates(oracle)
        return
    counts = _population(len(oracle.domain), people)
    _compare(oracle, counts, _collect(oracle, counts, repeats, seeded(seed)), "collections of real reports")


def check_simulated_estimates(oracle: Any, *, repeats: int = 4000, seed: int = 13) -> None:
    """Estimates from `simulate` have the true frequencies as mean and `variance` as variance."""
    counts = 40 * (1 + np.arange(len(oracle.domain)) % 7) ** 2
    counts[-1] = 0  # nobody holds the last value
    supports = oracle.simulate(counts, rng=seeded(seed), repeats=repeats)
    _compare(oracle, counts, supports, "simulated collections")


def check_simulation_law(oracle: Any, *, people: int = 300, repeats: int = 2000, seed: int = 15) -> None:
    """`simulate` has the means and covariances of the exact channel, or else those of real reports."""
    counts = _population(len(oracle.domain), people)
    users, simulated = seeded(seed).spawn(2)
    drawn = oracle.simulate(counts, rng=simulated, repeats=repeats)
    # The channel of one report does not tell how partners depend on each other.
    moments = None if oracle.can("joint") else support_moments(oracle, counts)
    exact = moments is not None and not has_public_coins(oracle)
    real = None if exact else _collect(oracle, counts, repeats, users)
    if moments is None:  # no exact law to compare with: real reports stand for it
        _check_moments(oracle, "simulate against real reports", drawn, real)
        return
    _check_moments(oracle, "simulate", drawn, None, *moments)
    if real is not None:
        _check_moments(oracle, "real reports", real, None, *moments)


def _check_listed_estimates(oracle: Any) -> None:
    """One person's report, estimated: its mean is the person's value, its variance the one stated.

    `variance` of the frequencies of all values is exact. `variance` of a single frequency, where nobody says
    whose it is or who holds the rest, is at least that of every value with any others, and not above what the
    worst holder and the worst other person make together. Where all values are alike, both ends are the same.
    """
    channel, size = oracle.channel(), len(oracle.domain)
    estimates = oracle.unbiased(each_support(oracle, channel), 1)
    spreads: Any = np.empty((size, size))  # what one report of a value (row) adds to each variance (column)
    for value, row in enumerate(channel.probabilities):
        weights = floats(row)
        mean = weights @ estimates
        truth = (np.arange(size) == value).astype(float)
        scale = 1e-9 * np.abs(estimates).max()
        require(
            np.abs(mean - truth).max() < scale,
            f"{oracle!r}: estimates from value {value} are biased: expected {truth}, found {mean}",
        )
        spreads[value] = weights @ (estimates - mean) ** 2
    holders = np.diag(spreads)
    others = np.where(np.eye(size, dtype=bool), 0.0, spreads).max(axis=0)
    for frequency in (0.0, 0.25, 1.0):
        found = frequency * holders + (1 - frequency) * others
        most = frequency * holders.max() + (1 - frequency) * others.max()
        stated = oracle.variance(frequency, 1)
        room = 1e-9 * most + 1e-12
        require(
            found.max() <= stated + room,
            f"{oracle!r}: states too little: estimates at frequency {frequency} have up to "
            f"{found.max() / stated:.4g} times the stated variance, at value {int(found.argmax())}",
        )
        require(
            stated <= most + room,
            f"{oracle!r}: states too much variance: {stated:.4g} at frequency {frequency}, and no value has "
            f"more than {most:.4g}",
        )
    people = (1.0 + np.arange(size)) / (size * (size + 1) / 2)  # uneven
    exact, stated = people @ spreads, oracle.variance(people, 1)
    require(
        np.allclose(exact, stated, rtol=1e-9, atol=1e-12),
        f"{oracle!r}: estimates of the frequencies {people.round(3)} have {(exact / stated).round(4)} times "
        "the stated variance",
    )


def _compare(oracle: Any, counts: Any, supports: Any, what: str) -> None:
    n: int = counts.sum()
    repeats, size = supports.shape
    truth = counts / n
    estimates = oracle.unbiased(supports, int(n))
    variance = oracle.variance(truth, int(n))
    limit = z_limit(2 * size)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / repeats)
    require(np.abs(z).max() < limit, f"{oracle!r}: {what} are biased, z-scores {z.round(1)} ({SAID})")
    centred = estimates - estimates.mean(axis=0)
    second = (centred**2).mean(axis=0)
    spread, fourth = second / variance, (centred**4).mean(axis=0)
    z = (spread - 1) / np.sqrt((fourth / second**2 - 1) / repeats)
    require(
        np.abs(z).max() < limit,
        f"{oracle!r}: {what} have {spread.round(3)} times the stated variance, z {z.round(1)} ({SAID})",
    )


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
    scale = 0.0 if covariance is None else float(np.abs(covariance).sum())  # scores may add up to nearly 0
    for moment, draws in statistics(sample).items():
        z = (
            z_scores(draws, exact[moment], scale if moment == "variance of the total" else 0.0)
            if other is None
            else two_sample_z(draws, statistics(other)[moment])
        )
        require(
            np.abs(z).max() < limit,
            f"{oracle!r}: {what}: wrong {moment}, z-scores {z.round(1).tolist()} ({SAID})",
        )


def _collect(oracle: Any, counts: Any, repeats: int, source: RandomSource) -> Any:
    """Return the support counts of `repeats` collections in which everybody really reports."""
    people = np.repeat(np.arange(len(counts)), counts)
    if oracle.can("joint"):  # partners come from one collection
        drawn = (oracle.first_reports(people, rng=source) for _ in range(repeats))
        return np.array([oracle.tally(reports).counts for reports in drawn])
    reports = oracle.first_reports(np.tile(people, repeats), rng=source)
    each = len(people)
    return np.array([oracle.tally(reports[run * each : (run + 1) * each]).counts for run in range(repeats)])


def _population(size: int, people: int) -> Any:
    """Return uneven counts with an empty last value."""
    counts = np.arange(size - 1, 0, -1) ** 2
    counts = counts * people // counts.sum()
    counts[0] += people - counts.sum()
    return np.append(counts, 0)


# --- a mechanism and its siblings ------------------------------------------------------


def check_unbiased(mechanism: Any) -> None:
    """Estimates are unbiased with the stated variance, for two values and for more."""
    if mechanism.can("joint"):
        raise NotApplicableError("partners depend on each other: no batch is cut into collections")
    for each in cases(mechanism, (2, 1.0), (9, 2.0)):
        check_estimates(each, repeats=800)


def check_simulation(mechanism: Any) -> None:
    """`simulate` has the law of real reports: unbiased, with the stated variance and all covariances."""
    (each,) = cases(mechanism, (9, 0.5))
    check_simulated_estimates(each, repeats=4000 if each.can("pure") else 800)
    (each,) = cases(mechanism, (5, 1.0))
    check_simulation_law(each, repeats=1000)


def check_simulation_seeds(mechanism: Any) -> None:
    """A simulation repeats with its seed, stays within the possible counts, and refuses senseless ones."""
    (each,) = cases(mechanism, (6, 1.0))
    size = len(each.domain)
    counts = np.resize([5, 0, 3, 100, 1, 0], size).tolist()
    first = each.simulate(counts, rng=seeded(8), repeats=3)
    require(first.shape == (3, size), f"expected counts of shape (3, {size}), found {first.shape}")
    require(first.dtype == np.int64, f"expected integers of 64 bits, found {first.dtype}")
    require(
        (first == each.simulate(np.array(counts), rng=seeded(8), repeats=3)).all(), "a seed does not repeat"
    )
    require(
        (first != each.simulate(counts, rng=seeded(9), repeats=3)).any(), "two seeds draw the same counts"
    )
    require(
        (each.simulate(counts, repeats=20) != each.simulate(counts, repeats=20)).any(),
        "expected secure simulations to differ, found two alike",
    )
    people = sum(counts)
    least, greatest = each.count_range(people)
    require(
        (first >= least).all() and (first <= greatest).all(),
        f"expected counts that {people} reports can give",
    )
    (three,) = cases(mechanism, (3, 1.0))
    for senseless in _SENSELESS_COUNTS:
        refuses(InvalidInputError, three.simulate, senseless, rng=UntouchedSource(), says="counts")
    for repeats in (0, -1, 1.5, None, True, "2"):
        refuses(
            InvalidParameterError,
            three.simulate,
            list(range(1, len(three.domain) + 1)),
            rng=UntouchedSource(),
            repeats=repeats,
            says="repeats",
        )


def check_variance(mechanism: Any) -> None:
    """The variance follows p and q, and a random population adds f (1 - f) / n."""
    if mechanism.can("joint"):
        raise NotApplicableError("partners depend on each other: no batch is cut into collections")
    (each,) = cases(mechanism, (7, 1.5))
    p, q = (float(chance) for chance in each.support_probabilities)
    f = np.array([0.0, 0.25, 1.0])
    fixed, sampled = each.variance(f, 500), each.variance(f, 500, population=True)
    exact = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (500 * (p - q) ** 2)
    require(np.allclose(fixed, exact, rtol=1e-12), f"{each!r}: expected variances {exact}, found {fixed}")
    require(
        np.allclose(sampled - fixed, f * (1 - f) / 500, rtol=1e-9, atol=1e-15),
        f"{each!r}: expected f(1-f)/n more for a random population, found {sampled - fixed}",
    )
    single = each.variance(0.25, 500)
    require(
        isinstance(single, float) and single == fixed[1], f"expected {fixed[1]} as a float, found {single!r}"
    )


FREQUENCY = (check_unbiased, check_simulation, check_simulation_seeds)
PURE = (check_variance,)
