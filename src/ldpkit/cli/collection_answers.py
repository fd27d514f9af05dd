"""What `ldpkit collection new` asks for: an answer that cannot be read is asked for again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ldpkit.cli.parsing import parse_domain
from ldpkit.cli.printing import note
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.text import decimal_comma

if TYPE_CHECKING:
    from ldpkit.core.domains.base import Domain

__all__ = ["Answers", "read_error", "read_number", "read_people", "read_space"]

T = TypeVar("T")


class Answers:
    """Takes what options did not say from the user, or refuses where nothing may be asked."""

    def __init__(self, may_ask: bool) -> None:
        self._may_ask = may_ask

    def take(self, given: str | None, question: str, option: str, check: Callable[[Any, str], str]) -> str:
        """Return what an option says or else the user; `check` names the option in what it refuses."""
        if given is not None:
            return check(given, option)
        if not self._may_ask:
            raise InvalidParameterError(f"{question} Give {option}, or leave out --question to be asked")
        return self.ask(question, lambda answer: check(answer, "the answer"))

    def ask(self, question: str, read: Callable[[str], T], **options: Any) -> T:
        """Return the answer to a question, asked again until it can be read."""
        while True:
            answer = self._prompt(question, **options)
            try:
                return read(answer)
            except LdpkitError as error:
                note(str(error))
            except OSError as error:  # of a file with labels
                note(f"{error.filename}: {error.strerror}")

    @staticmethod
    def _prompt(question: str, **options: Any) -> str:
        try:
            return str(typer.prompt(question, err=True, prompt_suffix=" ", **options)).strip()
        except typer.Abort:
            raise InvalidInputError(f"{question} There was no answer: nothing was written") from None


def read_number(text: str) -> float:
    """Return a number, or refuse the text.

    Examples
    --------
    >>> read_number("0,5")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: '0,5' is not a number: a decimal has a point: write 0.5
    """
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(f"{text.strip()!r} is not a number{decimal_comma(text)}") from None


def read_people(text: str) -> int:
    """Return a number of people, or refuse the text."""
    from ldpkit.core.parameters import check_people

    number = read_number(text)
    if not number.is_integer():
        raise InvalidParameterError(f"{text!r} is not a whole number of people")
    return check_people(int(number), "the number of people")


def read_error(text: str, space: Domain) -> float:
    """Return how far off a result may be; a share may be a percentage.

    Examples
    --------
    >>> from ldpkit.core.domains.categorical import CategoricalDomain
    >>> read_error("1.1%", CategoricalDomain(2)), read_error("0.02", CategoricalDomain(2))
    (0.011, 0.02)
    """
    if not text.endswith("%"):
        return read_number(text)
    if space.size is None:
        raise InvalidParameterError(
            f"{text!r} is a share, but the answers have a unit: say how far off in it"
        )
    return round(read_number(text[:-1]) / 100, 12)  # as it would be written


def read_space(text: str) -> Domain:
    """Return the values that can be answered: labels, a range of numbers or a circle.

    Examples
    --------
    >>> read_space("walk,bike"), read_space("0..180"), read_space("circle 24")
    (CategoricalDomain(['walk', 'bike']), IntervalDomain(0, 180), CircleDomain(24))
    >>> read_space("0-180")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: '0-180' cannot be read: for numbers write 0..180
    """
    from ldpkit.core.domains.circle import CircleDomain
    from ldpkit.core.domains.interval import IntervalDomain

    if text.startswith("circle "):
        return CircleDomain(read_number(text.removeprefix("circle ")))
    low, dots, high = text.partition("..")
    if dots:
        return IntervalDomain(read_number(low), read_number(high))
    if found := re.fullmatch(r"(-?[\d.]+)\s*(?:-|\u2013|to)\s*(-?[\d.]+)", text):
        raise InvalidParameterError(f"{text!r} cannot be read: for numbers write {found[1]}..{found[2]}")
    if "," not in text and not text.isdecimal() and not text.startswith("@"):
        raise InvalidParameterError(
            f"{text!r} is one label: give several, separated by commas; for numbers write LOW..HIGH, such as "
            "0..180"
        )
    return parse_domain(text)
