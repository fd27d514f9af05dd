"""Piecewise densities on an interval: their loss, the best one with two levels, and its certificate.

With a uniform floor t <= f <= e^eps t, the expected loss is linear in the density f, so
the best f is at its ceiling wherever the loss is below some level, and at its floor
wherever it is above: it fills the outputs nearest to x first. An increasing loss is low in
one window around x, so three pieces suffice. `certificate` shows it for a given floor: the
dual of that linear program has the same value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ldpkit.core.errors import InvalidParameterError

__all__ = [
    "SAME",
    "Interval",
    "DensityPiece",
    "best_width",
    "certificate",
    "expected_loss",
    "merged",
    "two_levels_at",
]

Interval = tuple[float, float]

SAME = 1e-4
"""Densities that differ by less, relative to the larger one, are one."""

_THIN = 2e-4  # of the output range: pieces that are thinner are none


class DensityPiece(NamedTuple):
    """A density on an interval of outputs."""

    low: float
    high: float
    density: float

    @property
    def mass(self) -> float:
        """The probability of the piece."""
        return (self.high - self.low) * self.density


def merged(
    pieces: Sequence[DensityPiece], *, same: float = SAME, thin: float = _THIN
) -> tuple[DensityPiece, ...]:
    """Return pieces with neighbours of the same density made one, and those without width dropped.

    Examples
    --------
    >>> edges = [(0, 0.2, 1.5), (0.2, 0.2, 2.0), (0.2, 0.5, 1.5), (0.5, 1, 0.5)]
    >>> merged([DensityPiece(*each) for each in edges])
    (DensityPiece(low=0, high=0.5, density=1.5), DensityPiece(low=0.5, high=1, density=0.5))
    """
    whole = pieces[-1].high - pieces[0].low
    kept: list[DensityPiece] = []
    for piece in pieces:
        if piece.high - piece.low <= thin * whole:
            continue
        if kept and abs(kept[-1].density - piece.density) <= same * max(kept[-1].density, piece.density):
            before = kept.pop()
            width = piece.high - before.low
            kept.append(DensityPiece(before.low, piece.high, (before.mass + piece.mass) / width))
        else:
            kept.append(piece)
    return tuple(kept)


def integral(low: float, high: float, x: float, power: float) -> float:
    """Return the integral of |y - x|**power from low to high."""
    below, above = low - x, high - x
    order = power + 1
    return (math.copysign(abs(above) ** order, above) - math.copysign(abs(below) ** order, below)) / order


def expected_loss(pieces: Sequence[DensityPiece], x: float, power: float) -> float:
    """Return the expected |y - x|**power of a density in pieces.

    Examples
    --------
    >>> expected_loss([DensityPiece(0, 1, 1.0)], 0.5, 1)
    0.25
    """
    return math.fsum(piece.density * integral(piece.low, piece.high, x, power) for piece in pieces)


def _window(width: float, x: float, outputs: Interval) -> Interval:
    """Return the part of the outputs of some width that is nearest to x."""
    low = min(max(x - width / 2, outputs[0]), outputs[1] - width)
    return low, low + width


def two_levels_at(epsilon: float, width: float, x: float, outputs: Interval) -> tuple[DensityPiece, ...]:
    """Return the density that is e^eps times as high in the window of that width nearest to x as elsewhere.

    Examples
    --------
    >>> [piece.density.__round__(4) for piece in two_levels_at(1.0, 0.377541, 0.5, (0.0, 1.0))]
    [0.6065, 1.6487, 0.6065]
    """
    floor = 1 / (outputs[1] - outputs[0] + math.expm1(epsilon) * width)
    low, high = _window(width, x, outputs)
    levels = (outputs[0], low, floor), (low, high, math.exp(epsilon) * floor), (high, outputs[1], floor)
    return tuple(DensityPiece(*each) for each in levels if each[1] > each[0])


def best_width(epsilon: float, points: Sequence[float], outputs: Interval, power: float) -> float:
    """Return the width of the window with the least worst loss over some points.

    This is the analytic deduction: with the mass fixed to one, a single unknown is left.

    Examples
    --------
    >>> round(best_width(1.0, [0.0, 1.0], (0.0, 1.0), 1.0), 6), round(1 / (1 + math.exp(0.5)), 6)
    (0.377541, 0.377541)
    """
    from scipy.optimize import minimize_scalar

    whole = outputs[1] - outputs[0]
    found = minimize_scalar(
        lambda share: max(
            expected_loss(two_levels_at(epsilon, share * whole, x, outputs), x, power) for x in points
        ),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(found.x) * whole


def certificate(
    epsilon: float, x: float, floor: float, power: float, *, outputs: Interval = (0.0, 1.0)
) -> tuple[float, float]:
    """Return the loss of the density that fills the nearest outputs first, and a bound below for all others.

    All others are those between the floor and e^eps times the floor. The two are the same
    number, which proves that none is better: with l the loss at the farther edge of the
    window, any such density f loses at least l + integral of t (L-l)+ - e^eps t (l-L)+.

    Examples
    --------
    >>> loss, bound = certificate(1.0, 0.3, 0.6, 1.0)
    >>> abs(loss - bound) < 1e-15
    True
    """
    whole, ratio = outputs[1] - outputs[0], math.exp(epsilon)
    if not floor * whole <= 1 <= ratio * floor * whole * (1 + 1e-12):
        raise InvalidParameterError(
            f"no density on an interval of length {whole:g} lies between {floor:g} and e^{epsilon:g} times "
            f"that: the floor is between {1 / (ratio * whole):g} and {1 / whole:g}"
        )
    width = (1 - floor * whole) / ((ratio - 1) * floor)
    low, high = _window(width, x, outputs)
    filled = [
        DensityPiece(outputs[0], low, floor),
        DensityPiece(low, high, ratio * floor),
        DensityPiece(high, outputs[1], floor),
    ]
    level = max(abs(low - x), abs(high - x)) ** power
    # Where the loss is below the level; at an end of the outputs that is cut off there.
    reach = level ** (1 / power)
    inner = max(x - reach, outputs[0]), min(x + reach, outputs[1])
    inside = level * (inner[1] - inner[0]) - integral(*inner, x, power)
    outside = integral(*outputs, x, power) - integral(*inner, x, power)
    outside -= level * (whole - (inner[1] - inner[0]))
    return expected_loss(filled, x, power), level + floor * outside - ratio * floor * inside
