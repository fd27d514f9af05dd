"""How the text of options is read: several values, domains, intervals, budgets and parameters.

Of options that take several values, `-e 0.5 1 2`, `-e 0.5,1,2` and `-e 0.5 -e 1` are the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperOption

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.text import decimal_comma, listed

if TYPE_CHECKING:
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.domains.circle import CircleDomain
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Label

__all__ = [
    "ManyValuesCommand",
    "domain_file",
    "parse_budgets",
    "parse_circle",
    "parse_domain",
    "parse_interval",
    "parse_numbers",
    "parse_parameters",
    "parse_shares",
    "refuse_options",
    "split",
]


class ManyValuesCommand(TyperCommand):
    """A command without arguments whose repeatable options also take values in a row."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, then parse as usual."""
        names = {
            name
            for parameter in self.params
            if isinstance(parameter, TyperOption) and parameter.multiple
            for name in parameter.opts
        }
        spread: list[str] = []
        current = ""
        values = 0
        for word in args:
            if word.startswith("-") and word != "-":
                current, values = (word, 0) if word in names else ("", 0)
                spread.append(word)
            elif current and values:
                spread += [current, word]
            else:
                values += 1
                spread.append(word)
        return super().parse_args(ctx, spread)


def split(values: Sequence[str]) -> list[str]:
    """Return the values of an option with commas taken apart.

    Examples
    --------
    >>> split(["grr,olh", "ss"])
    ['grr', 'olh', 'ss']
    """
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


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
        return CategoricalDomain(_read_labels(spec[1:]))
    if "," not in spec:
        try:
            return CategoricalDomain(int(spec))
        except ValueError as error:
            if isinstance(error, InvalidParameterError):
                raise
            raise InvalidParameterError(
                f"the domain {spec!r} is not a size: give a size, comma-separated labels, or @FILE"
            ) from None
    labels = [label.strip() for label in spec.split(",")]
    if "" in labels:
        raise InvalidParameterError(
            f"label {labels.index('') + 1} of the domain {spec!r} is empty: remove a comma or give it a name"
        )
    return CategoricalDomain(_typed(labels))


def domain_file(spec: str | None) -> str | None:
    """Return the file that a domain is read from, if it is read from one.

    Examples
    --------
    >>> domain_file("@places.csv:name"), domain_file("red,green")
    ('places.csv', None)
    """
    return _file_and_column(spec[1:])[0] if spec is not None and spec.startswith("@") else None


def _file_and_column(place: str) -> tuple[str, str]:
    file, colon, column = place.rpartition(":")
    if not colon or os.path.exists(place):  # noqa: PTH110  # a Path raises an error where a name is too long
        return place, ""
    return file, column


def _read_labels(place: str) -> list[Label]:
    """Return the labels in a list, in the only column of a table, or in the column behind a colon."""
    from ldpkit.files.readers import column_names, read_column

    file, column = _file_and_column(place)
    names = column_names(file)
    if not column and len(names) > 1:
        raise InvalidParameterError(
            f"{file!r} has several columns: write --domain @{file}:COLUMN with one of {listed(names)}"
        )
    labels: list[Label] = read_column(file, column or None).tolist()
    return labels


def _typed(labels: list[str]) -> list[Label]:
    for kind in (int, float):
        try:
            return [kind(label) for label in labels]
        except ValueError:
            continue
    return list(labels)


def parse_parameters(texts: list[str] | None) -> dict[str, str]:
    """Return the names and values in `name=value` texts; who declares a parameter knows what it may be.

    Examples
    --------
    >>> parse_parameters(["buckets=8", "epsilon_inf=2.5"])
    {'buckets': '8', 'epsilon_inf': '2.5'}
    """
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InvalidParameterError(f"the parameter {text!r} has no value: write NAME=VALUE")
        if name in found:
            raise InvalidParameterError(f"the parameter {name!r} is given twice: give it once")
        found[name] = value
    return found


def parse_numbers(texts: list[str] | None) -> dict[str, float]:
    """Return the parameters in `name=value` texts, all of which are numbers.

    Examples
    --------
    >>> parse_numbers(["g=6", "tolerance=0.5"])
    {'g': 6, 'tolerance': 0.5}
    """
    found: dict[str, float] = {}
    for name, value in parse_parameters(texts).items():
        try:
            found[name] = int(value) if value.lstrip("+-").isdecimal() else float(value)
        except ValueError:
            raise InvalidParameterError(
                f"the parameter {name!r} must be a number, got {value!r}{decimal_comma(value)}"
            ) from None
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
        raise InvalidParameterError(f"{missing} is missing: an interval needs it as well as {there}")
    from ldpkit.core.domains.interval import IntervalDomain

    return IntervalDomain(low, high)


def parse_circle(
    low: float | None, high: float | None, period: float | None, *, clip: bool = False, wrap: bool = False
) -> CircleDomain | None:
    """Return the circle that the user gave, or None without --period.

    Examples
    --------
    >>> parse_circle(-180, None, 360), parse_circle(0, 120, None)
    (CircleDomain(360, low=-180), None)
    >>> parse_circle(0, 360, 360)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a circle ends where it begins: leave out --high, or leave out \
--period for an interval
    """
    if period is None:
        if wrap:
            raise InvalidParameterError("--wrap goes round a circle: give its --period, or leave out --wrap")
        return None
    if high is not None:
        raise InvalidParameterError(
            "a circle ends where it begins: leave out --high, or leave out --period for an interval"
        )
    if clip:
        raise InvalidParameterError("a circle has no ends to move values to: give --wrap instead of --clip")
    from ldpkit.core.domains.circle import CircleDomain

    return CircleDomain(period, 0.0 if low is None else low)


def parse_budgets(texts: Sequence[str]) -> list[float]:
    """Return the epsilons that the user listed.

    Examples
    --------
    >>> parse_budgets(["0.5,1", "2"])
    [0.5, 1.0, 2.0]
    >>> parse_budgets(["0,5"])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: '0,5' contains an epsilon of 0, since a comma separates \
budgets: a decimal has a point: write 0.5
    """
    for text in texts:
        if re.fullmatch(r"0,\d+", text.strip()):
            raise InvalidParameterError(
                f"{text!r} contains an epsilon of 0, since a comma separates budgets{decimal_comma(text)}"
            )
    return [_number(text, "epsilon") for text in split(texts)]


def parse_shares(texts: Sequence[str], what: str) -> list[float]:
    """Return listed numbers strictly between 0 and 1.

    Examples
    --------
    >>> parse_shares(["0.25,0.5"], "a quantile")
    [0.25, 0.5]
    """
    shares = [_number(text, what) for text in split(texts)]
    for share in shares:
        if not 0 < share < 1:
            raise InvalidParameterError(f"{what} lies strictly between 0 and 1, got {share:g}")
    return shares


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(f"{what} must be a number, got {text!r}") from None


def refuse_options(why: str, **options: object) -> None:
    """Refuse the first option that was given although it does not apply.

    Examples
    --------
    >>> refuse_options("a file says itself what made it", epsilon=None, at_most=0.1)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a file says itself what made it: leave out --at-most
    """
    for name, given in options.items():
        if given is not None and given is not False and given != []:
            raise InvalidParameterError(f"{why}: leave out --{name.replace('_', '-')}")
