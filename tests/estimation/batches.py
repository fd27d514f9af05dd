"""Batches of estimates for the tests of consistency methods."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ldpkit.estimation.consistency import CONSISTENCY, Noise

__all__ = ["NOISE", "apply", "batches", "sixteenths"]

NOISE = Noise(n=10_000, stderr=0.02)


def batches(largest: float, values: tuple[int, int] = (2, 12)) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(1, 4), st.integers(*values))
    return shapes.flatmap(
        lambda shape: hnp.arrays(float, shape, elements=st.floats(-largest, largest, allow_nan=False))
    )


def sixteenths(values: tuple[int, int] = (2, 9)) -> st.SearchStrategy[np.ndarray]:
    """Rows with many ties and exact sums."""
    sizes = st.integers(*values)
    return sizes.flatmap(
        lambda k: hnp.arrays(float, (1, k), elements=st.integers(-8, 24).map(lambda x: x / 16))
    )


def apply(name: str, batch: object, noise: Noise = NOISE) -> np.ndarray:
    return CONSISTENCY.get(name)(np.asarray(batch, float), noise)
