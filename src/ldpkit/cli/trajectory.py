"""`ldpkit trajectory`: locations and trajectories, from choosing a mechanism to a heat map."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.app import Group
from ldpkit.cli.outputs import check_ending, check_extra, check_figure, check_output, save_drawn
from ldpkit.cli.parsing import parse_parameters, refuse_options, split
from ldpkit.cli.printing import note, present
from ldpkit.cli.spaces import PointsArgument, SpaceOption, parse_space
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.domains.trajectories import Trajectories
    from ldpkit.core.random import RandomSource
    from ldpkit.estimation.heatmap import HeatMap
    from ldpkit.protocols.trajectories import PrivateTrajectories

__all__ = ["add_to"]

_ENDINGS = (".csv", ".geojson", ".parquet", ".ldp")
_SEEDED = "note: reports made with --seed protect nobody, as the seed undoes them: use it for tests only"
_EXAMPLES = """
\b
Examples:
  ldpkit trajectory recommend --space 0,0,10,10 -e 4
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o private.csv
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 4
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 --figure map.png
"""
_PRIVATIZE = """
\b
Examples:
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o private.csv
  ldpkit trajectory privatize tracks.gpx -p grid_response -e 4 \\
    --space degrees:-87.9,41.6,-87.5,42 -o private.geojson
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o reports.ldp
"""
_EVALUATE = """
\b
Examples:
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 4
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 40 \\
    --per trajectory -p tracs_d,planar_window --figure points.png
"""
_HEATMAP = """
\b
Examples:
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 --figure map.png
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 -p olh
  ldpkit trajectory heatmap reports.ldp --columns 8 --rows 8 --hotspots 5
"""
_RECOMMEND = """
\b
Examples:
  ldpkit trajectory recommend --space 0,0,10,10 -e 4
  ldpkit trajectory recommend public.csv --space 0,0,10,10 -e 4
  ldpkit trajectory recommend public.csv --space 0,0,10,10 -e 4 --for heatmap
