"""Which mechanism for locations: ranked by expected error, with an answer that asks nobody among them.

For points it is the mean distance between a report and the location, an exact integral. For a
heat map it is the total variation between the estimated and the true map, over collections that
are drawn from their exact law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ldpkit.assurance.adversary import epsilon_warnings
from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.domains.globe import EARTH_RADIUS
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_people
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.core.text import and_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.cell_law import cell_law
from ldpkit.estimation.deconvolution import maximise
from ldpkit.mechanisms.kinds import FREQUENCY, SPATIAL, TRAJECTORY, frequency_oracle, select, spatial_class
from ldpkit.mechanisms.tally import Tally
from ldpkit.planning.best_constant import best_constant, best_constant_on_globe
from ldpkit.planning.ties import is_tie

__all__ = [
    "LocationOption",
    "LocationRecommendation",
    "Question",
    "recommend_locations",
]

Question = Literal["points", "heat map"]
CONSTANT = "constant"
"""What is called the answer that asks nobody."""

_NO_ERROR = (
    "its error depends on the whole trajectory, not on a location alone: see evaluate_trajectories, or "
    "'ldpkit trajectory evaluate'"
)
_NO_TALLY = "its reports do not tally, because each depends on others"
_NODES = 40
_DRAWS = 8
_MOST_PLACES = 4000  # public locations that mechanisms are fitted to


@dataclass(frozen=True)
class LocationOption:
    """A mechanism for locations and its expected error."""

    mechanism: str
    error: float
    stderr: float | None
    parameters: str

    def row(self, nothing: float) -> dict[str, Any]:
        """Return the record, with the error as a part of that of the constant answer."""
        return {
            "mechanism": self.mechanism,
            "error": self.error,
            "stderr": self.stderr,
            "of_constant": self.error / nothing if nothing > 0 else None,
            "parameters": self.parameters,
        }


@dataclass(frozen=True, repr=False)
class LocationRecommendation(Result):
    """Mechanisms for locations, best first, with the constant answer among them.

    Parameters
    ----------
    domain : PlaneDomain
        The region.
    epsilon : float
        The budget of one location.
    question : {"points", "heat map"}
        What the reports are for.
    options : tuple of LocationOption
        The best first.
    left_out : dict
        Mechanisms that could not be made, and why.
    people : int or None
        How many report, for a heat map.
    grid : CellGrid or None
        Its cells.
    even : bool
        Whether locations were taken to be equally likely everywhere.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.recommend_locations(((0, 0), (10, 10)), 4)
    >>> found.rows()[0]["mechanism"]
    'grid_response'
    """

    domain: PlaneDomain
    epsilon: float
    question: Question
    options: tuple[LocationOption, ...]
    left_out: dict[str, str]
    people: int | None = None
    grid: CellGrid | None = None
    even: bool = True

    kind: ClassVar[str] = "location recommendation"

    @property
    def best(self) -> LocationOption:
        """The first option."""
        return self.options[0]

    @property
    def teaches(self) -> bool:
        """Whether the best is better than asking nobody."""
        return self.best.mechanism != CONSTANT

    @property
    def _nothing(self) -> float:
        return next(each.error for each in self.options if each.mechanism == CONSTANT)

    @property
    def ties(self) -> tuple[str, ...]:
        """The mechanisms that cannot be told from the best, itself included."""
        best = self.best
        return tuple(
            each.mechanism
            for each in self.options
            if is_tie(each.error, best.error, math.hypot(each.stderr or 0.0, best.stderr or 0.0), _DRAWS - 1)
        )

    def answer(self, unit: str = "") -> str:
        """Return which mechanism is best, or which tie, as a sentence."""
        if not self.teaches:
            return self.notes()[0]
        named = f" {unit}" if unit and self.grid is None else ""
        error = f"{self.best.error:.4g}{named}"
        share = f"{self.best.error / self._nothing:.0%} of the error of a constant answer"
        if len(self.ties) > 1:
            return f"{and_text(self.ties)} tie for the smallest error, {error}: {share}."
        return f"{self.best.mechanism} has the smallest expected error, {error}: {share}."

    @property
    def title(self) -> str:
        """The title above the table."""
        if self.grid is None:
            return f"Locations in {self.domain}, epsilon {self.epsilon:g} each"
        return f"Heat map of {self.grid} from {self.people:,} reports, epsilon {self.epsilon:g} each"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        where = "locations equally likely everywhere" if self.even else "the locations given"
        if self.grid is None:
            globe = " in kilometres" if self.domain.region.wraps else ""
            unit = " in metres" if self.domain.projection is not None else globe
            told = (
                f"The error is the mean distance{unit} between a report and the location, by integration, "
                f"for {where}; constant: always the best single point"
            )
        else:
            told = (
                "The error is the total variation between the estimated and the true map, the mean of "
                f"{_DRAWS} collections drawn for {where}; constant: all cells alike"
            )
        return f"{told}; of_constant: error as a fraction of the constant's error"

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism, and one for the constant answer."""
        return [each.row(self._nothing) for each in self.options][:top]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the mechanisms, the best marked."""
        return [Table.of(self.rows(top), title=self.title, caption=self.caption, best={0: "error"})]

    def about(self) -> dict[str, Any]:
        """Return what was asked, and what is best."""
        return {
            "space": self.domain.to_json(),
            "epsilon": self.epsilon,
            "question": self.question,
            "people": self.people,
            "best": self.best.mechanism,
            "teaches": self.teaches,
            "left_out": self.left_out,
        }

    def notes(self) -> list[str]:
        """Return what is best, and what is missing from the table."""
        best = self.best
        if self.teaches:
            said = f"{best.mechanism} has the smallest error, {best.error:.4g}."
        else:
            said = (
                "At this epsilon nothing is better than the constant answer: give a larger one, or do not "
                "collect."
            )
        worse = [
            each.mechanism
            for each in self.options
            if each.mechanism != CONSTANT and each.error > self._nothing
        ]
        useless = [f"Worse than the constant answer: {', '.join(worse)}."] if worse and self.teaches else []
        missing = [f"Left out: {name} ({why})." for name, why in self.left_out.items()]
        return [said, *useless, *missing]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of the budget."""
        return tuple(epsilon_warnings(self.epsilon))


