"""`ldpkit trajectory privatize` and `evaluate`: the reports of trajectories, and how far they are off."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli import walk
from ldpkit.cli.outputs import check_ending, check_extra, check_output
from ldpkit.cli.parsing import parse_parameters, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note, present
from ldpkit.cli.reading import Reads, Writes
from ldpkit.cli.spaces import PointsArgument, SpaceOption, parse_space
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats
    from ldpkit.protocols.trajectories import PrivateTrajectories

__all__ = ["EVALUATE", "PRIVATIZE", "evaluate", "privatize"]

_ENDINGS = (".csv", ".geojson", ".parquet", ".ldp")
_SEEDED = "note: reports made with --seed protect nobody, as the seed undoes them: use it for tests only"
PRIVATIZE = """
\b
Examples:
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o private.csv
  ldpkit trajectory privatize tracks.gpx -p grid_response -e 4 \\
    --space degrees:-87.9,41.6,-87.5,42 -o private.geojson
  ldpkit trajectory privatize today.csv --space 0,0,10,10 -e 4 \\
      --memo places.db -o today-private.csv
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -p ngram \\
      --places stops.csv -o private.csv
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o reports.ldp
"""
EVALUATE = """
\b
Examples:
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 4
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 4 \\
      --places stops.csv
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 40 \\
    --per trajectory -p tracs_d,planar_window --figure points.png
"""


class ReferenceOf(enum.StrEnum):
    """Where TraCS-D takes directions from."""

    fixed = "fixed"
    previous = "previous"


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
        Writes(),
    ],
    epsilon: opt.UsualEpsilonOption = 4.0,
    mechanism: Annotated[str, typer.Option("--mechanism", "-p", metavar="NAME", help="The mechanism.")] = (
        "planar_window"
    ),
    per: walk.PerOption = walk.Per.location,
    reference: Annotated[
        ReferenceOf, typer.Option(help="For tracs_d: directions from a fixed point, or the previous report.")
    ] = ReferenceOf.fixed,
    repeat: Annotated[
        bool, typer.Option("--repeat-places", help="A place visited again repeats its report.")
    ] = False,
    memo: Annotated[
        Path | None,
        typer.Option(
            "--memo",
            metavar="FILE",
            help="A file, on the device, that keeps the reports of places for later calls to repeat.",
            show_default=False,
        ),
        Reads(),
        Writes(),
    ] = None,
    places: walk.PlacesOption = None,
    times: Annotated[bool, typer.Option("--times", help="Refuse a file that has no times.")] = False,
    ids: walk.IdOption = None,
    x: walk.XOption = None,
    y: walk.YOption = None,
    parameter: opt.ParameterOption = None,
    clip: walk.ClipOption = False,
    seed: opt.SeedOption = None,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    force: opt.ForceOption = False,
    print_as: opt.FormatOption = opt.Format.table,
) -> None:
    """Report every location of each trajectory, and show what each person pays.

    Trajectories are written as tables or GeoJSON. A .ldp file holds reports that can be tallied,
    but no trajectories, because its records have a fixed length.
    """
    from ldpkit.cli.making import parsed_parameters
    from ldpkit.client.store import DeviceStore
    from ldpkit.mechanisms.kinds import walk_class
    from ldpkit.protocols.trajectories import privatize_trajectories

    check_ending(output, "--output", _ENDINGS)
    check_output(output, force=force)
    read = [points, places, memo]
    pictures = Pictures.wanted(*pictured, force=force, inputs=read, outputs={"--output": output}, seed=seed)
    if output.suffix.lower() == ".parquet":
        check_extra("pyarrow")
    as_reports = output.suffix.lower() == ".ldp"
    at_odds = per is walk.Per.trajectory or reference is ReferenceOf.previous or repeat or memo is not None
    if as_reports and (at_odds or not walk_class(mechanism).can("tallied")):
        raise InvalidParameterError(
            "a .ldp file holds reports that can be tallied, each made in the same way from one location: "
            "leave "
            "out --per, --reference, --repeat-places and --memo, choose a mechanism whose reports can be "
            "tallied, or write .csv, .geojson or .parquet"
        )
    plane, source = parse_space(space), walk.source_of(seed)
    walks = walk.read_walks(points, plane, ids, x, y, clip=clip, times=times)
    more = parsed_parameters(walk_class(mechanism), epsilon, parse_parameters(parameter))
    del more["epsilon"]
    private = privatize_trajectories(
        walks,
        plane,
        mechanism,
        epsilon=epsilon,
        per=per.value,
        reference=reference.value,
        repeat=repeat or memo is not None,
        memo=None if memo is None else DeviceStore(memo),
        places=walk.places_of(places, plane),
        clip=clip,
        rng=source,
        **more,
    )
    if as_reports:
        _write_reports(output, private, source, clip=clip)
    else:
        from ldpkit.files.trajectories import write_trajectories

        write_trajectories(output, private.trajectories, private.reports)
    present(private, print_as)
    pictures.save(private)
    if seed is not None:
        note(_SEEDED)
    note(f"wrote {output}: {len(private.reports)} reports")


def evaluate(
    points: PointsArgument,
    space: SpaceOption,
    epsilon: opt.UsualEpsilonOption = 4.0,
    mechanism: opt.MechanismsOption = None,
    per: walk.PerOption = walk.Per.location,
    within: Annotated[
        float | None,
        typer.Option(
            "--within", help="What counts as near; by default a tenth of the width.", show_default=False
        ),
    ] = None,
    places: walk.PlacesOption = None,
    ids: walk.IdOption = None,
    x: walk.XOption = None,
    y: walk.YOption = None,
    clip: walk.ClipOption = False,
    seed: opt.RepeatableSeedOption = 0,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Simulate reports of trajectories by several mechanisms, and measure how far they are off."""
    from ldpkit.mechanisms.kinds import SPATIAL, TRAJECTORY, select
    from ldpkit.simulation.trajectories import evaluate_trajectories

    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[points, places], seed=seed)
    plane = parse_space(space)
    walks = walk.read_walks(points, plane, ids, x, y, clip=clip)
    public = walk.places_of(places, plane)
    names = split(mechanism or ["all"])
    if names == ["all"]:
        every = [name for kind in (SPATIAL, TRAJECTORY) for name in select(kind, single_epsilon=True).names]
        names, left_out = _makeable(plane, epsilon, public, every)
        for name, why in left_out.items():
            note(f"note: {name} is left out: {why}")
    found = evaluate_trajectories(
        walks,
        plane,
        names,
        epsilon=epsilon,
        per=per.value,
        radius=within,
        places=public,
        clip=clip,
        rng=walk.source_of(seed),
    )
    deliver(found, shown)
    pictures.save(found)


def _makeable(
    plane: PlaneDomain, epsilon: float, places: Floats | None, names: list[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the mechanisms that can be made for a region, and why the others cannot."""
    from ldpkit.mechanisms.kinds import walk_class

    made, left_out = list[str](), dict[str, str]()
    for name in names:
        try:
            walk_class(name).suited(plane, epsilon, places)
            made.append(name)
        except InvalidParameterError as refusal:
            left_out[name] = str(refusal)
    return made, left_out


def _write_reports(output: Path, private: PrivateTrajectories, source: RandomSource, *, clip: bool) -> None:
    from ldpkit.core.provenance import Provenance
    from ldpkit.files.reportfile import ReportWriter

    made = Provenance.of(source, domain="stated", outside="moved" if clip else "refused")
    with ReportWriter(output, private.mechanism, provenance=made) as writer:
        writer.write(private.reports)
