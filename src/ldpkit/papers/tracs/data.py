"""The trajectories of the thesis: random ones, and those of Tokyo and Chicago."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.papers import Claim, Verdict
from ldpkit.simulation.datasets.catalogue import KnownFile, find_file

__all__ = ["EPSILONS", "City", "load_city", "no_data", "random_walks"]

EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0)
"""The budgets of most figures."""

_FILES = {
    "tky_locations": "4a03af3680840da6bcdcec452b91124a10f4bf1abb88bcc970dc37c1ed733f35",
    "tky_trajectories_paper": "c7760f76ca0ef951d11047ce322f65699a897a460f97b9c74da39f1a1f3476d2",
    "tky_trajectories_chronological": "5f33df98fe08c8b79af699da8b58c6bc668abfb26845135c85f7e0f15571cf43",
    "chi_locations": "f85f55327521bae6e8083d6338e55b03a5080ca4a53c9288fbdea5db4cfe1667",
    "chi_trajectories_paper": "5736e810e6931d72c82d9da0ddc3960722b750f977ded0ecf4152a4fefac5f1d",
    "chi_trajectories_chronological": "699f3118d5972cc275e5562a8ac8020c97c08bb59d0f3c5d37a32cfefeed019c",
}
_SHOWN = {"tky": slice(0, 100), "chi": slice(100, 200)}  # which trajectories most figures use
_FIRST = slice(0, 100)


@dataclass(frozen=True, eq=False)
class City:
    """The places and trajectories of a city, as parts of the box around all places.

    Parameters
    ----------
    name : str
        What it is called in the thesis.
    places : array
        All places, in the unit square.
    paper : Trajectories
        Those of most figures: the different places of a person, by latitude.
    first : Trajectories
        Those of figure 6.7, the first 100.
    timed : Trajectories
        Every check-in of everybody, in the order of time.
    degrees : array
        What the edges of the unit square measure: longitude and latitude.
    corner : array
        Its lower left corner in degrees.
    """

    name: str
    places: Floats
    paper: Trajectories
    first: Trajectories
    timed: Trajectories
    degrees: Floats
    corner: Floats

    def in_degrees(self, points: Floats) -> Floats:
        """Return points of the unit square as longitude and latitude."""
        return np.asarray(self.corner + points * self.degrees)

    def errors(self, truth: Floats, answers: Floats) -> Floats:
        """Return distances in degrees, as the thesis measures them."""
        return np.asarray(np.hypot(*((answers - truth) * self.degrees).T))


def _rows(name: str, *columns: str) -> list[Floats] | None:
    file = KnownFile(f"{name}.csv", _FILES[name])
    found = find_file((file,))
    if found is None:
        return None
    file.verify(found[1])
    with found[1].open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    return [np.array([float(row[column]) for row in table]) for column in columns]


@lru_cache(maxsize=4)
def load_city(name: str) -> City | None:
    """Return the places and trajectories of "tky" or "chi", or None where the files are not here."""
    places = _rows(f"{name}_locations", "lon", "lat")
    paper = _rows(f"{name}_trajectories_paper", "traj_id", "loc")
    timed = _rows(f"{name}_trajectories_chronological", "traj_id", "loc", "unix")
    if places is None or paper is None or timed is None:
        return None
    every = np.stack(places, axis=1)
    corner, edges = every.min(axis=0), np.ptp(every, axis=0)
    unit = (every - corner) / edges
    every_walk = Trajectories.from_rows(paper[0].astype(int), unit[paper[1].astype(int)])
    shown, first = every_walk.select(_SHOWN[name]), every_walk.select(_FIRST)
    whole = Trajectories.from_rows(timed[0].astype(int), unit[timed[1].astype(int)], timed[2])
    return City(name.upper(), unit, shown, first, whole, edges, corner)


def no_data(claim: str) -> Claim:
    """Return the claim that cannot be looked at without the files."""
    note = "needs tky_ and chi_ files of locations and trajectories in the folder that LDPKIT_DATA names"
    return Claim(claim, None, None, None, Verdict.NO_DATA, note)


def random_walks(source: RandomSource, count: int, length: int = 100) -> Trajectories:
    """Return trajectories whose points are equally likely anywhere in the unit square."""
    points = source.generator().random((count * length, 2))
    return Trajectories(points, np.arange(0, count * length + 1, length))
