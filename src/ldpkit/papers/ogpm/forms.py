"""Closed forms: examples 6 to 9, Theorems 8 to 10, figures 5.4, 5.6 and 5.7, and C.2.5 and C.2.6."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.cells.widths import end_error, height
from ldpkit.mechanisms.circular.polar import PolarOGPM
from ldpkit.mechanisms.circular.window import CircularOGPM
from ldpkit.mechanisms.numeric.ogpm import OGPM, OGPMAt
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.papers.ogpm.distances import numeric

__all__ = ["example_claims", "polar_claims", "unbiased_claims"]

TURN = 2 * math.pi
TOTAL = 1 + TURN
"""The budget of example 9."""


def _number(
    claim: str, printed: float, found: float, rounding: float, note: str = "", *, wrong: bool = False
) -> Claim:
    """Return the claim that a number is what is printed, but for its last digit.

    `wrong` says that, if it is not, the reason is known and stands in the note.
    """
    agrees = compare(printed, found, 0.0, rounding=rounding)
    otherwise = Verdict.CORRECTED if wrong else Verdict.NOT_REPRODUCED
    return Claim(claim, printed, round(found, 6), 0.0, Verdict.REPRODUCED if agrees else otherwise, note)


def example_claims(settings: Settings) -> Iterator[Claim]:
    """Yield examples 6 to 8, the MSE of C.2.5, Theorem 9 and the distance on a circle."""
    ogpm = numeric("ogpm", 1.0)
    details = ogpm.details()
    p, width = details["height"], details["width"]
    cut = "the thesis cuts digits off"
    yield _number("example 6: p at eps=1", 1.64, p, 0.01, cut)
    yield _number("example 6: the window at x=0 ends at", 0.38, width, 0.005)
    yield _number("example 6: the window at x=0.5 begins at", 0.31, 0.5 - width / 2, 0.005)
    yield _number("example 6: the window at x=0.5 ends at", 0.69, 0.5 + width / 2, 0.005)
    circle = CircularOGPM(TURN, epsilon=1)
    yield _number("example 7: half the window, over pi", 0.38, circle.details()["width"] / TURN, 0.005)
    yield _number("example 7: density within", 0.26, float(circle.pdf(0.0, 0.0)), 0.005)
    yield _number("example 7: density outside", 0.09, float(circle.pdf(math.pi, 0.0)), 0.01, cut)
    at = OGPMAt((0, 1), epsilon=1, x0=0.2)
    yield _number("example 8: p for x0=0.2", 1.54, at.details()["height"], 0.01, cut)
    yield _number("example 8: error at x0", 0.241, float(at.error(0.2)), 0.0005)
    yield _number("example 8: error at x0 of the window for the worst case", 0.243, ogpm.error(0.2), 0.0005)
    yield _number("C.2.5: MSE at x=0, eps=1", 0.22, float(ogpm.error(0.0, 2)), 0.005)
    yield _number("C.2.5: MSE of SW at x=0, eps=1", 0.29, float(numeric("sw", 1.0).error(0.0, 2)), 0.005)
    theorem_7, best = (float(OGPM((0, 1), epsilon=4, power=power).error(0.0, 2)) for power in (1, 2))
    yield Claim(
        "Theorem 7: p = e^(eps/2) is optimal for squares too; worst square at eps=4",
        round(theorem_7, 7),
        round(best, 7),
        0.0,
        Verdict.CORRECTED if best < theorem_7 - 1e-6 else Verdict.REPRODUCED,
        f"p must solve (E-2)p^3 + 3Ep - 2E^2 = 0: {height(4.0, math.sqrt(best)):.4f} instead of "
        f"{math.exp(2):.4f}",
    )
    c, p2 = math.pi * math.expm1(1) / math.expm1(2), math.e / TURN
    closed = 2 / 3 * ((math.pi**3 - c**3) * p2 / math.exp(2) + c**3 * p2)
    yield _number(
        "Theorem 9: the MSE on the circle at eps=2",
        round(closed, 6),
        float(CircularOGPM(TURN, epsilon=2).error(1.0, 2)),
        1e-5,
        "the formula against the mechanism on its grid",
    )
    right = CircleDomain(TURN).distance(1.5 * math.pi, 0.5 * math.pi)
    wrong = min(abs(math.pi), abs(1.5 * math.pi - (TURN - 0.5 * math.pi)))
    yield Claim(
        "5.3: the distance min(|y-x|, |y-(2 pi-x)|) of 3 pi/2 and pi/2",
        round(wrong, 6),
        round(right, 6),
        0.0,
        Verdict.CORRECTED if abs(right - wrong) > 1e-9 else Verdict.REPRODUCED,
        "it must be min(|y-x|, 2 pi-|y-x|)",
    )
    _draw_windows(settings)


def unbiased_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what section 5.4 says of means: Theorem 10, and what no estimator can do."""
    values = (np.arange(200) + 0.5) / 200
    ratios = []
    for epsilon in (0.5, 1.0, 2.0, 4.0, 6.0):
        variant, pm = (numeric(name, epsilon) for name in ("ogpm_unbiased", "pm"))
        ratios.append(
            (
                variant.variance(0.0) / pm.variance(0.0),
                variant.variance(values).mean() / pm.variance(values).mean(),
            )
        )
    worst, mean = np.array(ratios).T
    yield Claim(
        "Theorem 10: OGPM-U is optimal among unbiased mechanisms; its worst variance over PM's, eps 0.5 to 6",
        "at most 1",
        f"{worst.min():.2f} to {worst.max():.2f}",
        0.0,
        Verdict.CORRECTED if worst.min() > 1 else Verdict.REPRODUCED,
        f"mean variance {mean.min():.2f} to {mean.max():.2f} times PM's; it is PM with idle cells at both "
        "ends: use pm or hm",
    )
    (_, end), *_ = numeric("ogpm", 1.0).indistinct
    everybody_at_0 = float(numeric("ogpm", 1.0).bias(0.0))
    yield Claim(
        "5.4: optimal for distributions; the values at each end that have one law of reports, eps=1",
        "none",
        f"0 to {end:.4f}",
        0.0,
        Verdict.CORRECTED if end > 0 else Verdict.REPRODUCED,
        f"no estimator tells them apart; if all hold 0, the mean report tends to {everybody_at_0:.4f}",
    )
    circle = CircularOGPM(TURN, epsilon=2)
    law = circle.law(0)
    edges = law.edges / circle.cells * TURN
    plain = float(law.masses @ (edges[1:] + edges[:-1]) / 2)
    yield Claim(
        "5.4: on the circle OGPM is unbiased; the mean report of x=0 at eps=2",
        0.0,
        round(plain, 4),
        0.0,
        Verdict.CORRECTED if abs(plain) > 1e-6 else Verdict.REPRODUCED,
        f"as plain numbers; the mean direction is unbiased, with {circle.resultant():.4f} of its length left",
    )


