"""What a target of fuzzing is, and the words for what went wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ldpkit.core.errors import LdpkitError

__all__ = ["Broken", "Target", "refused_if", "require"]


class Broken(Exception):  # noqa: N818 - a finding, not an error of the program
    """An input was taken that should have been refused, or gave what cannot be."""


@dataclass(frozen=True)
class Target:
    """A parser under test.

    Parameters
    ----------
    name : str
        What the table and the command line call it.
    seeds : callable
        Returns valid inputs, from which others are made.
    mutate : callable
        From a source of chance and an input to another input; it knows the format, and
        repairs checksums most of the time.
    check : callable
        Takes an input and an empty folder. It returns if the input is accepted and what it
        says is sound; it raises an `LdpkitError` if the input is refused, and `Broken` or
        anything else if there is a fault.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    mutate: Callable[[random.Random, bytes], bytes]
    check: Callable[[bytes, Path], None]


def require(condition: object, what: str) -> None:
    """Fail unless something holds."""
    if not condition:
        raise Broken(what)


def refused_if(condition: object, what: str) -> None:
    """Take an input for refused that is none for this target, such as JSON that no parser reads."""
    if condition:
        raise LdpkitError(what)
