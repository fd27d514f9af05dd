"""The error of one report, beside that of other mechanisms: over the whole domain and at its worst value.

All mechanisms of a comparison are scored with the same distance. On a circle that is the
shorter arc, also for mechanisms that take the circle for an interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.circle import CircleDomain, CircleLike, as_circle
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.cells.widths import POWER
from ldpkit.mechanisms.circular.mechanism import CircularMechanism, arc_integral
from ldpkit.mechanisms.kinds import CIRCULAR, NUMERIC, is_circular, is_numeric, select
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["ErrorRow", "ErrorComparison", "arc_error", "compare_errors", "distance_text"]

POINTS = 257
"""So many values of the domain are looked at."""

_ALL = "all"
_SAME = 1e-9  # errors that differ by less, relative to them, differ by rounding


@dataclass(frozen=True)
class ErrorRow:
    """The error of one mechanism at one epsilon."""

    mechanism: str
    epsilon: float
    mean: float
    """Over all values of the domain, each as likely as any other."""
    worst: float
    worst_at: float
    """A value at which the error is largest."""


@dataclass(frozen=True, repr=False)
class ErrorComparison(Result):
    """The errors of mechanisms over epsilon."""

    kind: ClassVar[str] = "errors"

    domain: IntervalDomain | CircleDomain
    circular: bool
    """Whether distances go round."""
    power: float
    points: int
    found: tuple[ErrorRow, ...]
    left_out: tuple[str, ...] = ()

    @property
    def distance(self) -> str:
        """What the error is the mean of."""
        return distance_text(self.power, around=self.circular)

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Expected {self.distance} of one report on {self.domain}"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        arc = ", the shorter arc," if self.circular else ""
        return (
            f"mean: over the whole domain, all values equally likely; worst: the largest of {self.points} "
            f"values; the same distance{arc} for all mechanisms; those with a power use power={self.power:g}"
        )

    def answer(self, unit: str = "") -> str:
        """Return which mechanism has the smallest mean error at the largest epsilon, or which are equal."""
        epsilon = max(row.epsilon for row in self.found)
        rows = sorted((row for row in self.found if row.epsilon == epsilon), key=lambda row: row.mean)
        least = rows[0]
        names = [row.mechanism for row in rows if row.mean <= least.mean * (1 + _SAME)]
        have = "has" if len(names) == 1 else "have"
        named = f" {unit}" if unit and self.power == 1 else ""
        others = f" among {len(rows)} mechanisms" if len(rows) > 1 else ""
        return (
            f"At epsilon {epsilon:g}, {' and '.join(names)} {have} the smallest expected {self.distance} of "
            f"one report{others}: {number_text(least.mean)}{named} on average over {self.domain}, and "
            f"{number_text(least.worst)} at the worst value."
        )

    def notes(self) -> list[str]:
        """Return which mechanisms were left out, and why."""
        return [f"left out: {'; '.join(self.left_out)}"] if self.left_out else []

    def about(self) -> dict[str, Any]:
        """Return what holds for all rows."""
        return {
            "domain": self.domain.to_json(),
            "circular": self.circular,
            "power": self.power,
            "points": self.points,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism and epsilon."""
        return [dict(row.__dict__) for row in self.found[:top]]


def distance_text(power: float, *, around: bool) -> str:
    """Return what an error is the mean of, as captions and axes say it.

    Examples
    --------
    >>> distance_text(1.0, around=False), distance_text(2.0, around=True)
    ('|y - x|', 'arc(y, x)^2')
    """
    away = "arc(y, x)" if around else "|y - x|"
    return away if power == 1 else f"{away}^{power:g}"


def arc_error(mechanism: NumericMechanism | CircularMechanism, x: float, power: float) -> float:
    """Return the expected power of the shorter arc between a report and x, the domain being one turn.

    Examples
    --------
    >>> import ldpkit
    >>> circular = ldpkit.get("circular_ogpm", 1.0, epsilon=2)
    >>> abs(arc_error(circular, 0.3, 2.0) - circular.error(0.3, 2.0)) < 1e-12
    True
    >>> line = ldpkit.get("compressed_pm", (0, 1), epsilon=2)
    >>> arc_error(line, 0.0, 2.0) < line.error(0.0, 2.0)
    True
    """
    domain = mechanism.domain
    place = int(mechanism.domain.encode([x], steps=mechanism.grid)[0])
    law, (origin, step) = mechanism.law(place), mechanism.placement
    share = (x - domain.low) / domain.width
    edges = np.asarray(float(origin) + float(step) * law.edges - share, float)
    spread = float(np.dot(law.heights, np.diff(arc_integral(edges, power)))) / float(step)
    away = np.abs(np.array([float(point) for point in mechanism.atom_points]) - share) % 1.0
    atoms = float(law.atom_masses @ np.minimum(away, 1 - away) ** power) if len(away) else 0.0
    return (spread + atoms) * float(domain.width**power)


