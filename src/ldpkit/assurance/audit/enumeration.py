"""The channel of a mechanism, listed whole; where it is too large, that of a small sibling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import RandomSource
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.channel import Channel

__all__ = ["Enumeration", "enumerate_channel"]

_SIBLINGS = (8, 4, 3, 2)
_COINS = 8  # draws of public coins, for each of which the channel is listed
_FEW_REPORTS = 4096
_MOST_CELLS = 1 << 18  # exact fractions, of which a second of processor time adds up 200,000


@dataclass(frozen=True)
class Enumeration:
    """What listing every report has shown.

    Parameters
    ----------
    text : str
        What was listed, or why nothing was.
    epsilon : float or None
        The largest log-ratio of two probabilities of a report, if it was listed.
    exact : float
        The `exact_epsilon` of what was listed.
    sums_to_one : bool
        Whether the probabilities under each value sum to exactly one.
    """

    text: str
    epsilon: float | None
    exact: float
    sums_to_one: bool = True


def enumerate_channel(mechanism: Mechanism, source: RandomSource) -> Enumeration:
    """List every report with its exact probability under each value.

    Examples
    --------
    >>> import ldpkit
    >>> listed = enumerate_channel(ldpkit.GRR(3, epsilon=1.0), ldpkit.random.seeded(1))
    >>> listed.text, listed.epsilon == listed.exact
    ('all 3 reports under all 3 values', True)
    """
    reason = "its reports cannot be listed"
    for candidate in _in_turn(mechanism, source):
        try:
            channels = list(_channels(candidate, source))
        except LdpkitError as error:
            reason = str(error)
            continue
        values = len(channels[0].probabilities)
        text = f"all {len(channels[0].reports):,} reports under all {values:,} values"
        if len(channels) > 1:
            text += f", for {len(channels)} draws of its public coins"
        if candidate is not mechanism:
            text += f", of the smaller {candidate!r} (its own are too many to list)"
        return Enumeration(
            text,
            max(channel.epsilon() for channel in channels),
            candidate.exact_epsilon(),
            all(sum(row) == 1 for channel in channels for row in channel.probabilities),
        )
    return Enumeration(f"not listed: {reason}", None, math.nan)


def _in_turn(mechanism: Mechanism, source: RandomSource) -> Iterator[Mechanism]:
    """Yield what to list: the mechanism itself, unless small siblings show that it would be too much."""
    siblings, values = list(_siblings(mechanism)), mechanism.domain.size or 0
    if values <= _SIBLINGS[0] or not siblings:
        yield from (mechanism, *siblings)
        return
    try:
        most, least = (len(each.channel(source).reports) for each in (siblings[0], siblings[-1]))
    except LdpkitError:
        yield from siblings
        return
    reports = most if most == least else most * values // _SIBLINGS[0]
    listed = most <= _SIBLINGS[0] ** 2 and reports * values <= _MOST_CELLS
    yield from (mechanism, *siblings) if listed else siblings


def _channels(mechanism: Mechanism, source: RandomSource) -> Iterator[Channel]:
    """Yield the channel, once for each draw of public coins if there are any."""
    first = mechanism.channel(source)
    yield first
    if len(first.reports) > _FEW_REPORTS:
        return
    again = mechanism.channel(source)
    if np.array_equal(first.reports, again.reports):
        return
    yield again
    for _ in range(_COINS - 2):
        yield mechanism.channel(source)


def _siblings(mechanism: Mechanism) -> Iterator[Mechanism]:
    """Yield the same mechanism with fewer values, or on a coarser grid."""
    for size in _SIBLINGS:
        try:
            yield mechanism.sibling(size)
        except LdpkitError:
            continue
