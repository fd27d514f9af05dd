"""From a result to its picture: which function draws which kind.

`result.plot()` and `result.figure()` arrive here. A function draws the main picture of its
kind on given axes; where one pair of axes is too few for all there is to see, another
makes a whole figure.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ldpkit.figures.canvas import new_figure, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.core.results import Result

__all__ = ["DRAWN", "SHOWN", "WHOLE", "WITH_UNIT", "alt_text", "figure", "plot"]

DRAWN = {
    "frequencies": "ldpkit.figures.estimates:draw_frequencies",
    "mean": "ldpkit.figures.estimates:draw_mean",
    "adaptive mean": "ldpkit.figures.estimates:draw_mean",
    "density": "ldpkit.figures.estimates:draw_density",
    "direction": "ldpkit.figures.circle:draw_direction",
    "circular density": "ldpkit.figures.circle:draw_circular_density",
    "heat map": "ldpkit.figures.plane:draw_heatmap",
    "hotspots": "ldpkit.figures.plane:draw_hotspots",
    "origins and destinations": "ldpkit.figures.plane:draw_flows",
    "private trajectories": "ldpkit.figures.trajectories:draw_private",
    "trajectory evaluation": "ldpkit.figures.trajectories:draw_evaluation",
    "location recommendation": "ldpkit.figures.trajectories:draw_location_recommendation",
    "quantile": "ldpkit.figures.estimates:draw_quantile",
    "groups": "ldpkit.figures.groups:draw_groups",
    "plan survey": "ldpkit.figures.costs:draw_survey",
    "cluster plan": "ldpkit.figures.costs:draw_cluster",
    "plan": "ldpkit.figures.plan:draw_plan",
    "plan budget": "ldpkit.figures.plan:draw_budget",
    "plan mean": "ldpkit.figures.plan:draw_mean_plans",
    "plan capacity": "ldpkit.figures.capacity:draw_capacity",
    "plan pairs": "ldpkit.figures.pairs:draw_pairs",
    "plan classifier": "ldpkit.figures.classifier:draw_classifier",
    "classifier utility": "ldpkit.figures.classifier:draw_utilities",
    "relaxations": "ldpkit.figures.relaxations:draw_relaxations",
    "errors": "ldpkit.figures.optimal:draw_errors",
    "minimax": "ldpkit.figures.optimal:draw_minimax",
    "optimal pieces": "ldpkit.figures.optimal:draw_pieces",
    "recommendation": "ldpkit.figures.recommendation:draw_recommendation",
    "mean recommendation": "ldpkit.figures.recommendation:draw_mean_recommendation",
    "risk": "ldpkit.figures.risk:draw_risk",
    "risks": "ldpkit.figures.risk:draw_risks",
    "longitudinal": "ldpkit.figures.longitudinal:draw_longitudinal",
    "audit": "ldpkit.figures.audit:draw_audit",
    "benchmark": "ldpkit.figures.experiment:draw_benchmark",
    "numeric benchmark": "ldpkit.figures.numeric:draw_numeric_benchmark",
}
"""For each kind of result, what draws its main picture on given axes."""

WHOLE = {
    "plan classifier": "ldpkit.figures.classifier:classifier_figure",
    "errors": "ldpkit.figures.optimal:errors_figure",
    "minimax": "ldpkit.figures.optimal:minimax_figure",
    "heat map": "ldpkit.figures.plane:heatmap_figure",
    "hotspots": "ldpkit.figures.plane:hotspots_figure",
    "groups": "ldpkit.figures.groups:groups_figure",
    "plan pairs": "ldpkit.figures.pairs:pairs_figure",
    "frequencies": "ldpkit.figures.estimates:frequencies_figure",
    "mean": "ldpkit.figures.estimates:mean_figure",
    "adaptive mean": "ldpkit.figures.estimates:mean_figure",
    "audit": "ldpkit.figures.audit:audit_figure",
    "plan survey": "ldpkit.figures.costs:survey_figure",
    "cluster plan": "ldpkit.figures.costs:cluster_figure",
    "plan budget": "ldpkit.figures.plan:budget_figure",
    "trajectory evaluation": "ldpkit.figures.trajectories:evaluation_figure",
    "private trajectories": "ldpkit.figures.trajectories:private_figure",
    "risks": "ldpkit.figures.risk:risks_figure",
    "longitudinal": "ldpkit.figures.longitudinal:longitudinal_figure",
    "benchmark": "ldpkit.figures.experiment:overview",
    "numeric benchmark": "ldpkit.figures.numeric:numeric_figure",
}
"""For kinds with more to see than one pair of axes shows, what makes the whole figure."""

WITH_UNIT = frozenset(
    (
        *("mean", "adaptive mean", "density", "quantile", "direction", "circular density", "plan mean"),
        *("mean recommendation", "errors", "minimax", "optimal pieces"),
        *("trajectory evaluation", "location recommendation", "heat map"),
    )
)
"""The kinds whose axes have the unit of the user's numbers."""

