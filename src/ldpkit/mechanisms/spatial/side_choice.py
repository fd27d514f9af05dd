"""How wide a window of the plane is best: wide enough to be hit, narrow enough to be near."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.mechanisms.spatial.integrals import over_rectangle, panels

__all__ = ["chosen_side"]

_ORDER = 6  # rough, as the error is flat near its least


@lru_cache(maxsize=256)
def chosen_side(epsilon: float, ratio: float, is_disc: bool) -> float:
    """Return the best side for a rectangle of width 1 and a height of `ratio`, at least 1."""
    from scipy.optimize import minimize_scalar

    edges, gain = np.array([1.0, ratio]), math.expm1(epsilon)

    def error(logarithm: float) -> float:
        widths = np.minimum(math.exp(logarithm), edges)
        cuts = [
            np.unique([0.0, width / 2, edge - width / 2, edge])
            for width, edge in zip(widths, edges, strict=True)
        ]
        (x, by_x), (y, by_y) = (panels(each, _ORDER) for each in cuts)
        points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        start = np.clip(points - widths / 2, 0, edges - widths)
        whole = over_rectangle(np.zeros(2), edges, points) + gain * over_rectangle(
            start, start + widths, points
        )
        return float(by_x @ whole @ by_y / (ratio + gain * widths.prod()))

    longest = math.log(ratio * (1 - 2**-6))
    found = minimize_scalar(
        error, bounds=(-epsilon / 2 - 3, longest), method="bounded", options={"xatol": 1e-4}
    )
    side = math.exp(found.x) * (2 / math.sqrt(math.pi) if is_disc else 1)  # a disc of the same area
    return float(f"{min(side, math.exp(longest)):.4g}")
