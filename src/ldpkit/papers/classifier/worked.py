"""The worked numbers of sections 7.2 and 7.3, figures 7.1 and 7.3, and example 12."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ldpkit.figures.canvas import new_figure, save_figure
from ldpkit.mechanisms.categorical.exponential import Exponential
from ldpkit.mechanisms.numeric.laplace import Laplace
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.papers import Claim, Settings
from ldpkit.papers.classifier.claims import holds, number
from ldpkit.papers.classifier.curves import unclipped
from ldpkit.papers.classifier.drawing import Curve, curve_figure
from ldpkit.papers.classifier.study import GRID, MECHANISMS, Make, concentration

__all__ = ["worked_claims"]

_NOISE: dict[str, Make] = {**MECHANISMS, "Laplace": unclipped}


def _least(make: Make, theta: float, wanted: float) -> float:
    """Return the least epsilon at which a report is within theta often enough."""
    low, high = 0.1, 19.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if concentration(make(middle), theta) >= wanted else (middle, high)
    return high


def worked_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the numbers of section 7.2 and of the comparison of concentrations."""
    laplace, pm, krr = _NOISE["Laplace"], _NOISE["PM"], _NOISE["k-RR"]
    yield number("7.2: Laplace, eps=2, theta=0.3", 0.46, concentration(laplace(2), 0.3), 0.01)
    yield number(
        "7.2: Laplace keeps 0.8 from epsilon",
        5.2,
        _least(laplace, 0.3, 0.8),
        0.05,
        f"at 5.2 it keeps {concentration(laplace(5.2), 0.3):.3f}",
        wrong=True,
    )
    yield number("7.3: PM, eps=2, theta=0.3", 0.86, concentration(pm(2), 0.3), 0.01)
    yield number(
        "7.3: PM keeps 0.8 from epsilon",
        1.8,
        _least(pm, 0.3, 0.8),
        0.05,
        "1.8 is enough, and more than is needed",
        wrong=True,
    )
    yield number("7.3: k-RR, eps=2, theta=0.3", 0.63, concentration(krr(2), 0.3), 0.005)
    yield number(
        "7.3: the same from the printed formula",
        (math.e**2 + 2 * 0.3 * 100 - 1) / (100 - 1 + math.e**2),
        concentration(krr(2), 0.3),
        1e-6,
        "the grid has 101 points and the ball 61 of them",
        wrong=True,
    )
    window = OGPM((0, 1), epsilon=1)
    yield number(
        "7.3: PM, eps=1, x=0.05, theta=0.1, the printed case 'otherwise'",
        _printed_piecewise(1.0, 0.1),
        concentration(window, 0.1, 0.05),
        1e-6,
        "the ball leaves the domain on one side",
        wrong=True,
    )
    yield number(
        "E.2.3: the epsilon of the Exponential mechanism stated as 2",
        2.0,
        Exponential(GRID, epsilon=1).exact_epsilon(),
        1e-6,
        "its sensitivity is taken over outputs, so it keeps half of what it states",
        wrong=True,
    )
    yield from _example_12()
    if settings.folder is not None:
        _draw_7_1(settings.folder / "figure-7.1.png")
        _draw_7_3(settings.folder / "figure-7.3.png")


def _printed_piecewise(epsilon: float, theta: float) -> float:
    """Return the printed concentration of PM where the ball is not inside the window."""
    high = math.exp(epsilon / 2)
    half = (high - 1) / (2 * math.exp(epsilon) - 2)
    return 2 * half * high + (2 * theta - 2 * half) * high / math.exp(epsilon)


def _example_12() -> Iterator[Claim]:
    at = {name: concentration(make(2), 0.1) for name, make in _NOISE.items()}
    best = max(at, key=lambda name: at[name])
    yield holds(
        "example 12: the best mechanism at eps=2, theta=0.1",
        "SW",
        best,
        so=best == "SW",
        note=", ".join(f"{name} {value:.4f}" for name, value in at.items()),
    )
    thetas = np.linspace(0.1, 0.5, 21)
    lost = [
        (epsilon, float(theta))
        for epsilon in (2.0, 4.0, 6.0)
        for theta in thetas
        if max(_NOISE, key=lambda name: concentration(_NOISE[name](epsilon), float(theta))) != "PM"
    ]
    last = max((theta for _, theta in lost), default=0.0)
    yield holds(
        "figure 7.3: for eps >= 2 and theta >= 0.1 PM is generally the best",
        "generally",
        f"at {63 - len(lost)} of 63 points",
        so=len(lost) <= 6,
        note=f"not at {', '.join(f'({e:g}, {t:.2f})' for e, t in lost)}" if lost else f"last lost at {last}",
    )


def _draw_7_1(path: Path) -> None:
    """Draw the density of Laplace at 0.5 with its ball, and the probability of the ball over epsilon."""
    figure = new_figure(10.0, 4.0)
    left, right = figure.subplots(1, 2)
    y = np.linspace(-1, 2, 601)
    density = np.exp(-2 * np.abs(y - 0.5))
    inside = (y >= 0.2) & (y <= 0.8)
    left.plot(y, density, color="C0")
    left.fill_between(y[inside], density[inside], color="C0", alpha=0.3)
    share = concentration(Laplace((0, 1), epsilon=2), 0.3)
    left.set_title(f"Laplace, epsilon 2: {share:.4f} of reports in [0.2, 0.8]")
    left.set_xlabel("report")
    left.set_ylabel("density")
    epsilons = np.linspace(0.5, 8, 16)
    kept = [concentration(Laplace((0, 1), epsilon=float(e)), 0.3) for e in epsilons]
    least = _least(unclipped, 0.3, 0.8)
    right.plot(epsilons, kept, color="C0", label="exact")
    right.plot(epsilons, 1 - np.exp(-0.3 * epsilons), "k:", label="1 - exp(-0.3 epsilon)")
    right.axhline(0.8, color="0.7", linewidth=0.8)
    right.axvline(least, color="C3", linewidth=1, label=f"0.8 from {least:.4f}; the thesis says 5.2")
    right.set_xlabel("epsilon")
    right.set_ylabel("probability of the same prediction")
    right.set_ylim(0, 1)
    right.legend(fontsize=8)
    save_figure(figure, path)


def _draw_7_3(path: Path) -> None:
    """Draw how likely a report is within theta, for epsilon 2, 4 and 6."""
    thetas = np.linspace(0.1, 0.5, 21)
    panels: dict[str, list[Curve]] = {}
    for epsilon in (2.0, 4.0, 6.0):
        laws = {name: make(epsilon) for name, make in _NOISE.items()}
        panels[f"epsilon {epsilon:g}"] = [
            Curve(name, thetas, [concentration(law, float(theta)) for theta in thetas])
            for name, law in laws.items()
        ]
    curve_figure(path, panels, "theta", "probability within theta of x = 0.5", width=4.2)
