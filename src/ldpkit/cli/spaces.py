"""How the text of --space is read, and the options of the commands on locations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.reading import Reads, file_behind_at
from ldpkit.core.errors import FileFormatError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.plane import PlaneDomain

__all__ = ["PointsArgument", "SpaceOption", "parse_space"]

_FORMS = (
    "X0,Y0,X1,Y1 for a rectangle, degrees:WEST,SOUTH,EAST,NORTH, utm:WEST,SOUTH,EAST,NORTH, disc:X,Y,RADIUS, "
    "globe, or @FILE with the JSON of a region"
)

PointsArgument = Annotated[
    Path, typer.Argument(help="Locations: .csv, .tsv, .parquet, .geojson or .gpx; longitude, or x, first.")
]
SpaceOption = Annotated[
    str,
    typer.Option(
        "--space",
        metavar="SPEC",
        help="The public region: X0,Y0,X1,Y1, degrees:WEST,SOUTH,EAST,NORTH, disc:X,Y,RADIUS, globe, or "
        "@FILE with its JSON.",
    ),
    Reads(file_behind_at),
]


def parse_space(spec: str) -> PlaneDomain:
    """Return the region that the user wrote.

    Examples
    --------
    >>> parse_space("0,0,10,5")
    PlaneDomain(Rectangle(low=(0, 0), high=(10, 5)))
    >>> parse_space("disc:0,0,2")
    PlaneDomain(Disc(middle=(0, 0), radius=2))
    """
    from ldpkit.core.domains.plane import PlaneDomain

    if spec.startswith("@"):
        return _read_space(Path(spec[1:]))
    if spec.strip().lower() == "globe":
        return PlaneDomain.globe()
    kind, colon, rest = spec.rpartition(":")
    shape = kind.strip().lower() if colon else "rectangle"
    wanted = {"rectangle": 4, "degrees": 4, "utm": 4, "disc": 3}
    if shape not in wanted:
        raise InvalidParameterError(f"the space {spec!r} is none that is known: give {_FORMS}")
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        raise InvalidParameterError(
            f"the space {spec!r} has a part that is not a number: give {_FORMS}"
        ) from None
    if len(numbers) != wanted[shape]:
        raise InvalidParameterError(
            f"the space {spec!r} has {len(numbers)} numbers, not {wanted[shape]}: give {_FORMS}"
        )
    first, second, *others = numbers
    if shape == "disc":
        return PlaneDomain.disc((first, second), others[0])
    if shape == "rectangle":
        return PlaneDomain.rectangle((first, second), (others[0], others[1]))
    projection = "utm" if shape == "utm" else "local"
    return PlaneDomain.degrees(first, second, others[0], others[1], projection=projection)


def _read_space(file: Path) -> PlaneDomain:
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.smallfile import read_small_file

    data = read_small_file(file, "the JSON of a region")
    try:
        return PlaneDomain.from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        raise FileFormatError(f"{str(file)!r} is not the JSON of a region: {error}") from None