"""


class Per(enum.StrEnum):
    """What epsilon is for."""

    location = "location"
    trajectory = "trajectory"


class ReferenceOf(enum.StrEnum):
    """Where TraCS-D takes directions from."""

    fixed = "fixed"
    previous = "previous"


class Purpose(enum.StrEnum):
    """What the reports are for."""

    points = "points"
    heatmap = "heatmap"


_XOption = Annotated[
    str | None, typer.Option("--x", help="The column of x or longitude.", show_default=False)
]
_YOption = Annotated[str | None, typer.Option("--y", help="The column of y or latitude.", show_default=False)]
_IdOption = Annotated[
    str | None, typer.Option("--id", help="The column that says whose location it is.", show_default=False)
]
_PerOption = Annotated[Per, typer.Option("--per", help="What epsilon is for.")]
_ColumnsOption = Annotated[int, typer.Option("--columns", min=1, help="The cells of a map across.")]
_RowsOption = Annotated[int, typer.Option("--rows", min=1, help="The cells of a map up and down.")]
_ClipOption = Annotated[
    bool, typer.Option("--clip", help="Move locations outside to the nearest point; it is told how many.")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        cls=Group,
        help="Locations and trajectories.",
        epilog=_EXAMPLES,
        rich_markup_mode=None,
    )
    group.command("recommend", epilog=_RECOMMEND)(recommend)
    group.command("privatize", epilog=_PRIVATIZE)(privatize)
    group.command("evaluate", epilog=_EVALUATE)(evaluate)
    group.command("heatmap", epilog=_HEATMAP)(heatmap)
    app.add_typer(group, name="trajectory")


def privatize(
    points: PointsArgument,
    space: SpaceOption,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Trajectories: .csv, .geojson or .parquet (id, position, location, cell); reports: .ldp.",
        ),
    ],
    epsilon: opt.UsualEpsilonOption = 4.0,
    mechanism: Annotated[str, typer.Option("--mechanism", "-p", metavar="NAME", help="The mechanism.")] = (
        "planar_window"
    ),
    per: _PerOption = Per.location,
    reference: Annotated[
        ReferenceOf, typer.Option(help="For tracs_d: directions from a fixed point, or the previous report.")
    ] = ReferenceOf.fixed,
    repeat: Annotated[
        bool, typer.Option("--repeat-places", help="A place visited again repeats its report.")
    ] = False,
    times: Annotated[bool, typer.Option("--times", help="Refuse a file that has no times.")] = False,
    ids: _IdOption = None,
    x: _XOption = None,
    y: _YOption = None,
    parameter: opt.ParameterOption = None,
    clip: _ClipOption = False,
    seed: opt.SeedOption = None,
    force: opt.ForceOption = False,
    print_as: opt.FormatOption = opt.Format.table,
) -> None:
    """Report every location of some trajectories, and show what each person pays.

    Trajectories go out as tables or GeoJSON; a .ldp file has reports that tally, but no
    trajectories, because its records have one length.
    """
    check_ending(output, "--output", _ENDINGS)
    check_output(output, force=force, inputs=[points])
    if output.suffix.lower() == ".parquet":
        check_extra("pyarrow")
    as_reports = output.suffix.lower() == ".ldp"
    if as_reports and (per is Per.trajectory or reference is ReferenceOf.previous or repeat):
        raise InvalidParameterError(
            "a .ldp file holds reports that tally, each made alike from a location of its own: leave out "
            "--per, --reference and --repeat-places, or write .csv, .geojson or .parquet"
        )
    plane, source = parse_space(space), _source(seed)
    walks = _read(points, ids, x, y, times=times)
    private = _privatized(walks, plane, mechanism, epsilon, per, reference, repeat, parameter, clip, source)
    if as_reports:
        _write_reports(output, private, source, clip=clip)
    else:
        from ldpkit.files.trajectories import write_trajectories

        write_trajectories(output, private.trajectories, private.reports)
    present(private, print_as)
    if seed is not None:
        note(_SEEDED)
    note(f"wrote {output}: {len(private.reports)} reports")


def evaluate(
    points: PointsArgument,
    space: SpaceOption,
    epsilon: opt.UsualEpsilonOption = 4.0,
    mechanism: opt.MechanismsOption = None,
    per: _PerOption = Per.location,
    within: Annotated[
        float | None,
        typer.Option(
            "--within", help="What counts as near; by default a tenth of the width.", show_default=False
        ),
    ] = None,
    ids: _IdOption = None,
    x: _XOption = None,
    y: _YOption = None,
    clip: _ClipOption = False,
    seed: opt.RepeatableSeedOption = 0,
    figure: opt.FigureOption = None,
    force: opt.ForceOption = False,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Simulate reports of trajectories by several mechanisms, and measure how far they are off."""
    from ldpkit.mechanisms.kinds import SPATIAL, select
    from ldpkit.simulation.trajectories import evaluate_trajectories

    check_figure(figure, force=force, inputs=[points])
    plane = parse_space(space)
    walks = _read(points, ids, x, y)
    names = split(mechanism or ["all"])
    if names == ["all"]:
        names, left_out = _makeable(plane, epsilon, select(SPATIAL, single_epsilon=True).names)
        for name, why in left_out.items():
            note(f"note: {name} is left out: {why}")
    found = evaluate_trajectories(
        walks,
        plane,
        names,
        epsilon=epsilon,
        per=_per(per),
        radius=within,
        clip=clip,
        rng=_source(seed),
    )
    present(found, output)
    save_drawn(figure, found)


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
        typer.Option("--hotspots", min=1, help="Show so many of the fullest cells, with their chances."),
    ] = None,
    level: Annotated[float, typer.Option(help="The coverage of the intervals.")] = 0.95,
    ids: _IdOption = None,
    x: _XOption = None,
    y: _YOption = None,
    clip: _ClipOption = False,
    seed: opt.SeedOption = None,
    figure: opt.FigureOption = None,
    force: opt.ForceOption = False,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Estimate the share of people in each cell, with intervals that cover.

    From a file of locations the whole collection is simulated, every location being a
    report. From report files it is the collector's half. Where only the map is wanted, a
    frequency oracle over the cells (-p olh) tells far more than noisy locations.
    """
    from ldpkit.cli.tallies import is_collected
    from ldpkit.core.parameters import check_fraction

    check_fraction(level, "level")
    check_figure(figure, force=force, inputs=files)
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
        walks = _read(files[0], ids, x, y)
        truth = plane.locations(plane.take(walks.points, clip=clip))
        budget = 4.0 if epsilon is None else epsilon
        name = mechanism or "planar_window"
        found = _simulated_map(plane, truth, name, budget, (columns, rows), level, _source(seed))
    if hotspots is not None:
        from ldpkit.estimation.hotspots import hotspots as find_hotspots

        spots = find_hotspots(found, hotspots, rng=_source(0))
        present(spots, output)
        save_drawn(figure, spots)
        return
    present(found, output)
    if truth is not None:
        note(f"total variation from the true map: {found.total_variation(truth):.4f}")
    if figure is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.plane import heatmap_figure

        save_figure(heatmap_figure(found, truth=truth), figure)
        note(f"wrote {figure}")


def recommend(
    space: SpaceOption,
    points: Annotated[
        Path | None,
        typer.Argument(help="Public locations that people's are like; by default anywhere alike."),
    ] = None,
    epsilon: opt.UsualEpsilonOption = 4.0,
    purpose: Annotated[
        Purpose, typer.Option("--for", help="Whether each report matters, or how many people are where.")
    ] = Purpose.points,
    people: opt.PeopleOption = None,
    columns: _ColumnsOption = 16,
    rows: _RowsOption = 16,
    ids: _IdOption = None,
    x: _XOption = None,
    y: _YOption = None,
    clip: _ClipOption = False,
    figure: opt.FigureOption = None,
    force: opt.ForceOption = False,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Rank all mechanisms for locations by expected error, with a constant answer among them."""
    from ldpkit.planning.locations import recommend_locations

    check_figure(figure, force=force, inputs=[points])
    plane = parse_space(space)
    locations = None
    if points is not None:
        walks = _read(points, ids, x, y)
        locations = plane.locations(plane.take(walks.points, clip=clip))
    question: Literal["points", "heat map"] = "points" if purpose is Purpose.points else "heat map"
    if question == "points":
        refuse_options("--n is for a heat map", n=people)
    found = recommend_locations(
        plane, epsilon, question, locations=locations, n=people, columns=columns, rows=rows
    )
    present(found, output)
    save_drawn(figure, found)


