"""What several commands take: options, and how their text is read."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats, Label
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.files.tables import Piece
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.tally import Tally

__all__ = [
    "ClipOption",
    "ColumnOption",
    "DomainOption",
    "EpsilonOption",
    "FigureOption",
    "ForceOption",
    "HighOption",
    "LowOption",
    "ParameterOption",
    "SeedOption",
    "as_numbers",
    "check_figure",
    "check_output",
    "check_outputs",
    "is_numeric",
    "make_numeric",
    "make_oracle",
    "open_collected",
    "parse_domain",
    "parse_interval",
    "parse_parameters",
]

DomainOption = Annotated[
    str | None,
    typer.Option(
        "--domain",
        metavar="SPEC",
        help="The public list of values: a size for 0..k-1, labels with commas between, "
        "or @FILE with one label on each line.",
        show_default=False,
    ),
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", metavar="NAME=VALUE", help="A further parameter of the mechanism. Repeatable."
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]
FigureOption = Annotated[
    Path | None, typer.Option("--figure", help="Write a .png, .svg or .pdf figure.", show_default=False)
]
LowOption = Annotated[
    float | None,
    typer.Option(
        "--low", help="The least number that is possible. Public: not from the data.", show_default=False
    ),
]
HighOption = Annotated[
    float | None,
    typer.Option("--high", help="The greatest number that is possible.", show_default=False),
]
ClipOption = Annotated[
    bool, typer.Option("--clip", help="Move numbers outside to the nearest end; it is told how many.")
]
ColumnOption = Annotated[
    str | None, typer.Option("--column", help="The column of a table.", show_default=False)
]
EpsilonOption = Annotated[
    float | None, typer.Option("--epsilon", "-e", help="The privacy budget.", show_default=False)
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", help="For tests: repeatable reports.", show_default=False)
]


def parse_domain(spec: str) -> CategoricalDomain:
    """Return the domain that the user wrote.

    Labels that are all numbers become numbers, as they do in files of values.

    Examples
    --------
    >>> parse_domain("3"), parse_domain("red, green"), parse_domain("10,20")
    (CategoricalDomain(3), CategoricalDomain(['red', 'green']), CategoricalDomain([10, 20]))
    """
    from ldpkit.core.domains.categorical import CategoricalDomain

    if spec.startswith("@"):
        from ldpkit.files.readers import read_column

        return CategoricalDomain(read_column(spec[1:]).tolist())
    if "," not in spec:
        try:
            return CategoricalDomain(int(spec))
        except ValueError as error:
            if isinstance(error, InvalidParameterError):
                raise
            raise InvalidParameterError(
                f"the domain {spec!r} is no size: give a size, labels with commas between, or @FILE"
            ) from None
    labels = [label.strip() for label in spec.split(",")]
    if "" in labels:
        raise InvalidParameterError(
            f"label {labels.index('') + 1} of the domain {spec!r} is empty: remove a comma or give it a name"
        )
    return CategoricalDomain(_typed(labels))


def _typed(labels: list[str]) -> list[Label]:
    for kind in (int, float):
        try:
            return [kind(label) for label in labels]
        except ValueError:
            continue
    return list(labels)


def parse_parameters(texts: list[str] | None) -> dict[str, float]:
    """Return the parameters in `name=value` texts.

    Examples
    --------
    >>> parse_parameters(["buckets=8", "epsilon_inf=2.5"])
    {'buckets': 8, 'epsilon_inf': 2.5}
    """
    found: dict[str, float] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InvalidParameterError(f"the parameter {text!r} has no value: write NAME=VALUE")
        if name in found:
            raise InvalidParameterError(f"the parameter {name!r} is given twice: give it once")
        try:
            found[name] = int(value) if value.lstrip("+-").isdecimal() else float(value)
        except ValueError:
            raise InvalidParameterError(f"the parameter {name!r} must be a number, got {value!r}") from None
    return found


def parse_interval(low: float | None, high: float | None) -> IntervalDomain | None:
    """Return the interval that the user gave, or None without --low and --high.

    Examples
    --------
    >>> parse_interval(0, 120), parse_interval(None, None)
    (IntervalDomain(0, 120), None)
    """
    if low is None and high is None:
        return None
    if low is None or high is None:
        missing, there = ("--low", "--high") if low is None else ("--high", "--low")
        raise InvalidParameterError(f"{missing} is missing: {there} alone makes no interval")
    from ldpkit.core.domains.interval import IntervalDomain

    return IntervalDomain(low, high)


def as_numbers(
    data: np.ndarray[Any, Any], domain: IntervalDomain, *, clip: bool, place: Piece | None = None
) -> tuple[Floats, int]:
    """Return a column as numbers of the interval, and how many were moved to its ends.

    `place` knows where in a file the data stand; without it they begin in row 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpkit.core.domains.interval import IntervalDomain
    >>> as_numbers(np.array([1, 7]), IntervalDomain(0, 5), clip=True)
    (array([1., 5.]), 1)
    >>> as_numbers(np.array([1, 7]), IntervalDomain(0, 5), clip=False)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: row 2: value 7.0 is not in the interval [0, 5]: remove it, \
