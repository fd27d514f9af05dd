"""What several commands take: options, and how their text is read."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domain import CategoricalDomain
    from ldpkit.core.typing import Label
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.reportfile import ReportFile
    from ldpkit.mechanisms.tally import Tally

__all__ = [
    "DomainOption",
    "ForceOption",
    "ParameterOption",
    "check_output",
    "make_oracle",
    "open_collected",
    "parse_domain",
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


def parse_domain(spec: str) -> CategoricalDomain:
    """Return the domain that the user wrote.

    Labels that are all numbers become numbers, as they do in files of values.

    Examples
    --------
    >>> parse_domain("3"), parse_domain("red, green"), parse_domain("10,20")
    (CategoricalDomain(3), CategoricalDomain(['red', 'green']), CategoricalDomain([10, 20]))
    """
    from ldpkit.core.domain import CategoricalDomain

    if spec.startswith("@"):
        from ldpkit.core.readers import read_column

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


def make_oracle(
    name: str, domain: CategoricalDomain, epsilon: float | None, parameters: dict[str, float]
) -> FrequencyOracle:
    """Return the mechanism that the user named, or say what it needs."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

    kind: Any = MECHANISMS.get(name)
    if not issubclass(kind, FrequencyOracle):
        raise InvalidParameterError(f"{name} is no frequency oracle: see 'ldpkit mechanisms' for those")
    given = dict(parameters)
    if epsilon is not None:
        if "epsilon" in given:
            raise InvalidParameterError("epsilon is given twice: give --epsilon or --parameter epsilon=...")
        given["epsilon"] = epsilon
    takes = dict(inspect.signature(kind).parameters)
    takes.pop("domain", None)
    for unknown in given.keys() - takes.keys():
        raise InvalidParameterError(f"{name} has no parameter {unknown!r}: it takes {', '.join(takes)}")
    for parameter in takes.values():
        if parameter.default is parameter.empty and parameter.name not in given:
            option = "--epsilon" if parameter.name == "epsilon" else f"--parameter {parameter.name}=..."
            raise InvalidParameterError(f"{name} needs {parameter.name}: give it with {option}")
    return kind(domain, **given)  # type: ignore[no-any-return]  # issubclass above has checked it


def open_collected(path: Path) -> ReportFile | Tally:
    """Return what a file holds: reports or, if it begins with LDPT, a tally."""
    from ldpkit.mechanisms.reportfile import ReportFile
    from ldpkit.mechanisms.tally import Tally

    if path.is_file():
        with path.open("rb") as stream:
            if stream.read(4) == b"LDPT":
                try:
                    return Tally.from_bytes(path.read_bytes())
                except FileFormatError as error:
                    raise FileFormatError(f"{str(path)!r}: {error}") from error
    return ReportFile.open(path)


def check_output(path: Path, *, force: bool, inputs: list[Path]) -> None:
    """Refuse to write over a file that exists, unless told to, and over an input ever."""
    if not path.exists():
        return
    if any(each.exists() and each.samefile(path) for each in inputs):
        raise InvalidInputError(f"{str(path)!r} is also the input: choose another name for the output")
    if not force:
        raise InvalidInputError(f"{str(path)!r} exists: choose another name or add --force")