def polar_claims(settings: Settings) -> Iterator[Claim]:
    """Yield example 9 and C.2.6: how to split epsilon = 1 + 2 pi, for squares on [0, 1) x circle."""
    from scipy.optimize import minimize_scalar

    def published(part: float) -> float:
        return _theorem_7(part) + math.pi**2 * _theorem_7(TOTAL - part)

    found = minimize_scalar(published, bounds=(0.01, TOTAL - 0.01), method="bounded", options={"xatol": 1e-9})
    parts = float(found.x), TOTAL - float(found.x)
    note = (
        f"1.32 + 5.69 is not 1 + 2 pi = {TOTAL:.4f}; by the thesis' own formulas {parts[0]:.6f} and "
        f"{parts[1]:.6f}, error {found.fun:.6f}"
    )
    yield _number("C.2.6: eps of the distance", 1.32, parts[0], 0.005, note, wrong=True)
    yield _number("C.2.6: eps of the angle", 5.69, parts[1], 0.005, note, wrong=True)
    polar = PolarOGPM(1.0, TURN, epsilon=TOTAL, power=2)
    yield Claim(
        "example 9: the least error of both together",
        f"{found.fun:.6f} by its formulas",
        round(polar.worst_error(), 6),
        0.0,
        Verdict.CORRECTED if polar.worst_error() < found.fun - 1e-4 else Verdict.REPRODUCED,
        f"with the windows for squares, eps {polar.distance_epsilon:.6f} and "
        f"{TOTAL - polar.distance_epsilon:.6f}",
    )
    no_distance, no_angle = published(1e-6), published(TOTAL - 1e-6)
    yield Claim(
        "C.2.6: with no budget for the distance the error is far smaller than with none for the angle",
        "yes",
        f"{no_distance:.4f} against {no_angle:.4f}",
        0.0,
        Verdict.REPRODUCED if no_distance < no_angle / 2 else Verdict.NOT_REPRODUCED,
    )
    _draw_polar(settings, published)


