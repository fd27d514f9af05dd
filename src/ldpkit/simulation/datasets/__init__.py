"""Data sets: who holds what, as counts, from a file, a known public set or a population.

>>> from ldpkit.simulation import datasets
>>> datasets.load("zipf:k=4,n=100,s=1")
Dataset('zipf:k=4,n=100,s=1', n=100, k=4)
"""

from __future__ import annotations

from ldpkit.simulation.datasets.catalogue import KNOWN, KnownSet
from ldpkit.simulation.datasets.dataset import Dataset
from ldpkit.simulation.datasets.loading import DEFAULT_DATA, as_dataset, load, load_amounts
from ldpkit.simulation.datasets.numbers import KNOWN_NUMBERS, KnownNumbers, NumberSet, load_known_numbers
from ldpkit.simulation.datasets.prepare import grid_cells, top_items

__all__ = [
    "DEFAULT_DATA",
    "KNOWN",
    "KNOWN_NUMBERS",
    "Dataset",
    "KnownNumbers",
    "KnownSet",
    "NumberSet",
    "as_dataset",
    "grid_cells",
    "load",
    "load_amounts",
    "load_known_numbers",
    "top_items",
]
