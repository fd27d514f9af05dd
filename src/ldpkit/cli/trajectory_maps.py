"""`ldpkit trajectory heatmap` and `recommend`: where people are, and which mechanism tells it best."""

from __future__ import annotations

import enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ldpkit.cli import options as opt
from ldpkit.cli import walk
from ldpkit.cli.parsing import refuse_options
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note, progress_bar
from ldpkit.cli.reading import Reads, file_behind_at
from ldpkit.cli.spaces import SpaceOption, parse_space
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.random import RandomSource
    from ldpkit.estimation.heatmap import HeatMap

__all__ = ["HEATMAP", "RECOMMEND", "heatmap", "recommend"]

HEATMAP = """
\b
Examples:
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 --figure map.png
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 -p olh
  ldpkit trajectory heatmap reports.ldp --columns 8 --rows 8 --hotspots 5
"""
RECOMMEND = """
\b
Examples:
  ldpkit trajectory recommend --space 0,0,10,10 -e 4
  ldpkit trajectory recommend public.csv --space 0,0,10,10 -e 4
  ldpkit trajectory recommend public.csv --space 0,0,10,10 -e 4 --for heatmap
"""


class Purpose(enum.StrEnum):
    """What the reports are for."""

    points = "points"
    heatmap = "heatmap"


_ColumnsOption = Annotated[int, typer.Option("--columns", min=1, help="The columns of the map.")]
_RowsOption = Annotated[int, typer.Option("--rows", min=1, help="The rows of the map.")]


def heatmap(
    files: Annotated[
        list[Path], typer.Argument(help="A file of locations, or report files of 'trajectory privatize'.")
    ],
    space: Annotated[
        str | None,
        typer.Option(
            "--space",
            metavar="SPEC",
            help="The public region, as in 'trajectory privatize'; report files know theirs.",
            show_default=False,
        ),
        Reads(file_behind_at),
    ] = None,
    epsilon: opt.EpsilonOption = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            "-p",
            metavar="NAME",
            help="A mechanism for locations, or a frequency oracle over the cells, such as olh.",
            show_default="planar_window",
        ),
    ] = None,
    columns: _ColumnsOption = 16,
    rows: _RowsOption = 16,
    hotspots: Annotated[
        int | None,
        typer.Option(
            "--hotspots",
            min=1,
            help="Show this many of the fullest cells, and how often each would be found again.",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The coverage of the intervals.")] = 0.95,
    ids: walk.IdOption = None,
    x: walk.XOption = None,
    y: walk.YOption = None,
    clip: walk.ClipOption = False,
    seed: opt.SeedOption = None,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Estimate the share of people in each cell, with intervals that cover.

    Given a file of locations, the command simulates the whole collection, with one report for each
    location. Given report files, it estimates from them, as a collector does. If you only want the
    map, a frequency oracle over the cells (-p olh) tells far more than noisy locations.
    """
    from ldpkit.cli.tallies import is_collected
    from ldpkit.core.parameters import check_fraction

    check_fraction(level, "level")
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=files, seed=seed)
    truth: Any = None
    if all(is_collected(each) for each in files):
        refuse_options(
            "report files say what made them", space=space, epsilon=epsilon, mechanism=mechanism, seed=seed
        )
        found = _collected_map(files, columns, rows, level)
    else:
        if len(files) > 1 or space is None:
            raise InvalidParameterError(
                "locations come in one file, with the region they lie in: give --space"
            )
        plane = parse_space(space)
        walks = walk.read_walks(files[0], plane, ids, x, y, clip=clip)
        truth = plane.locations(plane.take(walks.points, clip=clip))
        budget = 4.0 if epsilon is None else epsilon
        name = mechanism or "planar_window"
        found = _simulated_map(plane, truth, name, budget, (columns, rows), level, walk.source_of(seed))
    if hotspots is not None:
        from ldpkit.estimation.hotspots import hotspots as find_hotspots

        spots = find_hotspots(found, hotspots, rng=walk.source_of(0))
        deliver(spots, shown)
        pictures.save(spots)
        return
    deliver(found, shown)
    if truth is not None:
        note(f"total variation from the true map: {found.total_variation(truth):.4f}")
    pictures.save(found, None if truth is None else partial(found.figure, truth=truth))


def recommend(
    space: SpaceOption,
    points: Annotated[
        Path | None,
        typer.Argument(
            help="Public locations that resemble people's own; by default evenly spread over the region."
        ),
    ] = None,
    epsilon: opt.UsualEpsilonOption = 4.0,
    purpose: Annotated[
        Purpose,
        typer.Option(
            "--for", help="What you need: individual reports, or a map of how many people are where."
        ),
    ] = Purpose.points,
    people: opt.PeopleOption = None,
    columns: _ColumnsOption = 16,
    rows: _RowsOption = 16,
    ids: walk.IdOption = None,
    x: walk.XOption = None,
    y: walk.YOption = None,
    clip: walk.ClipOption = False,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Rank all mechanisms for locations by expected error, together with a constant answer."""
    from ldpkit.planning.locations import recommend_locations

    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[points])
    plane = parse_space(space)
    locations = None
    if points is not None:
        walks = walk.read_walks(points, plane, ids, x, y, clip=clip)
        locations = plane.locations(plane.take(walks.points, clip=clip))
    question: Literal["points", "heat map"] = "points" if purpose is Purpose.points else "heat map"
    if question == "points":
        refuse_options("--n is for a heat map", n=people)
    found = recommend_locations(
        plane, epsilon, question, locations=locations, n=people, columns=columns, rows=rows
    )
    deliver(found, shown)
    pictures.save(found)


def _collected_map(files: list[Path], columns: int, rows: int, level: float) -> HeatMap:
    from ldpkit.cli.tallies import count_files, refuse_twins
    from ldpkit.estimation.heatmap import heatmap as estimate_map
    from ldpkit.mechanisms.tally import SpatialTally

    refuse_twins(files)
    tally = count_files(files)
    if not isinstance(tally, SpatialTally):
        raise InvalidInputError(
            f"a heat map needs reports of locations, and these are of {tally.mechanism!r}: give them to "
            f"'ldpkit estimate {files[0]}'"
        )
    with progress_bar() as watch:
        found = estimate_map(tally, columns=columns, rows=rows, level=level, watch=watch)
    return tally.provenance.sign(found)


def _simulated_map(
    plane: PlaneDomain,
    locations: Any,
    name: str,
    epsilon: float,
    shape: tuple[int, int],
    level: float,
    source: RandomSource,
) -> HeatMap:
    from ldpkit.core.domains.cellgrid import CellGrid
    from ldpkit.estimation.heatmap import HeatMap
    from ldpkit.estimation.heatmap import heatmap as estimate_map
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.kinds import frequency_oracle, is_frequency, spatial_class

    if is_frequency(MECHANISMS.get(name)):
        grid = CellGrid.of(plane, *shape)
        oracle = frequency_oracle(name, len(grid), epsilon=epsilon)
        tally = oracle.tally(oracle.privatize(grid.cells_of(locations), rng=source))
        return HeatMap.from_estimate(grid, tally.estimate("mi"), level)
    mechanism = spatial_class(name).make(plane, epsilon=epsilon)
    reports = mechanism.privatize(locations, rng=source)
    with progress_bar() as watch:
        return estimate_map(
            mechanism.tally(reports), columns=shape[0], rows=shape[1], level=level, watch=watch
        )
