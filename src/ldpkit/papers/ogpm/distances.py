"""How the thesis scores mechanisms, and how they compare with the same distance for everyone.

On a circle the thesis takes arcs for OGPM, but differences of numbers for PM-C and SW-C,
which it lays out on an interval: a report of 359 degrees for a value of 1 counts as 358.
Whoever reads such a report as an angle sees 2: `ldpkit.planning.optimal.errors.arc_error`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.papers import Claim, Verdict, compare

__all__ = ["OTHERS", "WORST_EPSILONS", "line_errors", "middles", "numeric", "percent"]

OTHERS = {"PM-C": "compressed_pm", "SW-C": "compressed_sw"}
"""What the thesis compares with, by its names."""

WORST_EPSILONS = tuple(float(each) for each in np.arange(1, 8.01, 0.25))
"""The thesis names no grid; with this one its averages of worst-case errors come out."""


@lru_cache(maxsize=512)
def numeric(name: str, epsilon: float, low: float = 0.0, high: float = 1.0) -> NumericMechanism:
    """Return a mechanism of an interval, made once."""
    return numeric_class(name).make(IntervalDomain(low, high), epsilon=epsilon)


def middles(count: int, width: float = 1.0) -> Floats:
    """Return evenly spaced values of [0, width], none at an end: their mean is an integral."""
    return np.asarray((np.arange(count) + 0.5) * (width / count), np.float64)


def line_errors(name: str, epsilon: float, values: Floats, power: float) -> Floats:
    """Return the expected powers of |y - x| on [0, 1]."""
    return np.asarray(numeric(name, epsilon).error(values, power))


def percent(
    claim: str,
    printed: float,
    found: float,
    note: str = "",
    *,
    corrected: bool = False,
    stderr: float = 0.0,
    within: float = 0.11,
) -> Claim:
    """Return the claim that one error is a percentage of another.

    They agree if they are `within` so many points of each other, by default the last digit
    printed, which some percentages have cut and not rounded. `corrected` says that, where
    they do not, the reason is known and stands in the note.
    """
    agrees = compare(printed, 100 * found, 100 * stderr, rounding=within)
    otherwise = Verdict.CORRECTED if corrected else Verdict.NOT_REPRODUCED
    return Claim(
        claim,
        f"{printed:g}%",
        f"{100 * found:.2f}%",
        round(100 * stderr, 3),
        Verdict.REPRODUCED if agrees else otherwise,
        note,
    )
