"""Stroke: figures 7.5 and E.1 to E.4, the closed form of E.2.5, and how to lose less."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.utility import utility
from ldpkit.core.random import seeded
from ldpkit.figures.canvas import new_figure, save_figure
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.papers import Claim, Settings
from ldpkit.papers.classifier.claims import holds, number, ours
from ldpkit.papers.classifier.curves import (
    EVEN,
    above_claims,
    average_claims,
    draw_averages,
    draw_record,
    record_claims,
)
from ldpkit.papers.classifier.gains import corrected_claims, four_in_all
from ldpkit.papers.classifier.montecarlo import table_estimate
from ldpkit.papers.classifier.study import MECHANISMS, TAU, Study
from ldpkit.papers.classifier.tables import LabelledTable, trained
from ldpkit.papers.classifier.thesis import EPSILONS, STROKE
from ldpkit.papers.classifier.times import time_claims

__all__ = ["closed_form", "closed_form_claims", "stroke_claims"]

SENSITIVE = ("age", "bmi")
_RECORD = 4  # age 79, BMI 24
_FIRST = 0  # age 67, BMI 36.6
_ALL = slice(None)


def closed_form(epsilon: float, at: float = 0.63, x: float = 0.79) -> float:
    """Return the distribution function of PM as section E.2.5 prints it.

    Examples
    --------
    >>> round(closed_form(4.0), 6), round(float(OGPM((0, 1), epsilon=4).cdf(0.63, 0.79)), 6)
    (0.085261, 0.085261)
    """
    high = math.exp(epsilon / 2)
    half = (high - 1) / (2 * math.exp(epsilon) - 2)
    if at < x - half:
        return at / high
    return (x - half) / high + (half - (x - at)) * high


def closed_form_claims() -> Iterator[Claim]:
    """Yield the closed form of E.2.5 against the distribution function of the mechanism."""
    for epsilon in (*EPSILONS, 0.5):
        yield number(
            f"E.2.5: the closed form of F(0.63) at eps={epsilon:g}",
            round(closed_form(epsilon), 6),
            float(OGPM((0, 1), epsilon=epsilon).cdf(0.63, 0.79)),
            2e-6,
            "below epsilon 0.6455 the window ends at 1, and the printed case does not apply"
            if epsilon < 1
            else "",
            wrong=epsilon < 1,
        )


def stroke_claims(settings: Settings, table: LabelledTable) -> Iterator[Claim]:
    """Yield everything about this table."""
    models, rows = trained(table), table.clipped
    studies = {name: Study(model, table.names, rows, SENSITIVE) for name, model in models.items()}
    yield from record_claims("figure 7.5", "stroke", studies, _RECORD)
    yield from _forest_draws(studies["random forest"], 20_000 if settings.quick else 200_000)
    yield from _box_claims(studies)
    yield from _first_record(studies)
    yield from _boundary_claims(studies)
    for name, figure in (("logistic regression", "E.3"), ("random forest", "E.4")):
        yield from average_claims(f"figure {figure}", f"stroke, {name}", studies[name], _ALL)
        yield from above_claims(f"figure {figure}", f"stroke, {name}", studies[name], _ALL)
    yield from _worst_of_both(studies)
    source = seeded(settings.seed)
    linear = studies["logistic regression"]
    yield table_estimate(linear, _RECORD, source.derive("classifier uniform"))
    yield from time_claims(linear, _RECORD)
    yield from four_in_all(models["logistic regression"], rows, table.names)
    train, test, _, known = table.split()
    yield from corrected_claims(
        "stroke, logistic regression",
        models["logistic regression"],
        table.names,
        np.minimum(train, 1.0),
        (np.minimum(test, 1.0), known),
        {name: MECHANISMS["PM"](1.0) for name in SENSITIVE},
        8 if settings.quick else 40,
        source.derive("classifier stroke"),
    )
    if settings.folder is not None:
        _draw(settings.folder, studies)


def _forest_draws(study: Study, draws: int) -> Iterator[Claim]:
    """Yield the exact utility of the forest beside draws of a model that is only asked."""
    for epsilon in (EPSILONS[0], EPSILONS[-1]):
        exact = float(study.exact(MECHANISMS["PM"], epsilon)[_RECORD])
        chosen = {name: MECHANISMS["PM"](epsilon) for name in SENSITIVE}
        asked = utility(
            study.model.predict, study.rows[_RECORD : _RECORD + 1], chosen, columns=study.names, draws=draws
        )[0].value
        stderr = math.sqrt(exact * (1 - exact) / draws)
        yield ours(
            f"figure 7.5: stroke, random forest, PM, eps={epsilon:g}, share of {draws:,} draws",
            asked,
            f"the exact utility is {exact:.4f}, {abs(asked - exact) / stderr:.1f} standard errors away",
            round(stderr, 4),
        )


def _box_claims(studies: Mapping[str, Study]) -> Iterator[Claim]:
    """Yield what share of the printed boxes fails, and where the boundary of the linear model runs."""
    for name, box in STROKE.items():
        low, high = studies[name].stated(box)
        share = float(studies[name].failing(low, high)[_RECORD])
        text = "x".join(f"[{start:g}, {end:g}]" for start, end in box)
        yield holds(
            f"7.6: stroke, {name}, the share of the printed box {text} that changes the label",
            f"at most {TAU}",
            f"{share:.4f}",
            so=share <= TAU,
            note="the box is not robust, and this share is above what the test allows",
            wrong=True,
        )
    study = studies["logistic regression"]
    slope, offset = study.model.coef_[0], float(study.model.intercept_[0])
    record = study.rows[_RECORD]
    age, bmi = study.positions
    rest = offset + float(slope @ record) - slope[age] * record[age] - slope[bmi] * record[bmi]
    ends = [-(rest + slope[bmi] * value) / slope[age] for value in (0.0, 1.0)]
    yield ours(
        "7.6: stroke, logistic regression, the boundary of the record in age",
        f"{ends[0]:.4f} at BMI 0, {ends[1]:.4f} at BMI 1",
        "so [0.63, 1]x[0, 1] is not inside",
    )


def _first_record(studies: Mapping[str, Study]) -> Iterator[Claim]:
    sw, krr = MECHANISMS["SW"], MECHANISMS["k-RR"]
    for name, study in studies.items():
        over = [e for e in EVEN if study.exact(krr, e)[_FIRST] > study.exact(sw, e)[_FIRST]]
        yield holds(
            f"figure E.1: stroke, {name}: k-RR keeps more than SW above epsilon 6",
            "at 7 and 8",
            f"at {', '.join(f'{e:g}' for e in over)}",
            so={7.0, 8.0} <= set(over),
            note="exact, epsilon 1 to 8",
        )
    study = studies["logistic regression"]
    gaps = {
        mech: max(abs(float(study.bound(make, e)[_FIRST] - study.exact(make, e)[_FIRST])) for e in EVEN)
        for mech, make in (("SW", sw), ("k-RR", krr))
    }
    yield holds(
        "figure E.1: stroke, logistic regression: bound and truth are almost the same",
        "almost",
        f"apart by up to {max(gaps.values()):.3f}",
        so=max(gaps.values()) <= 0.02,
        note="the box of the published search, tau=0.01, against the exact utility: "
        + ", ".join(f"{mech} {gap:.3f}" for mech, gap in gaps.items()),
    )


def _boundary_claims(studies: Mapping[str, Study]) -> Iterator[Claim]:
    from scipy.ndimage import label

    counts = {}
    for name, study in studies.items():
        same = _kept_grid(study)
        counts[name] = int(label(same)[1]) + int(label(~same)[1])
    linear, forest = counts["logistic regression"], counts["random forest"]
    yield holds(
        "figure E.2: the forest's boundary is more complex than the hyperplane",
        "more complex",
        f"{forest} connected regions beside {linear}",
        so=forest > linear,
        note="of age and BMI on a grid of 400 x 400, other features those of the record of age 79",
    )


def _worst_of_both(studies: Mapping[str, Study]) -> Iterator[Claim]:
    worst = {name: [float(s.exact(MECHANISMS["PM"], e).min()) for e in EVEN] for name, s in studies.items()}
    linear, forest = worst["logistic regression"], worst["random forest"]
    yield holds(
        "figure E.4: the worst record of the forest keeps much less than that of the logistic regression",
        "at every epsilon",
        ", ".join(f"{value:.3f}" for value in forest),
        so=all(low < high for low, high in zip(forest, linear, strict=True)),
        note=f"PM, epsilon 1 to 8; logistic regression {', '.join(f'{value:.3f}' for value in linear)}",
    )


def _kept_grid(study: Study, steps: int = 400) -> Any:
    """Return where the record of age 79 keeps its label, over a grid of both features."""
    places = (np.arange(steps) + 0.5) / steps
    rows = np.repeat(study.rows[_RECORD : _RECORD + 1], steps * steps, axis=0)
    ages, values = np.meshgrid(places, places)
    rows[:, study.positions[0]], rows[:, study.positions[1]] = ages.ravel(), values.ravel()
    return (study.model.predict(rows) == study.labels[_RECORD]).reshape(steps, steps)


def _draw(folder: Path, studies: Mapping[str, Study]) -> None:
    main = {name: MECHANISMS[name] for name in ("PM", "Exponential", "Laplace")}
    boxes = {name: studies[name].stated(box) for name, box in STROKE.items()}
    draw_record(folder / "figure-7.5.png", studies, _RECORD, main, boxes=boxes)
    others = {name: MECHANISMS[name] for name in ("SW", "k-RR")}
    draw_record(folder / "figure-E.1.png", studies, _FIRST, others, boxes={})
    _draw_boundaries(folder / "figure-E.2.png", studies)
    for name, figure in (("logistic regression", "E.3"), ("random forest", "E.4")):
        draw_averages(folder / f"figure-{figure}.png", studies[name], _ALL, main)


def _draw_boundaries(path: Path, studies: Mapping[str, Study]) -> None:
    """Draw where the record keeps its label, with the printed box and the one of the published search."""
    from matplotlib.patches import Rectangle

    figure = new_figure(10.4, 4.9)
    for axes, (name, study) in zip(figure.subplots(1, 2, sharey=True), studies.items(), strict=True):
        axes.imshow(_kept_grid(study), origin="lower", extent=(0, 1, 0, 1), cmap="Blues", vmin=-0.6, vmax=2)
        axes.plot(*study.centres[_RECORD], "k.", label="the record")
        low, high = (each[_RECORD] for each in study.found)
        printed = STROKE[name]
        shown = {
            "printed box": (printed[0][0], printed[1][0], printed[0][1], printed[1][1], "C3", ":"),
            "box of the search": (low[0], low[1], high[0], high[1], "C2", "--"),
        }
        for text, (left, bottom, right, top, colour, line) in shown.items():
            size = float(right - left), float(top - bottom)
            axes.add_patch(
                Rectangle(
                    (float(left), float(bottom)),
                    *size,
                    fill=False,
                    edgecolor=colour,
                    linestyle=line,
                    linewidth=1.8,
                    label=text,
                )
            )
        axes.set_title(name.capitalize())
        axes.set_xlabel("age / 100")
        axes.legend(fontsize=8, loc="upper left")
    figure.axes[0].set_ylabel("BMI / 50")
    save_figure(figure, path)
