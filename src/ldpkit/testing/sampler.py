"""The sampler makes the reports that the channel says, and mixes up no positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.mechanisms.kinds import is_on_grid
from ldpkit.testing.epsilon import floats, has_public_coins, is_listed, record_array, records
from ldpkit.testing.examples import cases, variant
from ldpkit.testing.expect import NotApplicableError, require
from ldpkit.testing.false_alarms import FALSE_ALARM, SAID, fits

__all__ = ["FREQUENCY", "NUMERIC", "PURE", "check_sampler"]


def check_sampler(mechanism: Any, *, draws: int = 100_000, seed: int = 11) -> None:
    """Reports drawn for each value occur as often as the channel's exact probabilities say."""
    if has_public_coins(mechanism):
        if not mechanism.can("pure"):
            raise NotApplicableError(
                "its coins cannot be listed, and it has no p and q: its moments are checked"
            )
        _check_supports(mechanism, draws, seed)
        return
    channel = mechanism.channel()
    places = {record: index for index, record in enumerate(records(mechanism, channel.reports))}
    values = _values(mechanism)
    for row, source in enumerate(seeded(seed).spawn(len(values))):
        reports = mechanism.first_reports(np.full(draws, values[row]), rng=source)
        observed = np.zeros(len(places))
        found, times = np.unique(record_array(mechanism, reports), return_counts=True)
        for record, count in zip(found, times, strict=True):
            require(record.tobytes() in places, f"{mechanism!r} made a report that its channel does not have")
            observed[places[record.tobytes()]] = count
        expected = floats(channel.probabilities[row])
        surprise = fits(observed, expected)
        require(
            surprise > FALSE_ALARM / len(values),
            f"{mechanism!r}: reports of {values[row]} do not follow the channel, p-value {surprise:.2g} "
            f"({SAID}): expected frequencies {expected}, found {observed / draws}",
        )


def _values(mechanism: Any) -> Any:
    """Return the values that have a row each in the channel."""
    if is_on_grid(mechanism):
        return mechanism.domain.decode(np.arange(mechanism.place_count), steps=mechanism.grid)
    return np.arange(len(mechanism.domain))


def _check_supports(mechanism: Any, draws: int, seed: int) -> None:
    """Without a law of the coins at hand: supports occur with exactly p and q, per value."""
    size = len(mechanism.domain)
    p, q = mechanism.support_probabilities
    for value, source in enumerate(seeded(seed).spawn(size)):
        counts = mechanism.tally(mechanism.first_reports(np.full(draws, value), rng=source)).counts
        for other in range(size):
            chance = float(p if other == value else q)
            surprise = fits([counts[other], draws - counts[other]], [chance, 1 - chance])
            require(
                surprise > FALSE_ALARM / size**2,
                f"{mechanism!r}: reports of {value} do not follow p and q: expected {other} to be supported "
                f"with {chance}, found {counts[other] / draws}, p-value {surprise:.2g} ({SAID})",
            )


def check_samplers(mechanism: Any) -> None:
    """Reports follow the channel for few and for more values, at small and at large epsilon."""
    found = cases(mechanism, (2, 0.1), (5, 1.0), (4, 8.0))
    if not is_listed(found[0]):
        raise NotApplicableError("its reports cannot be listed: its moments are checked")
    for each in found:
        check_sampler(each, draws=30_000)
    for each in cases(mechanism, (3, 1.0)):
        check_sampler(each, draws=200_000, seed=21)


def check_numeric_samplers(mechanism: Any) -> None:
    """Reports follow the channel on a grid of eight steps."""
    for epsilon in (0.5, 4.0):
        each = variant(mechanism, epsilon=epsilon)
        if each is not None:
            check_sampler(each.sibling(8), draws=40_000, seed=21)


def check_sizes(mechanism: Any) -> None:
    """Every size works from report to tally, and at large epsilon the own value is the one that shows.

    A mix-up of positions (bit order, last value, padding) cannot hide at epsilon 9.
    """
    for each in cases(mechanism, *((size, 9.0) for size in (2, 8, 9, 65, 257))):
        size = len(each.domain)
        for value in sorted({0, 1, 7 % size, size - 2, size - 1}):
            reports = each.first_reports([value] * 150, rng=seeded(value))
            data = each.encode(reports)
            require(each.encode(each.decode(data)) == data, f"{each!r}: decode and encode change reports")
            counts = each.tally(reports).counts
            shown = int(counts.argmax())
            require(
                shown == value,
                f"{each!r}: expected value {value} to show, found {shown} (false-alarm rate 1e-9)",
            )
            if each.can("pure") and each.can("likelihood"):
                check_supported(each, reports)


def check_supported(oracle: Any, reports: Any) -> None:
    """Looking up values one by one finds what is listed for all of them."""
    listed = np.unpackbits(oracle.packed_supports(reports), axis=1, count=oracle.size, bitorder="little")
    some = np.arange(len(reports))[:, None] * [1, 3] % oracle.size
    asked = ((np.arange(oracle.size), listed), (some, np.take_along_axis(listed, some, axis=1)))
    for values, expected in asked:
        wrong = np.argwhere(oracle.supported(reports, values) != expected)
        require(
            not len(wrong),
            f"{oracle!r}: supported differs from packed_supports for {len(wrong)} of {expected.size} values "
            f"and reports: expected {expected[tuple(wrong[0])] if len(wrong) else 0} in the first of them",
        )


def check_neighbours(mechanism: Any) -> None:
    """The noise of one report says nothing about that of the next: supports of pairs multiply."""
    (each,) = cases(mechanism, (4, 1.0))
    reports = each.first_reports(np.zeros(3000, int), rng=seeded(22))
    held = [each.tally(reports[place : place + 2]).counts[0] for place in range(0, len(reports), 2)]
    p = each.p
    surprise = fits(np.bincount(held, minlength=3), [(1 - p) ** 2, 2 * p * (1 - p), p * p])
    require(
        surprise > FALSE_ALARM,
        f"{each!r}: neighbouring reports depend on each other, p-value {surprise:.2g} ({SAID})",
    )


FREQUENCY = (check_samplers, check_sizes)
PURE = (check_neighbours,)
NUMERIC = (check_numeric_samplers,)
