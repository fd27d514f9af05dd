"""Reproductions: a paper's claims as code, one file a paper.

A reproduction yields claims. Each has the published number, ours with its standard
error, a verdict and a note, so that nobody has to believe either side.
"""

from __future__ import annotations

import csv
import enum
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldpkit.core.registry import Registry
from ldpkit.core.wholefile import whole_text
from ldpkit.files.spreadsheet import harmless_cell

__all__ = [
    "REPRODUCTIONS",
    "Claim",
    "Reproduction",
    "Settings",
    "Verdict",
    "in_parts",
    "reproduction",
    "save",
    "write_csv",
]


class Verdict(enum.StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    CORRECTED = "corrected"
    """The paper's number follows from a slip; ours is the right one."""
    NOT_REPRODUCED = "not reproduced"
    NO_DATA = "no data"
    """A data set or a solver is not there."""
    NOT_IN_PAPER = "not in the paper"
    """A number of ours that the paper has nothing to compare with."""
    TOO_SHORT = "too short to measure"
    """A time so short that it says nothing about speed, as in a quick run."""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper and what we found."""

    claim: str
    published: float | str | None
    ours: float | str | None
    stderr: float | None
    verdict: Verdict
    note: str = ""

    def row(self) -> dict[str, Any]:
        """Return the record: claim, published, ours, stderr, verdict, note."""
        return {**self.__dict__, "verdict": self.verdict.value}


@dataclass(frozen=True)
class Settings:
    """How to run a reproduction.

    Parameters
    ----------
    quick : bool
        Fewer repeats.
    seed : int
        What all randomness is derived from.
    folder : Path or None
        Where figures go; none are drawn without it.
    """

    quick: bool = False
    seed: int = 0
    folder: Path | None = None


@dataclass(frozen=True)
class Reproduction:
    """A paper: its title, and the function that runs its claims."""

    title: str
    run: Callable[[Settings], Iterable[Claim]]


REPRODUCTIONS: Registry[Reproduction] = Registry("reproduction", "ldpkit.papers")


def reproduction(
    name: str, title: str
) -> Callable[[Callable[[Settings], Iterable[Claim]]], Callable[[Settings], Iterable[Claim]]]:
    """Return a decorator that registers a function as the reproduction of a paper."""

    def add(run: Callable[[Settings], Iterable[Claim]]) -> Callable[[Settings], Iterable[Claim]]:
        REPRODUCTIONS.register(name)(Reproduction(title, run))
        return run

    return add


def in_parts(*parts: Callable[[Settings], Iterable[Claim]]) -> Callable[[Settings], Iterable[Claim]]:
    """Return a run that yields the claims of each part in turn, with a folder for their figures if asked."""

    def run(settings: Settings) -> Iterable[Claim]:
        if settings.folder is not None:
            settings.folder.mkdir(parents=True, exist_ok=True)
        for part in parts:
            yield from part(settings)

    return run


def save(claims: Sequence[Claim], folder: Path) -> None:
    """Write claims.csv and claims.json to a folder."""
    rows = [claim.row() for claim in claims]
    write_csv(rows, folder / "claims.csv")
    whole_text(folder / "claims.json", json.dumps(rows, indent=1) + "\n")


def write_csv(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write records with the same keys; text that a spreadsheet would run gets an apostrophe."""
    records = [{name: harmless_cell(value) for name, value in row.items()} for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_text(path, text.getvalue())


def compare(
    published: float, ours: float, stderr: float, *, rounding: float = 0.0, most: float = 3.0
) -> bool:
    """Return whether two numbers agree within `most` standard errors and the paper's rounding.

    Examples
    --------
    >>> compare(1.27, 1.30, 0.02), compare(1.27, 1.40, 0.02), compare(1.27, 1.274, 0.0, rounding=0.005)
    (True, False, True)
    """
    return math.fabs(published - ours) <= most * stderr + rounding