widen --low and --high, or move it to the nearest end with --clip
    """

    def refuse(row: int, why: str) -> NoReturn:
        where = f"row {row + 1}" if place is None else place.place(row)
        raise OutOfDomainError(f"{where}: {why}")

    if data.dtype.kind == "U":
        from ldpkit.files.tables import is_number, shortened

        row = next((row for row, cell in enumerate(data.tolist()) if not is_number(cell)), 0)
        refuse(row, f"value {shortened(data[row])} is not a number: remove it")
    numbers, outside = domain.clip(data)
    if outside and not clip:
        import numpy as np

        row = int(np.argmax((data < domain.low) | (data > domain.high)))
        refuse(
            row,
            f"value {float(data[row])!r} is not in the interval {domain}: remove it, "
            "widen --low and --high, or move it to the nearest end with --clip",
        )
    return numbers, outside


def is_numeric(name: str) -> bool:
    """Whether a mechanism takes numbers of an interval."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

    return issubclass(MECHANISMS.get(name), NumericMechanism)


def make_oracle(
    name: str, domain: CategoricalDomain, epsilon: float | None, parameters: dict[str, float]
) -> FrequencyOracle:
    """Return the frequency oracle that the user named, or say what it needs."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

    if is_numeric(name):
        raise InvalidParameterError(f"{name} is for numbers: give the interval with --low and --high")
    kind = MECHANISMS.get(name)
    if not issubclass(kind, FrequencyOracle):
        raise InvalidParameterError(f"{name} is no frequency oracle: see 'ldpkit mechanisms' for those")
    return kind(domain, **_checked(name, kind, epsilon, parameters))


def make_numeric(
    name: str, domain: IntervalDomain, epsilon: float | None, parameters: dict[str, float]
) -> NumericMechanism:
    """Return the numeric mechanism that the user named, or say what it needs."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

    kind: Any = MECHANISMS.get(name)
    if not issubclass(kind, NumericMechanism):
        raise InvalidParameterError(
            f"{name} is for categories, not for numbers: see 'ldpkit mechanisms --kind numeric'"
        )
    made: NumericMechanism = kind(domain, **_checked(name, kind, epsilon, parameters))
    return made


def _checked(
    name: str, kind: type[Mechanism], epsilon: float | None, parameters: dict[str, float]
) -> dict[str, Any]:
    """Return the parameters of a mechanism, or say which is missing or unknown."""
    given: dict[str, Any] = dict(parameters)
    if epsilon is not None:
        if "epsilon" in given:
            raise InvalidParameterError("epsilon is given twice: give --epsilon or --parameter epsilon=...")
        given["epsilon"] = epsilon
    takes = {
        each.name: each
        for each in inspect.signature(kind).parameters.values()
        if each.name != "domain" and _takes_number(each)
    }
    for unknown in given.keys() - takes.keys():
        raise InvalidParameterError(f"{name} has no parameter {unknown!r}: it takes {', '.join(takes)}")
    for parameter in takes.values():
        if parameter.default is parameter.empty and parameter.name not in given:
            option = "--epsilon" if parameter.name == "epsilon" else f"--parameter {parameter.name}=..."
            raise InvalidParameterError(f"{name} needs {parameter.name}: give it with {option}")
    return given


def _takes_number(parameter: inspect.Parameter) -> bool:
    """Whether a parameter can be given on the command line; tables and paths cannot."""
    return parameter.annotation in (parameter.empty, int, float) or {"int", "float"} >= {
        part.strip() for part in str(parameter.annotation).split("|") if part.strip() != "None"
    }


def open_collected(path: Path) -> ReportFile | Tally:
    """Return what a file holds: reports or, if it begins with LDPT, a tally."""
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.tally import MAGIC, Tally

    if path.is_file():
        with path.open("rb") as stream:
            if stream.read(4) == MAGIC:
                try:
                    return Tally.from_bytes(path.read_bytes())
                except FileFormatError as error:
                    raise FileFormatError(f"{str(path)!r}: {error}") from error
    return ReportFile.open(path)


def check_output(path: Path, *, force: bool, inputs: Sequence[str | Path | None]) -> None:
    """Refuse a place that cannot be written to, a file that exists, unless told to, and an input ever."""
    from ldpkit.core.wholefile import check_target

    target = check_target(path)
    if not target.exists():
        return
    if any(each is not None and os.path.exists(each) and target.samefile(each) for each in inputs):  # noqa: PTH110
        raise InvalidInputError(f"{str(path)!r} is also the input: choose another name for the output")
    if not force:
        raise InvalidInputError(f"{str(path)!r} exists: choose another name or add --force")


def check_outputs(
    outputs: Mapping[str, Path | None], *, force: bool, inputs: Sequence[str | Path | None]
) -> None:
    """Check the files that options name, and that no two options name the same."""
    from ldpkit.core.wholefile import check_target

    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is not None:
            check_output(path, force=force, inputs=inputs)
            other = taken.setdefault(check_target(path), option)
            if other != option:
                raise InvalidInputError(f"{str(path)!r} is both {other} and {option}: choose two names")


def check_figure(figure: Path | None, *, force: bool, inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse a figure that could not be drawn or written, before any work is done."""
    if figure is not None:
        from ldpkit.figures.canvas import check_figure_path

        check_figure_path(figure)
        check_output(figure, force=force, inputs=inputs)
