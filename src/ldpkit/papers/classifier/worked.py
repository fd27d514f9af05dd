"""The worked numbers of sections 7.2 and 7.3, and examples 11 to 15."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import NearestPoint, as_private_column
from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import new_figure, save_figure
from ldpkit.mechanisms.categorical.exponential import Exponential
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.numeric.laplace import Laplace
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.mechanisms.numeric.squarewave import CompressedSW
from ldpkit.papers import Claim, Settings, Verdict, compare

__all__ = ["GRID", "concentration", "example_claims", "number", "worked_claims"]

GRID = [step / 100 for step in range(101)]
"""The grid of the discrete mechanisms: 101 points, though the thesis counts 100."""


def number(
    claim: str, printed: float, found: float, rounding: float, note: str = "", *, wrong: bool = False
) -> Claim:
    """Return the claim that a number is what is printed, but for its last digit.

    `wrong` says that, if it is not, the reason is known and stands in the note.
    """
    agrees = compare(printed, found, 0.0, rounding=rounding)
    otherwise = Verdict.CORRECTED if wrong else Verdict.NOT_REPRODUCED
    return Claim(claim, printed, round(found, 6), 0.0, Verdict.REPRODUCED if agrees else otherwise, note)


def concentration(mechanism: Any, theta: float, x: float = 0.5) -> float:
    """Return the probability that a report of x is within theta of it."""
    law = as_private_column(mechanism).outputs(np.array([x]))
    reach = theta + 1e-9  # so that a point of the grid at distance theta counts
    return float(law.between(np.array([x - reach]), np.array([x + reach]))[0])


def _least(make: Callable[[float], Any], theta: float, wanted: float) -> float:
    """Return the least epsilon at which a report is within theta often enough."""
    low, high = 0.1, 19.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if concentration(make(middle), theta) >= wanted else (middle, high)
    return high


def worked_claims() -> Iterator[Claim]:
    """Yield the numbers of section 7.2 and of the comparison of concentrations."""

    def laplace(epsilon: float) -> Any:
        return Laplace((0, 1), epsilon=epsilon)

    def ogpm(epsilon: float) -> Any:
        return OGPM((0, 1), epsilon=epsilon)

    yield number("7.2: Laplace, eps=2, theta=0.3", 0.46, concentration(laplace(2), 0.3), 0.01)
    yield number(
        "7.2: Laplace keeps 0.8 from epsilon",
        5.2,
        _least(laplace, 0.3, 0.8),
        0.05,
        "at 5.2 it keeps 0.790",
        wrong=True,
    )
    yield number("7.3: PM, eps=2, theta=0.3", 0.86, concentration(ogpm(2), 0.3), 0.01)
    yield number(
        "7.3: PM keeps 0.8 from epsilon",
        1.8,
        _least(ogpm, 0.3, 0.8),
        0.05,
        "1.8 is enough, and more than is needed",
        wrong=True,
    )
    krr = NearestPoint(GRR(GRID, epsilon=2))
    yield number("7.3: k-RR, eps=2, theta=0.3", 0.63, concentration(krr, 0.3), 0.005)
    printed = (math.e**2 + 2 * 0.3 * 100 - 1) / (100 - 1 + math.e**2)
    yield number(
        "7.3: the same from the printed formula",
        printed,
        concentration(krr, 0.3),
        1e-6,
        "the grid has 101 points and the ball 61 of them",
        wrong=True,
    )
    one_sided = concentration(OGPM((0, 1), epsilon=1), 0.1, 0.05)
    yield number(
        "7.3: PM, eps=1, x=0.05, theta=0.1, the printed case 'otherwise'",
        0.514775,
        one_sided,
        1e-6,
        "the ball leaves the domain on one side",
        wrong=True,
    )
    half = Exponential(GRID, epsilon=1).exact_epsilon()
    yield number(
        "E.2.3: the epsilon of the Exponential mechanism stated as 2",
        2.0,
        half,
        1e-6,
        "its sensitivity is taken over outputs, so it keeps half of what it states",
        wrong=True,
    )


def example_claims(settings: Settings) -> Iterator[Claim]:
    """Yield examples 11 to 15."""
    yield number("example 11: samples for tau=0.02, omega=0.05", 18444, math.log(2 / 0.05) / (2 * 0.01**2), 1)
    label, radius = _printed_network()
    known = "examples 11, 13 and 15 contradict each other: this is what the printed network does"
    yield number("examples 11 and 15: the radius at (0.5, 0.5)", 0.20, radius, 0.005, known, wrong=True)
    yield number("example 15: the class at (0.5, 0.5)", 1, label, 0.1, known, wrong=True)
    circle = abs(2 * math.sqrt(math.log(2) + 1) - math.hypot(1.5, 1.5))
    yield number("example 14: the l2 radius of the QDA at (0.5, 0.5)", 0.4811, circle, 5e-5)
    small = {
        "SW": concentration(CompressedSW((0, 1), epsilon=2), 0.1),
        "PM": concentration(OGPM((0, 1), epsilon=2), 0.1),
    }
    best = max(small, key=lambda name: small[name])
    yield Claim(
        "example 12: the best mechanism at eps=2, theta=0.1",
        "SW",
        best,
        0.0,
        Verdict.REPRODUCED if best == "SW" else Verdict.NOT_REPRODUCED,
        f"SW {small['SW']:.4f}, PM {small['PM']:.4f}",
    )
    if settings.folder is not None:
        _draw(settings)


def _printed_network() -> tuple[int, float]:
    """Return the class that the network of example 15 gives (0.5, 0.5), and how large its cube is."""
    first, shift = np.array([[-1.86, -2.09], [0.12, -0.46]]), np.array([3.71, -0.08])
    second, offset = np.array([[-3.05, 0.40], [4.02, -0.22]]), np.array([0.94, -0.58])

    def gap(points: Floats) -> Floats:
        hidden = np.maximum(points @ first.T + shift, 0.0)
        scores = hidden @ second.T + offset
        return np.asarray(scores[..., 1] - scores[..., 0])

    centre = np.array([0.5, 0.5])
    label = 2 if gap(centre) > 0 else 1
    low, high = 0.0, 0.5
    sign = 1 if label == 2 else -1
    sides = np.linspace(-1, 1, 2001)
    border = np.concatenate(
        [np.column_stack([sides, np.full_like(sides, end)]) for end in (-1.0, 1.0)]
        + [np.column_stack([np.full_like(sides, end), sides]) for end in (-1.0, 1.0)]
    )
    while high - low > 1e-7:  # the network is piecewise linear: it changes sign on the border first
        middle = (low + high) / 2
        low, high = (middle, high) if (sign * gap(centre + middle * border) > 0).all() else (low, middle)
    return label, low


def _draw(settings: Settings) -> None:
    """Draw figure 7.3: how likely a report is within theta, for epsilon 2, 4 and 6."""
    assert settings.folder is not None
    figure = new_figure(12.0, 4.2)
    thetas = np.linspace(0.1, 0.5, 21)
    makers: dict[str, Callable[[float], Any]] = {
        "PM (OGPM)": lambda epsilon: OGPM((0, 1), epsilon=epsilon),
        "SW": lambda epsilon: CompressedSW((0, 1), epsilon=epsilon),
        "Laplace": lambda epsilon: Laplace((0, 1), epsilon=epsilon),
        "Exponential": lambda epsilon: NearestPoint(Exponential(GRID, epsilon=epsilon)),
        "k-RR": lambda epsilon: NearestPoint(GRR(GRID, epsilon=epsilon)),
    }
    for axes, epsilon in zip(figure.subplots(1, 3, sharey=True), (2.0, 4.0, 6.0), strict=True):
        for (name, make), mark in zip(makers.items(), "osv^D", strict=True):
            law = make(epsilon)
            values = [concentration(law, float(theta)) for theta in thetas]
            axes.plot(thetas, values, marker=mark, markevery=4, markersize=4, label=name)
        axes.set_title(f"epsilon {epsilon:g}")
        axes.set_xlabel("theta")
        axes.set_ylim(0, 1.02)
    figure.axes[0].set_ylabel("probability within theta of x = 0.5")
    figure.axes[0].legend(fontsize=8)
    save_figure(figure, settings.folder / "figure-7.3.png")