def recommend_locations(
    domain: PlaneLike,
    epsilon: float,
    question: Question = "points",
    *,
    locations: Locations | None = None,
    n: int | None = None,
    columns: int = 16,
    rows: int = 16,
    rng: RandomSource | None = None,
) -> LocationRecommendation:
    """Rank the mechanisms for locations by their expected error.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The budget of one location.
    question : {"points", "heat map"}
        Whether each report matters, or how many people are in each cell.
    locations : optional
        Public locations that people's are like; by default all are equally likely. A heat map
        needs them: which mechanism is best depends on how people are spread.
    n : int, optional
        How many people report, for a heat map; by default as many as there are locations.
    columns, rows : int
        The cells of a heat map.
    rng : RandomSource, optional
        What collections of a heat map are drawn with.

    Examples
    --------
    >>> found = recommend_locations(((0, 0), (1, 1)), 2)
    >>> found.best.mechanism, [each.mechanism for each in found.options].index("constant") > 0
    ('grid_response', True)
    """
    plane, budget = as_plane(domain), check_epsilon(epsilon)
    points = None if locations is None else plane.take(locations)
    if question == "points":
        options, left_out = _ranked(_point_options(plane, budget, points), _NO_ERROR)
        return LocationRecommendation(plane, budget, "points", options, left_out, even=points is None)
    if question != "heat map":
        raise InvalidParameterError(f"the question is 'points' or 'heat map', got {question!r}")
    if points is None:
        raise InvalidParameterError(
            "which mechanism is best for a heat map depends on how people are spread: give public locations "
            "that theirs are like"
        )
    people = len(points) if n is None else check_people(n)
    grid = CellGrid.of(plane, columns, rows)
    source = seeded(0) if rng is None else rng
    options, left_out = _ranked(_map_options(plane, budget, points, people, grid, source), _NO_TALLY)
    return LocationRecommendation(plane, budget, "heat map", options, left_out, people, grid, even=False)