SHOWN = {
    "frequencies": "Bars with error bars for the share of people who have each value",
    "groups": "Bars with error bars for each group",
    "mean": "A point with its interval on the range of the numbers",
    "adaptive mean": "A point with its interval on the range of the numbers",
    "density": "A density over the range of the numbers, with its quantiles",
    "direction": "An arrow on a circle, with its interval as an arc",
    "circular density": "A density over one turn of the circle",
    "heat map": "A map of the share of reports in each cell, with the ends of the intervals",
    "hotspots": "A map with frames around the fullest cells",
    "origins and destinations": "A map of the share of people for each pair of cells, origin and destination",
    "private trajectories": "The reported locations of some trajectories, joined in their order",
    "trajectory evaluation": "True and reported locations, and how far reports are off for each mechanism",
    "location recommendation": "Bars for the error of each mechanism, the best on top",
    "quantile": "A point with its interval",
    "plan": "The probability that the constraint holds at each epsilon that was tried",
    "plan pairs": "Variance against what a partner learns, for ways to answer in pairs",
    "plan classifier": "How many predictions stay the same over epsilon, for each mechanism",
    "classifier utility": "How many records keep their prediction with which probability",
    "relaxations": "Bars for the noise that each rule asks for",
    "errors": "The expected error of one report over epsilon for each mechanism: its mean and its worst",
    "minimax": "The error at each value beside a bound that no mechanism goes below, and the best mechanism",
    "optimal pieces": "The density of a report, in steps",
    "recommendation": "Each option with its interval, those that tie with the best marked",
    "mean recommendation": "Bars for each mechanism, the best on top",
    "risk": "Bars for how often an adversary guesses right, without a report and with it",
    "plan budget": "Error over epsilon for each mechanism, with the epsilon that was chosen",
    "plan mean": "Error of the mean over epsilon for each mechanism, with the epsilon that was chosen",
    "plan capacity": "The chance of the bounded outcome over epsilon, with the epsilon that was chosen",
    "plan survey": "Bars for the worst error of each way to ask, and a line at the error that is allowed",
    "cluster plan": "Bars for each cost of a day",
    "risks": "How often an adversary guesses right over epsilon, for each mechanism",
    "longitudinal": "The epsilon of all reports over their number, and how many devices the attack finds",
    "audit": "Bars for the epsilons that were found, and a line at each bound that they must not pass",
    "benchmark": "Error of each mechanism with each method, and truth against estimate",
    "numeric benchmark": "Error over epsilon for each mechanism, or estimated densities beside the truth",
}
"""What the figure of a kind shows, for who cannot see it."""

_SIZE, _NARROW = (8.0, 4.6), (4.4, 4.4)
_LETTERS = 14  # of an axis' name in an inch


def plot(result: Result, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the main picture of a result, by default in a new figure of pyplot; return its axes.

    Options go to the function that draws it.
    """
    with themed():
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
        _find(DRAWN[result.kind])(ax, result, **options)
    return ax


def figure(result: Result, *, unit: str = "", narrow: bool = False, **options: Any) -> Figure:
    """Return a figure with all there is to see of a result; it needs no display.

    Parameters
    ----------
    result : Result
        What to draw.
    unit : str
        What the user's numbers are measured in, for the names of axes.
    narrow : bool
        True puts panels below each other, as wide as a phone.
    options
        What the drawing function of the kind takes beyond that.
    """
    if unit and result.kind in WITH_UNIT:
        options["unit"] = unit
    with themed():
        if result.kind in WHOLE:
            made: Figure = _find(WHOLE[result.kind])(result, across=1 if narrow else None, **options)
        else:
            made = new_figure(*(_NARROW if narrow else _SIZE))
            plot(result, made.subplots(), **options)
    _break_names(made)
    return made


def _break_names(made: Figure) -> None:
    """Break the names of axes that are longer than their axes, and the title of the whole."""
    import textwrap

    for axes in made.axes:
        place = axes.get_subplotspec()
        columns, rows = (1, 1) if place is None else (place.get_gridspec().ncols, place.get_gridspec().nrows)
        width, height = made.get_size_inches()
        beside = max((len(name.get_text()) for name in axes.get_yticklabels()), default=0) / _LETTERS
        for axis, inches in ((axes.xaxis, width / columns - beside), (axes.yaxis, height / rows)):
            text = axis.get_label_text()
            if text and "\n" not in text:
                axis.set_label_text("\n".join(textwrap.wrap(text, max(int(_LETTERS * 0.8 * inches), 12))))
    above = made.get_suptitle()
    if above:  # it is as wide as the figure, and would be cut at both ends
        inches = made.get_size_inches()[0]
        lines = [textwrap.fill(line, int(_LETTERS * 0.9 * inches)) for line in above.splitlines()]
        made.suptitle("\n".join(lines), fontsize=10)


def alt_text(result: Result, unit: str = "") -> str:
    """Return what the figure of a result shows, in words.

    Examples
    --------
    >>> import ldpkit
    >>> print(alt_text(ldpkit.Tally(ldpkit.GRR(["bus", "car"], epsilon=2), 1000, [700, 300]).estimate()))
    Bars with error bars for the share of people who have each value. The most frequent of 2 values is \
bus: 76.3% (95% interval 73.6% to 78.9%) of these 1,000 people.
    """
    return f"{SHOWN[result.kind]}. {result.answer(unit)}"


def _find(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
