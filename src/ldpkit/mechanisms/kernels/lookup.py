"""Draws from a finite law with exact 64-bit thresholds."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["draw"]


@compiled()
def draw(words, bounds, guide, out):
    """Write for each word how many of the ascending bounds are at most the word.

    `guide` holds for each leading 12 bits of a word the first bound to look at.
    """
    for i in range(words.shape[0]):
        place = guide[words[i] >> np.uint64(52)]
        while place < bounds.shape[0] and bounds[place] <= words[i]:
            place += 1
        out[i] = place
