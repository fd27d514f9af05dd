"""A circular mechanism goes round: its law turns with the value, and the ends of a turn are one point."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ldpkit.core.domains.circle import WrappedWarning
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.random import seeded
from ldpkit.testing.examples import variant
from ldpkit.testing.expect import UntouchedSource, likely, near, refuses, refuses_bins, require

__all__ = ["CIRCULAR", "check_arcs", "check_full_circle", "check_one_point", "check_turning"]

_NO_CIRCLES = (0, -1, np.nan, np.inf, None, "a day", True, (0, 1), [1, 2], 1e300)


def check_turning(mechanism: Any) -> None:
    """The exact law of a report turns with the value, two cells a step, and is the same to either side."""
    for grid in (2, 8):
        each = mechanism.sibling(grid)
        rows = each.channel().probabilities
        cells = len(rows[0])
        require(cells == 2 * grid, f"{each!r}: expected {2 * grid} cells, found {cells}")
        for place, row in enumerate(rows):
            back = [row[(cell + 2 * place) % cells] for cell in range(cells)]
            require(
                back == rows[0],
                f"{each!r}: expected the law of place {place} to be that of place 0, turned; found another",
            )
        require(rows[0] == rows[0][::-1], f"{each!r}: expected the law at 0 to be symmetric, found it is not")
    full = [mechanism.law(place) for place in (0, 1, mechanism.grid // 2, mechanism.grid - 1)]
    for place, law in zip((0, 1, mechanism.grid // 2, mechanism.grid - 1), full, strict=True):
        points = np.array([0.25, 1.5, mechanism.cells // 3 + 0.5, mechanism.cells - 0.25])
        turned = law.height((points + 2 * place) % mechanism.cells)
        require(
            (turned == full[0].height(points)).all(),
            f"{mechanism!r}: expected the law of place {place} to be that of place 0, turned; found another",
        )


def check_arcs(mechanism: Any) -> None:
    """The density sums to one; error, variance, bias and resultant are its integrals over arcs."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    low, period = mechanism.domain.low, mechanism.domain.period
    for epsilon in (0.5, 4.0):
        each = variant(mechanism, epsilon=epsilon)
        if each is None:
            continue
        resultants = []
        for share in (0.0, 0.671875, 0.9375):
            x = low + share * period
            law = each.law(int(each.domain.encode([x], steps=each.grid)[0]))
            # The arc has kinks at the value and opposite to it.
            edges = np.unique([*low + period * law.edges / each.cells, x, low + (share + 0.5) % 1 * period])
            half = np.diff(edges) / 2
            y = ((edges[1:] + edges[:-1]) / 2 + nodes[:, None] * half).ravel()
            mass = each.pdf(y, x) * (weights[:, None] * half).ravel()
            arcs = each.domain.distance(y, x)
            near(each, "the total probability", mass.sum(), 1.0, 1e-9)
            near(each, "the density a turn later", each.pdf(y[3] + period, x), each.pdf(y[3], x), 0.0)
            for power in (1, 2, 3.5):
                expected = mass @ arcs**power
                near(each, f"error({x}, {power})", each.error(x, power), expected, 1e-8 * expected)
            near(each, f"variance({x})", each.variance(x), mass @ arcs**2, 1e-8 * period**2)
            near(each, f"bias({x})", each.bias(x), 0.0, 1e-9 * period)
            resultants.append(float(mass @ np.cos(2 * math.pi / period * arcs)))
        for found in resultants:
            near(each, "the resultant length", each.resultant(), found, 1e-8)


def check_one_point(mechanism: Any) -> None:
    """Both ends of a turn make the same reports."""
    low, high = mechanism.domain.low, mechanism.domain.high
    first, last = (mechanism.privatize(np.full(50, end), rng=seeded(7)) for end in (low, high))
    require((first == last).all(), "expected both ends of a turn to report alike, found they do not")