def compare_errors(
    mechanisms: Sequence[str] | str,
    epsilons: Iterable[float],
    domain: IntervalLike = (0.0, 1.0),
    *,
    circle: CircleLike | None = None,
    power: float = 1.0,
    points: int = POINTS,
    watch: Watch = unwatched,
) -> ErrorComparison:
    """Return the whole-domain and the worst error of mechanisms at some epsilons.

    Parameters
    ----------
    mechanisms : sequence of str
        Their names, or "all" that are for the domain and need no parameter but epsilon.
    epsilons : iterable of float
        The privacy parameters.
    domain : IntervalDomain or pair of float
        The interval of values.
    circle : CircleDomain or float, optional
        The circle, or its period, if values lie on one; the interval is then left out.
    power : float
        The power of the distance. Mechanisms that are made for a power are made for this one.
    points : int
        How many values of the domain are looked at.
    watch : callable, optional
        Follows the progress.

    Examples
    --------
    >>> found = compare_errors(["ogpm", "compressed_pm"], [2.0], (0, 1))
    >>> ogpm, pm = found.found
    >>> round(ogpm.worst, 4), round(ogpm.mean / pm.mean, 4)
    (0.2689, 0.9422)
    """
    order = POWER.check(power)
    check_whole(points, "points", least=3)
    circular = circle is not None
    space = as_interval(domain) if circle is None else as_circle(circle)
    names, left_out = _names(mechanisms, circular=circular)
    budgets = sorted({check_epsilon(epsilon) for epsilon in epsilons})
    if not budgets:
        raise InvalidParameterError("there is no epsilon: give at least one")
    asked = [(name, epsilon) for epsilon in budgets for name in names]
    found = collect(
        (_row(name, epsilon, space, order, points, circular=circular) for name, epsilon in asked),
        len(asked),
        "computing errors",
        watch,
    )
    return ErrorComparison(space, circular, order, points, tuple(found), left_out)


def _names(mechanisms: Sequence[str] | str, *, circular: bool) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of the mechanisms, and in words which were left out of all."""
    wanted = [mechanisms] if isinstance(mechanisms, str) else list(mechanisms)
    if _ALL not in wanted:
        names = [MECHANISMS.get(name).name for name in wanted]
        for name in names:
            kind = MECHANISMS.get(name)
            if not (is_numeric(kind) or (circular and is_circular(kind))):
                where = "a circle" if circular else "an interval"
                why = f"{name} does not report numbers of {where}"
                if is_circular(kind):
                    raise InvalidParameterError(f"{why}: give the period of a circle")
                raise InvalidParameterError(f"{why}: choose from {', '.join(_able(circular)[0])}")
        return list(dict.fromkeys(names)), ()
    return _able(circular)


def _able(circular: bool) -> tuple[list[str], tuple[str, ...]]:
    kind = CIRCULAR if circular else NUMERIC
    able = select(kind, single_epsilon=True, without=("fitted",))
    return able.names, able.reasons(kind)


def _row(
    name: str,
    epsilon: float,
    domain: IntervalDomain | CircleDomain,
    power: float,
    points: int,
    *,
    circular: bool,
) -> ErrorRow:
    kind = MECHANISMS.get(name)
    powers = {"power": power} if any(each.name == "power" for each in kind.declared) else {}
    high = domain.low + domain.width
    space = IntervalDomain(domain.low, high) if circular and is_numeric(kind) else domain
    mechanism: Any = kind.make(space, epsilon=epsilon, **powers)
    x = np.linspace(domain.low, high, points)
    if circular:
        x = x[:-1]  # the end is the beginning
        errors: Floats = np.array([arc_error(mechanism, float(each), power) for each in x])
        mean = float(errors.mean())
    else:
        errors = mechanism.error(x, power)
        mean = float(np.trapezoid(errors, x)) / domain.width
    at = int((errors >= errors.max() * (1 - _SAME)).argmax())  # the first of them, not that of the last bit
    if not math.isfinite(mean):
        raise InvalidParameterError(f"the error of {mechanism!r} is infinite: use a smaller power")
    return ErrorRow(name, epsilon, mean, float(errors[at]), float(x[at]))
