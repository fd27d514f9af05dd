"""Options that several commands have: declared once, so that a word means the same everywhere."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from ldpkit.cli.reading import Reads, Writes, file_behind_at, files_of_people, how_read, refuse_dash, remember

__all__ = [
    "ENDINGS",
    "ClipOption",
    "ColumnOption",
    "ConsistencyOption",
    "DataOption",
    "DomainOption",
    "EpsilonMaxOption",
    "EpsilonMinOption",
    "EpsilonOption",
    "EpsilonsOption",
    "FigureOption",
    "ForceOption",
    "Format",
    "FormatOption",
    "HighOption",
    "LowOption",
    "MechanismOption",
    "MechanismsOption",
    "Missing",
    "MissingOption",
    "NumberFiles",
    "OutputOption",
    "PageOption",
    "ParameterOption",
    "PeopleOption",
    "PeopleOptions",
    "PeriodOption",
    "PictureOptions",
    "PopulationOption",
    "PowerOption",
    "RepeatableSeedOption",
    "ResultOptions",
    "SeedOption",
    "SpaceOptions",
    "TitleOption",
    "UnitOption",
    "UnitPictureOptions",
    "UsualDomainOption",
    "UsualEpsilonOption",
    "UsualPeopleOption",
    "WrapOption",
    "spread",
]


class Format(enum.StrEnum):
    """How to print."""

    table = "table"
    csv = "csv"
    json = "json"


ENDINGS = {".csv": Format.csv, ".json": Format.json, ".txt": Format.table}
"""How a result is written to a file of some ending."""


class Missing(enum.StrEnum):
    """What to do with values that are missing."""

    refuse = "refuse"
    drop = "drop"


_DOMAIN_HELP = (
    "The public list of values: a size k for 0..k-1, comma-separated labels, @FILE with one label per "
    "line, or @TABLE:COLUMN."
)

# --- what is asked ---------------------------------------------------------------------

MechanismOption = Annotated[
    str | None,
    typer.Option("--mechanism", "-p", metavar="NAME", help="The mechanism.", show_default=False),
]
MechanismsOption = Annotated[
    list[str] | None,
    typer.Option("--mechanism", "-p", metavar="NAME...", help="Mechanisms, or 'all'.", show_default=False),
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", metavar="NAME=VALUE", help="A further parameter of the mechanism. Repeatable."
    ),
]
EpsilonOption = Annotated[
    float | None, typer.Option("--epsilon", "-e", help="The privacy budget.", show_default=False)
]
UsualEpsilonOption = Annotated[float, typer.Option("--epsilon", "-e", help="The privacy budget.")]
EpsilonsOption = Annotated[
    list[str] | None,
    typer.Option("--epsilon", "-e", metavar="EPS...", help="Privacy budgets.", show_default="1"),
]
EpsilonMinOption = Annotated[float, typer.Option("--eps-min", help="The smallest epsilon allowed.")]
EpsilonMaxOption = Annotated[float, typer.Option("--eps-max", help="The largest epsilon allowed.")]
DomainOption = Annotated[
    str | None,
    typer.Option("--domain", metavar="SPEC", help=_DOMAIN_HELP, show_default=False),
    Reads(file_behind_at),
]
UsualDomainOption = Annotated[
    str, typer.Option("--domain", metavar="SPEC", help=_DOMAIN_HELP), Reads(file_behind_at)
]
LowOption = Annotated[
    float | None,
    typer.Option(
        "--low",
        help="For numbers: the smallest possible value. Public, not taken from the data. With --period: "
        "where the turn begins, by default 0.",
        show_default=False,
    ),
]
HighOption = Annotated[
    float | None,
    typer.Option("--high", help="For numbers: the largest possible value.", show_default=False),
]
PeriodOption = Annotated[
    float | None,
    typer.Option(
        "--period",
        help="For circular values, such as angles: the length of one turn, such as 360.",
        show_default=False,
    ),
]
PowerOption = Annotated[
    float, typer.Option("--power", help="The power of the distance: 1 for absolute, 2 for squared error.")
]
PeopleOption = Annotated[
    int | None, typer.Option("--n", min=1, help="How many people are asked.", show_default=False)
]
UsualPeopleOption = Annotated[int, typer.Option("--n", min=1, help="How many people are asked.")]
ConsistencyOption = Annotated[
    str | None,
    typer.Option(
        "--consistency", help="Post-processing by the collector, such as norm_sub.", show_default=False
    ),
]
PopulationOption = Annotated[
    bool,
    typer.Option(
        "--population",
        help="Errors and intervals for the population that the people were drawn from, not for these "
        "people alone.",
    ),
]

# --- what is read ----------------------------------------------------------------------

DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        "-d",
        help="The people: a file of values or counts, a known set (see 'ldpkit datasets'), or a population "
        "such as zipf:k=128,n=100000.",
        show_default=False,
    ),
    Reads(files_of_people),
]
NumberFiles = Annotated[
    list[Path],
    typer.Argument(help="A file with a number for each person, or report files of 'ldpkit privatize'."),
]
ColumnOption = Annotated[
    str | None, typer.Option("--column", help="The column of a table.", show_default=False)
]
MissingOption = Annotated[
    Missing, typer.Option("--missing", help="Missing values: refuse the file, or drop and count them.")
]
ClipOption = Annotated[
    bool,
    typer.Option("--clip", help="Move numbers outside the interval to its nearest end, and say how many."),
]
WrapOption = Annotated[
    bool,
    typer.Option("--wrap", help="With --period: wrap values that lie outside the turn."),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", help="For tests: repeatable reports.", show_default=False)
]
RepeatableSeedOption = Annotated[int, typer.Option("--seed", help="Makes simulations repeatable.")]

# --- what is written -------------------------------------------------------------------

FormatOption = Annotated[Format, typer.Option("--format", help="How to print.", case_sensitive=False)]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The file to write; - is standard output.", show_default=False),
    Writes(takes_dash=True),
]
FigureOption = Annotated[
    Path | None,
    typer.Option("--figure", help="Write a .png, .svg or .pdf figure.", show_default=False),
    Writes(),
]
PageOption = Annotated[
    Path | None,
    typer.Option("--report", help="Write a self-contained .html page.", show_default=False),
    Writes(),
]
TitleOption = Annotated[
    str | None, typer.Option("--title", help="The title of the page of --report.", show_default=False)
]
UnitOption = Annotated[
    str | None,
    typer.Option(
        "--unit",
        help="What the numbers are measured in, such as years; for figures and pages.",
        show_default=False,
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]

# --- what goes together ----------------------------------------------------------------


class PeopleOptions(NamedTuple):
    """Whose values are read, and how."""

    data: DataOption = None
    column: ColumnOption = None
    missing: MissingOption = Missing.refuse


class SpaceOptions(NamedTuple):
    """Where numbers lie: an interval, or a circle."""

    low: LowOption = None
    high: HighOption = None
    period: PeriodOption = None


class ResultOptions(NamedTuple):
    """How a result is shown, and where it goes.

    Examples
    --------
    >>> ResultOptions(output=Path("risk.json")).format.value, ResultOptions().format.value
    ('json', 'table')
    """

    style: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How to print; by default a table, or what the ending of -o says.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None
    output: OutputOption = None
    force: ForceOption = False

    @property
    def format(self) -> Format:
        """What was asked for, or what the file ends in, or a table."""
        ending = "" if self.output is None else self.output.suffix.lower()
        return self.style or ENDINGS.get(ending, Format.table)


class PictureOptions(NamedTuple):
    """The figure and the page of a result."""

    figure: FigureOption = None
    report: PageOption = None
    title: TitleOption = None


class UnitPictureOptions(NamedTuple):
    """The figure and the page of a result in the user's own unit."""

    figure: FigureOption = None
    report: PageOption = None
    title: TitleOption = None
    unit: UnitOption = None


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as Typer takes it, with options that go together as one parameter each.

    When it is called, what its options read is remembered, and never written over.

    Examples
    --------
    >>> def show(n: UsualPeopleOption, space: SpaceOptions = SpaceOptions()) -> None:
    ...     print(n, space)
    >>> list(inspect.signature(spread(show)).parameters)
    ['n', 'low', 'high', 'period']
    >>> spread(show)(n=3, low=0.0, high=1.0, period=None)
    3 SpaceOptions(low=0.0, high=1.0, period=None)
    """
    hints = get_type_hints(command, include_extras=True)
    del hints["return"]
    usual = dict(zip([*hints][::-1], (command.__defaults__ or ())[::-1], strict=False))
    together = {name: hint for name, hint in hints.items() if hasattr(hint, "_fields")}

    def parameters() -> Iterator[inspect.Parameter]:
        for name, hint in hints.items():
            inner = get_type_hints(hint, include_extras=True) if name in together else {name: hint}
            defaults = hint._field_defaults if name in together else usual
            for part, told in inner.items():
                default = defaults.get(part, inspect.Parameter.empty)
                yield inspect.Parameter(
                    part, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=told
                )

    taken = {each.name: each.annotation for each in parameters()}

    @functools.wraps(command)
    def called(**given: Any) -> None:
        refuse_dash(taken, given)
        for name, hint in taken.items():
            if (how := how_read(hint)) is not None:
                remember(given[name], how)
        for name, options in together.items():
            given[name] = options(**{part: given.pop(part) for part in options._fields})
        command(**given)

    called.__signature__ = inspect.Signature(list(parameters()))  # type: ignore[attr-defined]
    return called
