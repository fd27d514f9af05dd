"""The probability of a half-space: one or two columns in closed form, more by convolution.

For two columns, P(a X + b Y + c > 0) is the mean over X of a distribution function of Y at
a linear function of X; on a piece where X is even this is a difference of the integral of
that distribution function, so there is nothing to approximate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.typing import Floats

__all__ = ["half_space"]

_LATTICE = 1 << 15  # steps of the lattice on which more than two columns are added up
_TAIL = 1e-9  # of each column, left out of the lattice and counted against the bound
_ROUNDING = 1e-12
_TRANSFORM = 1e-9  # what the fast Fourier transforms of one convolution can be off by, over all its steps


def half_space(
    weights: Sequence[float], constants: Floats, laws: Sequence[Outputs], rounding: Floats | float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Return the probability that weights @ outputs + constant is above zero, with its bounds.

    Parameters
    ----------
    weights : sequence of float
        One for each privatized column.
    constants : array
        What the other columns and the intercept add, one for each record.
    laws : sequence of Outputs
        The law of each privatized column.
    rounding : array or float
        How far a score that a model computes may be off: points that close to the boundary may fall
        on either side of it.

    Examples
    --------
    >>> even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    >>> half_space([1.0, 1.0], np.array([-0.5]), [even, even])[0].round(6).tolist()
    [0.875]
    >>> value, low, high = half_space([1.0, 1.0, 1.0], np.array([-1.5]), [even] * 3)
    >>> bool(low[0] <= 0.5 <= high[0]), bool(high[0] - low[0] < 1e-3)
    (True, True)
    """
    off = np.broadcast_to(np.asarray(rounding, np.float64), constants.shape)
    used = [(weight, law) for weight, law in zip(weights, laws, strict=True) if weight != 0]
    if not used:
        value = (constants > 0).astype(np.float64)
        return value, (constants > off).astype(np.float64), (constants > -off).astype(np.float64)
    slack = sum(law.slack for _, law in used) + _ROUNDING
    if len(used) > 2:
        low, high = _convolved(used, constants, off)
        value = (low + high) / 2
    elif len(used) == 1:
        ((weight, law),) = used
        value, low, high = (each[:, 0] for each in _beyond(law, weight, -constants[:, None], off[:, None]))
    else:
        value, low, high = _two(used, constants, off)
        slack += sum(law.grain for _, law in used)
    value = np.clip(value, 0.0, 1.0)
    return value, np.clip(low - slack, 0.0, 1.0), np.clip(high + slack, 0.0, 1.0)


def _beyond(law: Outputs, weight: float, limit: Floats, off: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(weight Y > limit), a row of limits for each record, and its bounds if limits are off."""
    found = []
    for moved in (limit, limit + off, limit - off):
        with np.errstate(over="ignore"):
            at = moved / weight
        found.append(1.0 - law.reached(at) if weight > 0 else law.reached(at, inclusive=False))
    value, low, high = found
    return value, low, high


def _reach(weight: float, law: Outputs) -> float:
    ends = [law.edges.min(), law.edges.max()] if not law.discrete else []
    ends += [law.points.min(), law.points.max()] if len(law.points) else []
    return abs(weight) * float(max(ends) - min(ends))


def _two(used: list[tuple[float, Outputs]], constants: Floats, off: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(a X + b Y + c > 0) and its bounds, X being the column that moves the score more."""
    (a, outer), (b, inner) = sorted(used, key=lambda each: -_reach(*each))
    value = np.zeros(len(constants))
    low, high = value, value
    if len(outer.points):
        limits = -(constants[:, None] + a * outer.points)
        parts = _beyond(inner, b, limits, off[:, None])
        value, low, high = ((outer.chances * part).sum(axis=1) for part in parts)
    if not outer.discrete:
        # P(Y <= t(x)) or P(Y < t(x)) integrated over x, where t is linear with slope -a/b.
        at = -(constants[:, None] + a * outer.edges) / b
        steps = np.diff(inner.integral(at), axis=1) / (-a / b)
        below = (outer.densities * steps).sum(axis=1)
        above = outer.masses.sum(axis=1) - below if b > 0 else below
        value, low, high = value + above, low + above, high + above
    return value, low, high


def _convolved(used: list[tuple[float, Outputs]], constants: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return bounds on P(sum > 0): each column is rounded down on a lattice for one, up for the other.

    Rounding every column down makes the sum smaller for certain, so the bounds are no estimates.
    """
    from scipy.signal import fftconvolve

    n, count = len(constants), len(used)
    low, high = np.zeros(n), np.zeros(n)
    for row in range(n):
        parts = [_ends(weight, law, row) for weight, law in used]
        step = sum(end - start for start, end in parts) / _LATTICE or 1e-300
        lattices, start = list[Floats](), 0.0
        for (weight, law), (first, last) in zip(used, parts, strict=True):
            steps = int(np.ceil((last - first) / step)) + 1
            lattices.append(_on_lattice(weight, law, row, first + step * np.arange(steps + 1.0)))
            start += first
        total = lattices[0]
        for each in lattices[1:]:
            total = fftconvolve(total, each)
        total = np.maximum(total, 0.0)
        floors = constants[row] + start + step * np.arange(len(total))
        lost = max(1.0 - float(total.sum()), 0.0) + _TRANSFORM * (count - 1)
        low[row] = total[floors > off[row]].sum() - _TRANSFORM * (count - 1)
        high[row] = total[floors + count * step > -off[row]].sum() + lost
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _ends(weight: float, law: Outputs, row: int) -> tuple[float, float]:
    """Return between which ends weight times the output lies, but for a small tail."""
    ends = list[float]()
    if not law.discrete:
        sums = np.concatenate([[0.0], np.cumsum(law.masses[row])])
        cut = np.interp([_TAIL * sums[-1], (1 - _TAIL) * sums[-1]], sums, law.edges[row])
        ends += cut.tolist()
    ends += law.points[law.chances[row] > _TAIL].tolist()
    reached = [weight * end for end in ends]
    return min(reached), max(reached)


def _on_lattice(weight: float, law: Outputs, row: int, bounds: Floats) -> Floats:
    """Return the probability that weight times the output lies in each [bound, next bound)."""
    one = law.take(np.array([row]))
    at = (bounds / weight)[None, :]
    below = one.reached(at, inclusive=False)[0] if weight > 0 else 1.0 - one.reached(at)[0]
    return np.asarray(np.maximum(np.diff(below), 0.0))
