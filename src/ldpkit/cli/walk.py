"""Trajectories on the command line: the options about them, and how their file is read."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.domains.trajectories import Trajectories
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats

__all__ = [
    "ClipOption",
    "IdOption",
    "Per",
    "PerOption",
    "PlacesOption",
    "XOption",
    "YOption",
    "places_of",
    "read_walks",
    "source_of",
]


class Per(enum.StrEnum):
    """What epsilon is for."""

    location = "location"
    trajectory = "trajectory"


XOption = Annotated[str | None, typer.Option("--x", help="The column of x or longitude.", show_default=False)]
YOption = Annotated[str | None, typer.Option("--y", help="The column of y or latitude.", show_default=False)]
IdOption = Annotated[
    str | None, typer.Option("--id", help="The column that says whose location it is.", show_default=False)
]
PerOption = Annotated[
    Per, typer.Option("--per", help="What epsilon covers: each location, or a whole trajectory.")
]
PlacesOption = Annotated[
    Path | None,
    typer.Option(
        "--places",
        metavar="FILE",
        help="Public locations to fit the mechanisms to and to report; never people's own.",
        show_default=False,
    ),
]
ClipOption = Annotated[
    bool, typer.Option("--clip", help="Move locations outside to the nearest point, and say how many.")
]


def source_of(seed: int | None) -> RandomSource:
    """Return secure randomness, or that of a seed."""
    from ldpkit.core import random

    return random.secure() if seed is None else random.seeded(seed)


def read_walks(
    file: Path,
    plane: PlaneDomain,
    ids: str | None,
    x: str | None,
    y: str | None,
    *,
    clip: bool,
    times: bool = False,
) -> Trajectories:
    """Return the trajectories of a file, or refuse one that leaves the region unless it is to be clipped."""
    from ldpkit.files.trajectories import read_trajectories

    walks = read_trajectories(file, id=ids, x=x, y=y, with_times=times)
    if not clip:
        plane.take(walks.points, option="--clip")
    return walks


def places_of(file: Path | None, plane: PlaneDomain) -> Floats | None:
    """Return the public locations of a file."""
    if file is None:
        return None
    from ldpkit.files.trajectories import read_trajectories

    found = read_trajectories(file, id=None, x=None, y=None, with_times=False).points
    plane.take(found, option="a larger --space")
    return found