# --- what the commands share -------------------------------------------------------------


def _per(per: Per) -> Literal["location", "trajectory"]:
    return "location" if per is Per.location else "trajectory"


def _source(seed: int | None) -> RandomSource:
    from ldpkit.core import random

    return random.secure() if seed is None else random.seeded(seed)


def _read(file: Path, ids: str | None, x: str | None, y: str | None, *, times: bool = False) -> Trajectories:
    from ldpkit.files.trajectories import read_trajectories

    return read_trajectories(file, id=ids, x=x, y=y, with_times=times)


def _makeable(plane: PlaneDomain, epsilon: float, names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the mechanisms that can be made for a region, and why the others cannot."""
    from ldpkit.mechanisms.kinds import spatial_class

    made, left_out = list[str](), dict[str, str]()
    for name in names:
        try:
            spatial_class(name).make(plane, epsilon=epsilon)
            made.append(name)
        except InvalidParameterError as refusal:
            left_out[name] = str(refusal)
    return made, left_out


def _privatized(
    walks: Trajectories,
    plane: PlaneDomain,
    mechanism: str,
    epsilon: float,
    per: Per,
    reference: ReferenceOf,
    repeat: bool,
    parameter: list[str] | None,
    clip: bool,
    source: RandomSource,
) -> PrivateTrajectories:
    from ldpkit.cli.making import parsed_parameters
    from ldpkit.mechanisms.kinds import spatial_class
    from ldpkit.protocols.trajectories import privatize_trajectories

    more = parsed_parameters(spatial_class(mechanism), epsilon, parse_parameters(parameter))
    del more["epsilon"]
    return privatize_trajectories(
        walks,
        plane,
        mechanism,
        epsilon=epsilon,
        per=_per(per),
        reference="previous" if reference is ReferenceOf.previous else "fixed",
        repeat=repeat,
        clip=clip,
        rng=source,
        **more,
    )


def _write_reports(output: Path, private: PrivateTrajectories, source: RandomSource, *, clip: bool) -> None:
    from ldpkit.core.provenance import Provenance
    from ldpkit.files.reportfile import ReportWriter

    made = Provenance.of(source, domain="stated", outside="moved" if clip else "refused")
    with ReportWriter(output, private.mechanism, provenance=made) as writer:
        writer.write(private.reports)


def _collected_map(files: list[Path], columns: int, rows: int, level: float) -> HeatMap:
    from ldpkit.cli.tallies import count_files, refuse_twins
    from ldpkit.estimation.heatmap import heatmap as estimate_map

    refuse_twins(files)
    tally = count_files(files)
    found: HeatMap = estimate_map(tally, columns=columns, rows=rows, level=level)
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
    from ldpkit.mechanisms.kinds import frequency_class, is_frequency, spatial_class

    if is_frequency(MECHANISMS.get(name)):
        grid = CellGrid.of(plane, *shape)
        oracle = frequency_class(name).make(len(grid), epsilon=epsilon)
        tally = oracle.tally(oracle.privatize(grid.cells_of(locations), rng=source))
        return HeatMap.from_estimate(grid, tally.estimate("mi"), level)
    mechanism = spatial_class(name).make(plane, epsilon=epsilon)
    reports = mechanism.privatize(locations, rng=source)
    found: HeatMap = estimate_map(mechanism.tally(reports), columns=shape[0], rows=shape[1], level=level)
    return found
