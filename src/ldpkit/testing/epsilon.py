"""Epsilon is exact: computed from the sampler's integers, and met by every report that can be made."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.kinds import is_frequency, is_numeric
from ldpkit.testing.examples import cases, variant
from ldpkit.testing.expect import NotApplicableError, require

__all__ = [
    "FREQUENCY",
    "NUMERIC",
    "PURE",
    "check_channel",
    "check_epsilon",
    "floats",
    "has_public_coins",
    "is_listed",
    "record_array",
    "records",
    "support_moments",
]


# --- one mechanism ---------------------------------------------------------------------


def check_epsilon(mechanism: Any, *, slack: float = 1e-6) -> None:
    """The realised epsilon is at most the stated one, and not needlessly below.

    A mechanism that loses some of its budget by nature says so with `tight = False`.
    """
    exact = mechanism.exact_epsilon()
    require(
        exact <= mechanism.epsilon,
        f"{mechanism!r}: expected at most {mechanism.epsilon!r}, found {exact!r}, above what it states",
    )
    least = mechanism.epsilon - slack if mechanism.tight else 0
    hint = "say tight = False if that is its nature"
    if not mechanism.tight:
        hint = "its reports say nothing about the value"
        if is_frequency(mechanism):
            size = len(mechanism.domain)
            hint += f"; if {size} values are too few for it, say smallest_domain = {size + 1}"
    require(
        exact > least,
        f"{mechanism!r} wastes budget: expected more than {least!r}, found {exact!r} ({hint})",
    )


def check_channel(mechanism: Any, *, coins: int = 64) -> None:
    """The enumerated channel is stochastic and its epsilon is the one that is stated as exact.

    A channel with public coins may be more private for some coins (all values in one
    bucket), never less; over some coins the exact epsilon is reached.
    """
    # The channel is that of one report; what a partner learns beyond it has tests of its own.
    exact = mechanism.exact_epsilon_alone() if mechanism.can("joint") else mechanism.exact_epsilon()
    worst = 0.0
    for coin in range(coins if has_public_coins(mechanism) else 1):
        channel = mechanism.channel(seeded(coin))
        listed = records(mechanism, channel.reports)
        require(len(set(listed)) == len(listed), f"{mechanism!r}: a report stands twice in the channel")
        values = len(mechanism.domain) if is_frequency(mechanism) else mechanism.place_count
        found: Any = len(channel.probabilities)
        require(found == values, f"{mechanism!r}: expected a row for each of {values} values, found {found}")
        for value, row in enumerate(channel.probabilities):
            exactly = all(isinstance(entry, (int, Fraction)) for entry in row)
            require(exactly, f"{mechanism!r}: expected integers or fractions in row {value}, found others")
            require(min(row) >= 0, f"{mechanism!r}: negative probability in row {value}")
            require(sum(row) == 1, f"{mechanism!r}: row {value} sums to {sum(row)}, not exactly to 1")
        found = channel.epsilon()
        require(
            found <= exact, f"{mechanism!r}: the channel has epsilon {found!r}, above exact_epsilon {exact!r}"
        )
        worst = max(worst, found)
    require(
        worst == exact, f"{mechanism!r}: exact_epsilon is {exact!r}, but the channel only reaches {worst!r}"
    )
    require(exact <= mechanism.epsilon, f"{mechanism!r} realises epsilon {exact!r}, above what it states")


def is_listed(mechanism: Any) -> bool:
    """Whether the reports are few enough to be listed by `channel`."""
    try:
        mechanism.channel()
    except InvalidParameterError:
        return False
    return True


def has_public_coins(mechanism: Any) -> bool:
    """Whether a report carries randomness that does not depend on the value, as a hash function."""
    first, second = (mechanism.channel(seeded(seed)).reports for seed in (1000, 1001))
    return bool((np.asarray(first) != np.asarray(second)).any())


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
    supports = each_support(oracle, channel)
    mean, covariance = np.zeros(size), np.zeros((size, size))
    for people, row in zip(counts, channel.probabilities, strict=True):
        weights = floats(row)
        one = weights @ supports
        mean += people * one
        covariance += people * ((supports.T * weights) @ supports - np.outer(one, one))
    return mean, covariance


def each_support(oracle: Any, channel: Any) -> Any:
    """Return what each report of a channel adds to the counts of a tally, one row a report."""
    reports = channel.reports
    return np.array([oracle.tally(reports[place : place + 1]).counts for place in range(len(reports))])


def floats(row: Any) -> Any:
    """Return exact probabilities as floating-point numbers."""
    return np.array([float(entry) for entry in row])


def record_array(mechanism: Any, reports: Any) -> Any:
    """Return the wire form of each report, as an integer where it is short enough to be sorted fast."""
    length = mechanism.report_bytes
    return np.frombuffer(mechanism.encode(reports), f"<u{length}" if length in (1, 2, 4, 8) else f"V{length}")


def records(mechanism: Any, reports: Any) -> list[bytes]:
    """Return the wire form of each report."""
    return [record.tobytes() for record in record_array(mechanism, reports)]


# --- a mechanism and its siblings ------------------------------------------------------


def check_epsilons(mechanism: Any) -> None:
    """Epsilon is exact for few and many values, and at both ends of its range."""
    check_epsilon(mechanism)
    wanted = [(size, epsilon) for size in (2, 1000) for epsilon in (0.001, 1.0, 8.0, 20.0)]
    for each in cases(mechanism, *wanted):
        check_epsilon(each)
    try:
        (large,) = cases(mechanism, (10**6, 1.0))
    except NotApplicableError as reason:
        raise NotApplicableError(f"only the last part, since {reason}; the rest of it passes") from None
    found = large.exact_epsilon()
    require(0 < found <= large.epsilon, f"{large!r}: expected at most {large.epsilon}, found {found!r}")


def check_numeric_epsilons(mechanism: Any) -> None:
    """Epsilon is exact on the full grid and at both ends of its range."""
    check_epsilon(mechanism)
    for each in cases(mechanism, *((None, epsilon) for epsilon in (0.001, 0.5, 0.62, 1.0, 4.0, 20.0))):
        check_epsilon(each, slack=1e-5 if each.epsilon in (0.001, 20.0) else 1e-6)


def check_channels(mechanism: Any) -> None:
    """Epsilon is the greatest ratio among all reports, listed for two and for five values."""
    found = cases(mechanism, (2, 0.5), (2, 5.0), (5, 0.5), (5, 2.0))
    if not is_listed(found[0]):
        raise NotApplicableError("its reports cannot be listed, not even for two values")
    for each in found:
        check_channel(each)


def check_numeric_channels(mechanism: Any) -> None:
    """Epsilon is the greatest ratio among all reports on small grids; a mean report is on its line."""
    for grid, epsilon in ((2, 0.5), (8, 0.5), (8, 4.0)):
        each = variant(mechanism, epsilon=epsilon)
        if each is None:
            continue
        each = each.sibling(grid)
        check_channel(each)
        if not is_numeric(each) or each.line is None:
            continue
        intercept, slope = each.line
        origin, step = each.placement
        points = [origin + step * (cell + Fraction(1, 2)) for cell in range(each.cells)] + [*each.atom_points]
        span = max(points) - min(points)
        for place, row in enumerate(each.channel().probabilities):
            mean = sum(chance * point for chance, point in zip(row, points, strict=True))
            gap = abs(mean - intercept - slope * Fraction(place, grid))
            # A clamp far out in the tail may move the mean by less than anyone can see.
            require(
                gap <= span / 10**13,
                f"{each!r}: the mean report at {place}/{grid} is {float(gap)} off its line",
            )


def check_support_probabilities(mechanism: Any) -> None:
    """A report supports its own value with p and each other with q, exactly those of the channel."""
    for each in cases(mechanism, (2, 0.5), (5, 3.0)):
        p, q = each.support_probabilities
        require(isinstance(p, Fraction) and isinstance(q, Fraction), "expected p and q as fractions")
        require(0 < q < p < 1, f"{each!r}: expected 0 < q < p < 1, found p={p}, q={q}")
        require((each.p, each.q) == (float(p), float(q)), f"{each!r}: expected p and q as floats of theirs")
        if has_public_coins(each):
            continue  # the coins cannot be listed: the sampler is compared with p and q
        channel = each.channel()
        supports = each_support(each, channel)
        for value, row in enumerate(channel.probabilities):
            found = [sum(chance for chance, one in zip(row, held, strict=True) if one) for held in supports.T]
            expected = [p if other == value else q for other in range(len(each.domain))]
            require(found == expected, f"{each!r}: expected supports {expected} of {value}, found {found}")


FREQUENCY = (check_epsilons, check_channels)
PURE = (check_support_probabilities,)
NUMERIC = (check_numeric_epsilons, check_numeric_channels)
