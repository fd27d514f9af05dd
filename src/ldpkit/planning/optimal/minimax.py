"""The best of all epsilon-LDP mechanisms on an interval, with bounds on both sides.

Nothing is assumed about the shape of the mechanism. The bound below comes from finitely
many inputs and holds for all outputs; the one above is the loss of the mechanism itself,
on all inputs. What lies between is what is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.circle import CircleLike, as_circle
from ldpkit.core.domains.interval import IntervalLike, as_interval
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.cells.widths import POWER, check_prior, clamped_error, end_error, prior_width
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.circular.window import CircularOGPM
from ldpkit.mechanisms.kinds import is_circular, is_tabled
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.ogpm import OGPM, OGPMPrior
from ldpkit.mechanisms.optimal import TIME_LIMIT
from ldpkit.mechanisms.optimal.bounds import lower_bound, mean_loss, worst_loss
from ldpkit.mechanisms.optimal.making import usual_intervals
from ldpkit.mechanisms.optimal.mechanism import Optimal
from ldpkit.mechanisms.optimal.problem import Problem
from ldpkit.mechanisms.optimal.solve import UnsolvedError, check_fineness, solve
from ldpkit.planning.optimal.errors import distance_text

__all__ = ["Minimax", "circle_optimum", "minimax"]

_INPUTS = 96  # intervals between the inputs of the bound below
_FEWER_INPUTS = 64  # for a power above 1, where outputs between inputs take longer to find
_MOST_VALUES = 65  # of a prior that is taken as it is; more are put together


@dataclass(frozen=True, repr=False)
class Minimax(Result):
    """The best mechanism that was found, and the bounds on what is possible."""

    kind: ClassVar[str] = "minimax"

    mechanism: NumericMechanism | CircularMechanism
    power: float
    lower: float
    """What no epsilon-LDP mechanism goes below."""
    upper: float
    """What the mechanism reaches."""
    closed_form: float
    """What OGPM reaches."""
    prior: bool
    """Whether the mean error over a prior counts, and not the worst error."""
    unsolved: str = ""
    """Why there is no table, if there is none."""

    @property
    def gap(self) -> float:
        """How far the mechanism may be from the optimum, relative to the bound below."""
        return (self.upper - self.lower) / self.lower if self.lower else float("inf")

    @property
    def _where(self) -> str:
        return str(self.mechanism.domain)

    @property
    def _what(self) -> str:
        kind = "mean" if self.prior else "worst"
        return f"{kind} expected {distance_text(self.power, around=is_circular(self.mechanism))}"

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"The best of all mechanisms on {self._where}, epsilon={self.mechanism.epsilon:g}"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        over = "over the prior" if self.prior else f"over all of {self._where}"
        return (
            f"{self._what} {over}; bound: no epsilon-LDP mechanism is better, whatever its outputs; gap: how "
            "far above the bound, relative to it"
        )

    def answer(self, unit: str = "") -> str:
        """Return what no mechanism goes below, and what the one that was found reaches."""
        named = f" {unit}" if unit and self.power == 1 else ""
        budget = f"epsilon {self.mechanism.epsilon:g}"
        reached = f"{self.mechanism.name} reaches {number_text(self.upper)}{named}"
        if not self.lower:
            return f"On {self._where} with {budget}, {reached} as its {self._what}."
        return (
            f"On {self._where} no mechanism with {budget} has a {self._what} below "
            f"{number_text(self.lower)}{named}; {reached}, at most {self.gap:.2%} above that."
        )

    def notes(self) -> list[str]:
        """Return what a reader should know of the answer."""
        told = f"{self.mechanism!r}: {self._what} {self.upper:.6g}"
        if self.lower:
            told += f", at most {self.gap:.2%} above the optimum"
        if self.closed_form > self.upper:
            told += f"; ogpm, optimal among densities with a uniform floor, has {self.closed_form:.6g}"
        elif is_circular(self.mechanism):
            told += "; averaging over rotations shows that no mechanism does better on a circle"
        elif not self.unsolved:
            told += "; rounding to the grid of a table would cost more than the table wins"
        return [told]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know if the program was not solved."""
        if not self.unsolved:
            return ()
        told = (
            f"{self.unsolved}; the mechanism is {self.mechanism.name}, a closed form, which may be "
            f"{self.gap:.3%} above the optimum"
        )
        return (told,)

    def about(self) -> dict[str, Any]:
        """Return the question, the bounds and the mechanism."""
        return {
            "domain": self.mechanism.domain.to_json(),
            "epsilon": self.mechanism.epsilon,
            "power": self.power,
            "prior": self.prior,
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap,
            "closed_form": self.closed_form,
            "solved": not self.unsolved,
            "mechanism": self.mechanism.name,
            "exact_epsilon": self.mechanism.exact_epsilon(),
            "outputs": self._outputs(),
            "probabilities": self.mechanism.table.shares.tolist() if is_tabled(self.mechanism) else [],
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the bound, the mechanism and the closed form."""
        found = [("bound", self.lower), (self.mechanism.name, self.upper)]
        if self.closed_form > self.upper:
            found.append(("ogpm", self.closed_form))
        return [
            {"what": name, "error": error, "gap": error / self.lower - 1 if self.lower else float("inf")}
            for name, error in found[:top]
        ]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the errors and, where there is one, the table of the mechanism at five of its rows."""
        told = super().tables(top)
        if not is_tabled(self.mechanism):
            return told
        table, outputs = self.mechanism.table, self._outputs()
        rows = sorted({round(part * table.bins / 4) for part in range(5)})
        likely = np.sort(np.argsort(-table.shares.max(axis=0), kind="stable")[:top])
        low, width = self.mechanism.domain.low, self.mechanism.domain.width
        shown = [
            {"output": outputs[at]}
            | {f"x={low + width * row / table.bins:g}": float(table.shares[row, at]) for row in rows}
            for at in likely
        ]
        caption = (
            "how likely each output is for some values x; a value between two points of the grid is "
            "first moved to one of them at random"
        )
        if len(likely) < len(outputs):
            caption += f"\n{len(likely)} of {len(outputs)} outputs, the likeliest"
        return [*told, Table.of(shown, title=f"Probabilities of {self.mechanism!r}", caption=caption)]

    def _outputs(self) -> list[float]:
        """Return where the outputs of the table are."""
        if not is_tabled(self.mechanism):
            return []
        places = np.array(self.mechanism.table.outputs) / self.mechanism.output_steps
        return [float(each) for each in self.mechanism.domain.low + self.mechanism.domain.width * places]


def minimax(
    domain: IntervalLike,
    epsilon: float,
    *,
    power: float = 1.0,
    prior: Sequence[float] | Floats | None = None,
    weights: Sequence[float] | Floats | None = None,
    intervals: int | None = None,
    time_limit: float = TIME_LIMIT,
) -> Minimax:
    """Return the mechanism with the least error of all that are epsilon-LDP, with bounds.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy parameter.
    power : float
        The power of |y - x| that is the error.
    prior : sequence of float, optional
        Where values may be; the mean error over them is made small. By default the worst error is.
    weights : sequence of float, optional
        How likely each value of the prior is; equally by default.
    intervals : int, optional
        The intervals of the mechanism's grid, at most 128; by default 16, 32 or 64 by epsilon.
    time_limit : float
        Seconds for each of the two programs. A mechanism in closed form takes the place of one
        that is not found in time.

    Examples
    --------
    >>> found = minimax((0, 1), 1.0, power=2)
    >>> round(found.lower, 6), round(found.upper, 6), len(found.mechanism.table.outputs)
    (0.196612, 0.196612, 2)
    """
    interval, epsilon, power = as_interval(domain), check_epsilon(epsilon), POWER.check(power)
    size = usual_intervals(epsilon) if intervals is None else check_whole(intervals, "intervals")
    check_fineness(size)
    scale = float(interval.width**power)
    if prior is None:
        inputs = _INPUTS if power <= 1 else _FEWER_INPUTS
        points, shares = np.arange(inputs + 1) / inputs, None
        form: NumericMechanism
        form, closed = OGPM(interval, epsilon, power=power), end_error(epsilon, power)
    else:
        points, shares = _distinct(*check_prior(interval, prior, weights))
        width = prior_width(epsilon, power, points, shares)
        form = OGPMPrior(interval, epsilon, width=width)
        closed = sum(
            float(share) * clamped_error(epsilon, width, float(point), power)
            for point, share in zip(points, shares, strict=True)
        )
    try:
        mechanism = (
            Optimal(interval, epsilon, power=power, intervals=size, time_limit=time_limit)
            if shares is None
            else Optimal.for_prior(
                interval,
                epsilon,
                interval.low + interval.width * points,
                shares,
                power=power,
                intervals=size,
                time_limit=time_limit,
            )
        )
        lower = _bound(epsilon, power, points, shares, time_limit)
    except UnsolvedError as error:
        sure = _ends(epsilon, power) if shares is None else 0.0
        return Minimax(
            form, power, sure * scale, closed * scale, closed * scale, shares is not None, str(error)
        )
    table, places = mechanism.table, np.array(mechanism.table.outputs) / mechanism.output_steps
    upper = (
        worst_loss(table.shares, places, power)
        if shares is None
        else mean_loss(table.shares, places, power, points, shares)
    )
    best = (mechanism, upper) if upper < closed else (form, closed)
    return Minimax(best[0], power, lower * scale, best[1] * scale, closed * scale, shares is not None)


def circle_optimum(domain: CircleLike, epsilon: float, *, power: float = 1.0) -> Minimax:
    """Return the best of all epsilon-LDP mechanisms on a circle, which is a closed form.

    Averaging a mechanism over rotations keeps epsilon and does not raise its worst error. What is
    left is a density of the distance alone, between a floor and e^eps times it: the window is best.

    Parameters
    ----------
    domain : CircleDomain or float
        The circle, or its period.
    epsilon : float
        The privacy parameter.
    power : float
        The power of the shorter arc that is the error.

    Examples
    --------
    >>> found = circle_optimum(360, 2.0)
    >>> round(found.lower, 3), found.gap < 1e-5
    (48.409, True)
    """
    mechanism = CircularOGPM(as_circle(domain), epsilon, power=power)
    bound = end_error(mechanism.epsilon, mechanism.power, mechanism.domain.period / 2)
    # Within a step of the grid the value is not where its window is: the largest of some such.
    step = mechanism.domain.period / mechanism.grid
    near = mechanism.error(mechanism.domain.low + step * np.linspace(0, 1, 9), mechanism.power)
    return Minimax(mechanism, mechanism.power, bound, max(float(near.max()), bound), bound, prior=False)


def _bound(epsilon: float, power: float, points: Floats, shares: Floats | None, time_limit: float) -> float:
    """Return what no mechanism goes below on [0, 1]; of many values of a prior, neighbours become one."""
    if shares is None or len(points) <= _MOST_VALUES:
        found = lower_bound(solve(Problem.of_inputs(epsilon, power, points, shares), time_limit=time_limit))
        return found if shares is not None else max(found, _ends(epsilon, power))
    cells = np.rint(points * (_MOST_VALUES - 1)).astype(np.int64)
    used, which = np.unique(cells, return_inverse=True)
    together = np.asarray(np.bincount(which, shares), float)
    moved = np.abs(points - cells / (_MOST_VALUES - 1))
    # What the loss changes by at most where the input moves: |y - x|^r on [0, 1].
    change = float(shares @ (moved**power if power < 1 else power * moved))
    nearby = Problem.of_inputs(epsilon, power, used / (_MOST_VALUES - 1), together)
    return max(lower_bound(solve(nearby, time_limit=time_limit)) - change, 0.0)


def _ends(epsilon: float, power: float) -> float:
    """Return the bound that the two ends alone give: the best one for squared error and a small epsilon."""
    return lower_bound(solve(Problem.of_inputs(epsilon, power, np.array([0.0, 1.0]))))


def _distinct(points: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return each value once, with its share."""
    distinct, which = np.unique(points, return_inverse=True)
    return distinct, np.asarray(np.bincount(which, shares), float)