def check_wrapping(mechanism: Any) -> None:
    """Values outside a turn are taken round only where the user says so, with a warning that counts them."""
    low, period = mechanism.domain.low, mechanism.domain.period
    outside = [low + 0.25 * period, low + 3.5 * period, low - 0.25 * period]
    refuses(OutOfDomainError, mechanism.privatize, outside, rng=UntouchedSource(), says="wrap=True")
    for value in (np.nan, np.inf, 1e300):
        refuses(InvalidInputError, mechanism.privatize, [low, value], rng=UntouchedSource(), wrap=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapped = mechanism.privatize(outside, rng=seeded(3), wrap=True)
    found = [str(each.message) for each in caught if issubclass(each.category, WrappedWarning)]
    require(found and "2 of 3 values" in found[0], f"expected a warning of 2 of 3 values, found {found}")
    inside = [low + 0.25 * period, low + 0.5 * period, low + 0.75 * period]
    same = mechanism.privatize(inside, rng=seeded(3))
    require((wrapped == same).all(), "expected a wrapped value to report as the same point does")


def check_full_circle(mechanism: Any) -> None:
    """Reports on the full grid have the stated resultant and mean arc, also where they pass the end."""
    n, low, period = 50_000, mechanism.domain.low, mechanism.domain.period
    for share, source in zip((0.0, 0.40625, 1 - 2.0**-10), seeded(22).spawn(3), strict=True):
        x = low + share * period
        y = mechanism.values_of(mechanism.privatize(np.full(n, x), rng=source))
        require(low <= y.min() <= y.max() <= low + period, f"{mechanism!r}: reports outside of the turn")
        away = mechanism.domain.difference(y, x)
        angles = 2 * math.pi / period * away
        for what, found, expected in (
            ("mean arc", np.abs(away), mechanism.error(x)),
            ("resultant length", np.cos(angles), mechanism.resultant()),
            ("direction", np.sin(angles), 0.0),
            ("density near the value", np.abs(away) < period / 16, _near_chance(mechanism, x)),
        ):
            z = (found.mean() - expected) / max(found.std() / math.sqrt(n), 1e-12)
            likely(mechanism, what, x, z)


def _near_chance(mechanism: Any, x: float) -> float:
    """Return the chance of a report within a sixteenth of the circle of the value, from the cdf."""
    low, high, period = mechanism.domain.low, mechanism.domain.high, mechanism.domain.period
    first, last = x - period / 16, x + period / 16
    inside = float(mechanism.cdf(min(last, high), x) - mechanism.cdf(max(first, low), x))
    if first < low:
        inside += 1 - float(mechanism.cdf(first + period, x))
    return inside + (float(mechanism.cdf(last - period, x)) if last > high else 0.0)


def check_circular_bins(mechanism: Any) -> None:
    """The bins of a tally have the chances of the law and turn with the value; others are refused."""
    low, period, size = mechanism.domain.low, mechanism.domain.period, mechanism.tally_size
    masses = mechanism.bin_masses(low + period * np.array([0, 0.25, 0.5, 1]))
    require(masses.shape == (4, size - 1), f"expected {size - 1} chances of a tally, found {masses.shape[1]}")
    require((masses >= 0).all() and np.allclose(masses.sum(axis=1), 1, atol=1e-12), "chances do not sum to 1")
    require(np.allclose(np.roll(masses[1], (size - 1) // 4), masses[2], atol=1e-12), "the bins do not turn")
    require((masses[0] == masses[3]).all(), "expected the bins of both ends of a turn to be the same")
    refuses_bins(mechanism)
    refuses(InvalidInputError, mechanism.tally, np.array([mechanism.cells]))


def check_senseless_circles(mechanism: Any) -> None:
    """What is no circle is refused."""
    for domain in _NO_CIRCLES:
        refuses(InvalidParameterError, type(mechanism), domain, **mechanism.parameters())


CIRCULAR = (
    check_turning,
    check_arcs,
    check_one_point,
    check_wrapping,
    check_full_circle,
    check_circular_bins,
    check_senseless_circles,
)