def _theorem_7(epsilon: float) -> float:
    """Return the square at an end of [0, 1] with Theorem 7's window: 8 p C^3 / 3 and the rest of C.2.5."""
    p = math.exp(epsilon / 2)
    twice = 1 / (1 + p)
    return p / 3 * twice**3 + p / (3 * math.exp(epsilon)) * (1 - twice**3)


def _draw_windows(settings: Settings) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(9, 3.5)
    grid = np.linspace(0, 1, 2001)[:-1]
    for axes, x in zip(figure.subplots(1, 2, sharey=True), (0.0, 0.5), strict=True):
        axes.plot(grid, numeric("ogpm", 1.0).pdf(grid, x), drawstyle="steps-post")
        axes.axvline(x, color="C3", linestyle=":", label=f"x = {x:g}")
        axes.set_ylim(0, 1.9)
        axes.set_xlabel("report")
        axes.legend()
    figure.suptitle("Figure 5.4: density of a report of OGPM, eps = 1")
    save_figure(figure, settings.folder / "figure-5.4.png")
    figure = new_figure(8, 4)
    mechanism = CircularOGPM(TURN, epsilon=1)
    for axes, x in zip(
        figure.subplots(1, 2, subplot_kw={"projection": "polar"}), (0.0, 0.8 * math.pi), strict=True
    ):
        _ring(axes, np.asarray(mechanism.pdf(np.linspace(0, TURN, 721), x)), x)
        axes.set_title(f"x = {x / math.pi:g} pi", fontsize=10)
    figure.suptitle("Figure 5.6: where circular OGPM reports more often, eps = 1")
    save_figure(figure, settings.folder / "figure-5.6.png")


def _ring(axes: Any, density: Floats, x: float) -> None:
    angles = np.linspace(0, TURN, 721)
    likely = density > density.min() * 1.5
    axes.plot(angles, np.where(likely, np.nan, 1.0), color="0.6")
    axes.plot(angles, np.where(likely, 1.0, np.nan), color="C3", linewidth=5)
    axes.plot([x], [1.0], "o", color="C0")
    axes.set_ylim(0, 1.2)
    axes.set_yticks([])


def _draw_polar(settings: Settings, published: Any) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure

    polar = PolarOGPM(1.0, TURN, epsilon=TOTAL, power=2)
    figure = new_figure(8, 4)
    panels = figure.subplots(1, 2, subplot_kw={"projection": "polar"})
    reach, angles = np.linspace(0, 0.9999, 201), np.linspace(0, TURN, 361)
    for axes, (r, phi) in zip(panels, ((0.1, 0.25 * math.pi), (0.6, 1.9 * math.pi)), strict=True):
        rows = polar.distance.pdf(reach, r)
        columns = polar.angle.pdf(angles, phi)
        likely = np.outer(rows > rows.min() * 1.5, columns > columns.min() * 1.5)
        axes.pcolormesh(angles, reach, likely, cmap="Reds", vmax=2, shading="nearest")
        axes.plot([phi], [r], "o", color="C2")
        axes.set_yticks([0.5, 1.0])
        axes.set_title(f"distance {r:g}, angle {phi / math.pi:g} pi", fontsize=10)
    figure.suptitle("Figure 5.7: where PolarOGPM reports most often, eps = 1 + 2 pi, squares")
    save_figure(figure, settings.folder / "figure-5.7.png")
    figure = new_figure(6, 4.2)
    axes = figure.subplots()
    parts = np.linspace(0.05, TOTAL - 0.05, 100)
    right = [end_error(float(each), 2) + end_error(TOTAL - float(each), 2, math.pi) for each in parts]
    axes.plot(parts, [published(float(each)) for each in parts], label="Theorem 7 and 8's windows")
    axes.plot(parts, right, "--", label="windows for squares")
    axes.axvline(1.32, color="0.6", linestyle=":", label="printed: 1.32")
    axes.set_yscale("log")
    axes.set_xlabel("epsilon of the distance, of 1 + 2 pi")
    axes.set_ylabel("worst square, both together")
    axes.set_title("C.2.6: how to split epsilon", fontsize=10)
    axes.legend(fontsize=8)
    save_figure(figure, settings.folder / "curve-C.2.6.png")