Made = Callable[[], LocationOption]


def _ranked(
    makers: Iterator[tuple[str, Made]], why_no_walks: str
) -> tuple[tuple[LocationOption, ...], dict[str, str]]:
    options = list[LocationOption]()
    left_out = dict.fromkeys(select(TRAJECTORY).names, why_no_walks)
    for name, make in makers:
        try:
            options.append(make())
        except InvalidParameterError as refusal:
            left_out[name] = str(refusal)
    return tuple(sorted(options, key=lambda each: each.error)), left_out


def _spoken(mechanism: Any) -> str:
    told = {name: value for name, value in mechanism.parameters().items() if name != "epsilon"}
    sites = {"places": len(mechanism.domain.places)} if mechanism.domain.places is not None else {}
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in {**told, **sites}.items()
    )


def _fitted(plane: PlaneDomain, points: Floats | None) -> Any:
    """Return the public locations that mechanisms are fitted to, evenly picked where there are many."""
    if points is None:
        return None
    step = -(-len(points) // _MOST_PLACES)
    return plane.locations(points[::step])


def _point_options(plane: PlaneDomain, epsilon: float, points: Floats | None) -> Iterator[tuple[str, Made]]:
    places = _fitted(plane, points)
    for name in select(SPATIAL, single_epsilon=True).names:

        def make(name: str = name) -> LocationOption:
            mechanism = spatial_class(name).suited(plane, epsilon, places)
            return LocationOption(name, mechanism.mean_error(places), None, _spoken(mechanism))

        yield name, make

    def constant() -> LocationOption:
        if plane.region.wraps and points is None:  # a quarter of the way around it is the mean distance
            return LocationOption(CONSTANT, EARTH_RADIUS * math.pi / 2, None, "every point alike")
        where, weights = (
            plane.region.nodes(_NODES) if points is None else (points, np.ones(len(points)) / len(points))
        )
        point, error = (best_constant_on_globe if plane.region.wraps else best_constant)(where, weights)
        x, y = plane.locations(point[None])[0]
        return LocationOption(CONSTANT, error, None, f"x={x:.6g}, y={y:.6g}")

    yield CONSTANT, constant


def _map_options(
    plane: PlaneDomain, epsilon: float, points: Floats, people: int, grid: CellGrid, source: RandomSource
) -> Iterator[tuple[str, Made]]:
    truth = np.bincount(grid.cells_at(points), minlength=len(grid)) / len(points)
    places = _fitted(plane, points)

    def scored(name: str, maps: Iterator[Floats], told: str) -> LocationOption:
        errors = np.array([np.abs(each - truth).sum() / 2 for each in maps])
        spread = float(errors.std(ddof=1) / math.sqrt(len(errors)))
        return LocationOption(name, float(errors.mean()), spread, told)

    for name in select(SPATIAL, single_epsilon=True).names:

        def make(name: str = name) -> LocationOption:
            mechanism = spatial_class(name).suited(plane, epsilon, places)
            law = cell_law(mechanism, grid)
            chances = truth @ law
            seen = source.generator().multinomial(people, chances / chances.sum(), size=_DRAWS)
            maps = (maximise(law, each, epsilon, smooth=False) for each in seen)
            return scored(name, maps, _spoken(mechanism))

        yield name, make

    for name in select(FREQUENCY, "pure", single_epsilon=True, without=("memoized", "joint")).names:

        def over_cells(name: str = name) -> LocationOption:
            oracle = frequency_oracle(name, len(grid), epsilon=epsilon)
            counts = source.generator().multinomial(people, truth, size=_DRAWS)
            tallies = (Tally(oracle, people, oracle.simulate(each, rng=source)[0]) for each in counts)
            maps = (np.asarray(each.estimate("mi", consistency="norm_sub").values) for each in tallies)
            return scored(f"{name} on cells", maps, "")

        yield name, over_cells

    even = np.full(len(grid), 1 / len(grid))
    yield (
        CONSTANT,
        lambda: LocationOption(CONSTANT, float(np.abs(even - truth).sum() / 2), None, "all cells alike"),
    )
