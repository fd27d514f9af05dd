"""The best density of m pieces, by the bilinear program of the thesis, and the closed form beside it.

Pieces i = 1..m have densities p[i] between a floor t and e^eps t and edges e[0..m], and
the loss at x is sum p[i] (F(e[i]) - F(e[i-1])), with F the antiderivative of |y - x|^r. Summed
by parts that is m - 1 products of a jump p[i] - p[i+1] and F at an edge, and as many of a
jump and an edge for the mass. SCIP branches on these until the gap between the best
density found and its bound is closed.

The thesis takes two steps. The densities are those that are best for the worst input, an
end of the interval of inputs; then the edges are found for each input with these densities.

Citation: Zheng, dissertation, section 5.2 and appendix C.2.4, with its proof replaced.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.interval import IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.cells.widths import POWER
from ldpkit.planning.optimal.errors import distance_text
from ldpkit.planning.optimal.pieces import (
    SAME,
    DensityPiece,
    Interval,
    best_width,
    expected_loss,
    merged,
    two_levels_at,
)
from ldpkit.planning.optimal.scip import check_solver, solve

__all__ = ["GAP", "OptimalPieces", "fit_height", "gpm", "pieces_needed"]

GAP = 1e-4
"""A relative gap below which a program counts as closed."""

_MOST_PIECES = 9
_BETTER = 1e-6  # by which one more piece must lower the loss to count


@dataclass(frozen=True, repr=False)
class OptimalPieces(Result):
    """The best density of m pieces for one input, what SCIP proved of it, and the closed form."""

    kind: ClassVar[str] = "optimal pieces"

    epsilon: float
    power: float
    x: float
    inputs: Interval
    outputs: Interval
    asked: int
    """How many pieces were allowed."""
    pieces: tuple[DensityPiece, ...]
    """Merged; those of the closed form if the program did not close."""
    incumbent: tuple[DensityPiece, ...]
    """The best that SCIP found, merged."""
    loss: float
    incumbent_loss: float
    bound: float
    """What SCIP proved that no density with m pieces goes below, for the input its densities are for."""
    gap: float
    closed_form: float
    """The loss of the closed form: two levels, the nearest outputs first."""
    closed: bool
    at: float
    """The input that the densities are best for."""

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Best density of {self.asked} pieces at x={self.x:g}, epsilon={self.epsilon:g}"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        return (
            f"expected {distance_text(self.power, around=False)}: {self.loss:.8g}; "
            f"closed form {self.closed_form:.8g}; "
            f"SCIP's, best at x={self.at:g}, has {self.incumbent_loss:.8g} and a gap of {self.gap:.2g} "
            f"to its bound; optimal among densities with a uniform floor, not among all mechanisms"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know if the program was not closed."""
        if self.closed:
            return ()
        found = "nothing in its time"
        if math.isfinite(self.gap):
            found = f"{self.incumbent_loss:.8g} with a gap of {self.gap:.2g} left"
        told = (
            f"SCIP did not close the program of {self.asked} pieces: it found {found}; "
            "the pieces are those of the closed form, which is proven optimal"
        )
        return (told,)

    def about(self) -> dict[str, Any]:
        """Return what holds for all pieces."""
        names = ("epsilon", "power", "x", "at", "inputs", "outputs", "asked", "loss", "incumbent_loss")
        return {name: getattr(self, name) for name in (*names, "bound", "gap", "closed_form", "closed")}

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each piece."""
        return [{**piece._asdict(), "mass": piece.mass} for piece in self.pieces[:top]]


def gpm(
    epsilon: float,
    x: float,
    *,
    pieces: int = 3,
    power: float = 1.0,
    inputs: IntervalLike = (0.0, 1.0),
    outputs: IntervalLike | None = None,
    at: float | None = None,
    gap: float = GAP,
    time_limit: float = 30.0,
    node_limit: int = 1_000_000,
) -> OptimalPieces:
    """Return the best density of so many pieces at an input.

    Parameters
    ----------
    epsilon : float
        The privacy parameter.
    x : float
        The input whose density is wanted.
    pieces : int
        m, from 2 to 9.
    power : float
        The power of |y - x| whose mean is made small.
    inputs : pair of float
        X: the interval of inputs.
    outputs : pair of float, optional
        Y: the interval of outputs, by default that of inputs.
    at : float, optional
        The input that the densities are best for; by default the worst one, an end of X.
    gap : float
        The relative gap at which the program counts as closed.
    time_limit, node_limit : float, int
        When SCIP stops in each of the two steps.

    Examples
    --------
    >>> found = gpm(2.0, 0.5, at=0.5)
    >>> found.closed, round(found.loss, 6), [round(piece.low, 2) for piece in found.pieces]
    (True, 0.134471, [0.0, 0.37, 0.63])
    """
    epsilon, power = check_epsilon(epsilon), POWER.check(power)
    if not 2 <= check_whole(pieces, "pieces") <= _MOST_PIECES:
        raise InvalidParameterError(f"pieces must be from 2 to {_MOST_PIECES}, got {pieces}")
    known = as_interval(inputs)
    given = known if outputs is None else as_interval(outputs)
    possible, told = (known.low, known.high), (given.low, given.high)
    for name, value in (("x", x), ("at", x if at is None else at)):
        if not known.low <= value <= known.high:
            raise InvalidParameterError(f"{name} must lie in the interval of inputs {known}, got {value!r}")
    check_solver()
    limits = gap, time_limit, node_limit
    ends = [at] if at is not None else list(possible)
    best = {end: solve(epsilon, end, pieces, power, told, limits) for end in ends}
    worst = max(best, key=lambda end: best[end].loss)
    found, first = best[worst], best[worst]
    if x != worst and math.isfinite(first.loss):
        levels = _staircase(first.pieces)
        found = solve(epsilon, x, len(levels), power, told, limits, levels=levels)
    closed = first.gap <= gap and found.gap <= gap
    width = best_width(epsilon, ends, told, power)
    form = two_levels_at(epsilon, width, x, told)
    return OptimalPieces(
        epsilon,
        power,
        x,
        possible,
        told,
        pieces,
        merged(found.pieces if closed else form),
        merged(found.pieces),
        found.loss if closed else expected_loss(form, x, power),
        found.loss,
        first.bound,
        max(first.gap, found.gap),
        expected_loss(form, x, power),
        closed,
        worst,
    )


def _staircase(pieces: tuple[DensityPiece, ...]) -> list[float]:
    """Return the levels of pieces going up and down again: pieces of no width leave out what is too much."""
    tops = sorted(piece.density for piece in merged(pieces))
    up = [top for top, above in itertools.pairwise([*tops, math.inf]) if above > top * (1 + SAME)]
    return [*up, *up[-2::-1]]


def fit_height(epsilons: Floats, heights: Floats) -> tuple[float, float, float]:
    """Return b1 and b2 of the best fit e^(b1 eps) + b2 to heights, and its largest error: the regression.

    Examples
    --------
    >>> epsilons = np.linspace(0.5, 4, 50)
    >>> b1, b2, error = fit_height(epsilons, np.exp(epsilons / 2))
    >>> round(b1, 6), abs(b2) < 1e-6, error < 1e-6
    (0.5, True, True)
    """
    from scipy.optimize import least_squares

    def misses(b: Floats) -> Floats:
        return np.asarray(np.exp(b[0] * epsilons) + b[1] - heights)

    found = least_squares(misses, (0.4, 0.0), xtol=1e-14, ftol=1e-14, gtol=1e-14).x
    return float(found[0]), float(found[1]), float(np.abs(misses(found)).max())


def pieces_needed(
    epsilon: float, x: float, *, power: float = 1.0, most: int = 5, node_limit: int = 50
) -> tuple[int, dict[int, OptimalPieces]]:
    """Return the number of pieces beyond which SCIP finds nothing better, and what it found for each number.

    The densities are those that are best at x itself. That m + 1 pieces are no better than m is
    no proof that m suffice, as the thesis has it; `certificate` is one, for m = 3.

    Examples
    --------
    >>> needed, found = pieces_needed(1.0, 0.3, most=4)
    >>> needed, found[2].incumbent_loss > found[3].incumbent_loss + 1e-3
    (3, True)
    """
    found: dict[int, OptimalPieces] = {}
    for count in range(2, most + 1):
        found[count] = gpm(epsilon, x, pieces=count, power=power, at=x, node_limit=node_limit)
        before = found.get(count - 1)
        if before is not None and before.incumbent_loss - found[count].incumbent_loss < _BETTER:
            return count - 1, found
    return most, found
