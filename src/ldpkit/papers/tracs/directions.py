"""Example 10, figures 6.2, 6.6 and D.4: the direction by a window against k-RR on sectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.circular.window import CircularOGPM
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.papers.ogpm.curves import draw_curves
from ldpkit.papers.tracs.data import EPSILONS
from ldpkit.papers.tracs.published import published_krr_epsilon, published_srr_epsilon

__all__ = ["direction_claims"]

_TURN = 2 * math.pi
_MANY = np.linspace(0.5, 10, 39)


def _window(epsilon: float) -> tuple[float, float]:
    """Return the width of the dominant sector in radians and its chance, from the sampler's integers."""
    mechanism = CircularOGPM(_TURN, epsilon)
    law = mechanism.law(0)
    share = mechanism.window.width / mechanism.cells
    chance = mechanism.window.width * max(law.weights.tolist()) / law.total
    return share * _TURN, float(chance)


def _krr(sectors: int, epsilon: float) -> float:
    return math.exp(epsilon) / (math.exp(epsilon) + sectors - 1)


def _krr_error(sectors: int, epsilon: float) -> float:
    """Return the mean arc between a direction and k-RR with a uniform direction in the sector."""
    keep = _krr(sectors, epsilon)
    inside = _TURN / sectors / 3
    everywhere = math.pi / 2
    outside = (sectors * everywhere - inside) / (sectors - 1)
    return keep * inside + (1 - keep) * outside


def direction_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the sizes and chances of dominant sectors, and the errors of directions."""
    width, chance = _window(6.0)
    found = {
        "density in the dominant sector": (3.20, chance / width, 0.005, ""),
        "lower end of the sector, in pi": (0.119, 1 / 6 - width / math.pi / 2, 0.0006, ""),
        "upper end of the sector, in pi": (0.214, 1 / 6 + width / math.pi / 2, 0.0006, ""),
        "size of the sector, in degrees": (17, math.degrees(width), 0.5, ""),
        "chance of the sector": (0.95, chance, 0.005, ""),
        "chance of the sector of the strawman": (
            0.98,
            _krr(6, 6.0),
            0.005,
            "cut, not rounded: 6-RR with the epsilon that it states",
        ),
    }
    for what, (printed, ours, rounding, note) in found.items():
        same = compare(printed, ours, 0, rounding=rounding)
        otherwise = Verdict.CORRECTED if note else Verdict.NOT_REPRODUCED
        yield Claim(
            f"example 10, eps=6: {what}",
            printed,
            round(ours, 4),
            0.0,
            Verdict.REPRODUCED if same else otherwise,
            note,
        )
    for epsilon in (4.0, 6.0):
        width, chance = _window(epsilon)
        yield Claim(
            f"figure 6.2, eps={epsilon:g}: the sector of TraCS-D is narrower than 60 degrees",
            "narrower",
            f"{math.degrees(width):.1f} degrees, chance {chance:.3f}; strawman {_krr(6, epsilon):.3f}",
            0.0,
            Verdict.REPRODUCED if width < math.pi / 3 else Verdict.NOT_REPRODUCED,
        )
    small = [_window(epsilon)[1] > _krr(12, epsilon) for epsilon in (0.5, 1.0, 2.0)]
    large = [_window(epsilon)[0] < _TURN / 12 for epsilon in (8.0, 10.0)]
    yield Claim(
        "figure D.4: at small eps the sector is likelier than that of 12-RR, at large eps narrower",
        "both",
        "both" if all(small + large) else "not both",
        0.0,
        Verdict.REPRODUCED if all(small + large) else Verdict.NOT_REPRODUCED,
    )
    yield from _errors(settings)
    for who, stated, actual in (
        ("the strawman's 6-RR, stated 2", 2.0, published_krr_epsilon(6, 2.0)),
        ("L-SRR with three groups, stated 4", 4.0, published_srr_epsilon(4.0)),
    ):
        yield Claim(
            f"the epsilon of {who}, as coded",
            stated,
            round(actual, 4),
            0.0,
            Verdict.CORRECTED if abs(actual - stated) > 1e-9 else Verdict.REPRODUCED,
            "from the chances that the code draws with",
        )


def _errors(settings: Settings) -> Iterator[Claim]:
    ours = [CircularOGPM(_TURN, epsilon).error(1.0) for epsilon in EPSILONS]
    falls = [math.log(one / two) / 2 for one, two in pairwise(ours)]
    yield Claim(
        "figure 6.6: the error of TraCS-D's direction falls exponentially (rate per unit of eps)",
        "exponentially",
        ", ".join(f"{each:.3f}" for each in falls),
        0.0,
        Verdict.REPRODUCED if min(falls) > 0.3 else Verdict.NOT_REPRODUCED,
        "exact integrals, eps 2 to 10",
    )
    for sectors in (3, 6, 12):
        floor, last = _TURN / sectors / 3, _krr_error(sectors, 10.0)
        yield Claim(
            f"figure 6.6: {sectors}-RR with a uniform direction has a stable error at large eps",
            "stable",
            f"{last:.4f} at eps=10, never below {floor:.4f}",
            0.0,
            Verdict.REPRODUCED if last < 1.1 * floor else Verdict.NOT_REPRODUCED,
            f"TraCS-D {ours[-1]:.4f}",
        )
    lines: dict[str, tuple[Floats, Floats]] = {
        "TraCS-D": (_MANY, np.array([CircularOGPM(_TURN, float(each)).error(1.0) for each in _MANY]))
    }
    for sectors in (3, 6, 12):
        lines[f"{sectors}-RR"] = (_MANY, np.array([_krr_error(sectors, float(each)) for each in _MANY]))
    draw_curves(settings, "figure-6.6.png", {"mean arc": lines}, along="epsilon", across="radians", log=True)
    sizes = {"size of the sector": {}, "its chance": {}}  # type: dict[str, dict[str, tuple[Floats, Floats]]]
    both = np.array([_window(float(each)) for each in _MANY])
    for panel, column in zip(sizes, both.T, strict=True):
        sizes[panel]["TraCS-D"] = (_MANY, column)
    for sectors in (3, 6, 12):
        sizes["size of the sector"][f"{sectors}-RR"] = (_MANY, np.full(len(_MANY), _TURN / sectors))
        sizes["its chance"][f"{sectors}-RR"] = (
            _MANY,
            np.array([_krr(sectors, float(each)) for each in _MANY]),
        )
    draw_curves(settings, "figure-D.4.png", sizes, along="epsilon", across="radians; chance")
