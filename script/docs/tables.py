"""Reads the tables of a Markdown page, so that a figure shows the numbers that the page states."""

from __future__ import annotations

import re

Table = list[list[str]]

_RULE = re.compile(r"^\|[\s|:-]+\|$")
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


def tables(markdown: str) -> list[Table]:
    """Return every table as rows of cells, the heading first."""
    found: list[Table] = []
    inside = False
    for line in markdown.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        if not inside:
            found.append([])
            inside = True
        if not _RULE.match(line):
            found[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return found


def table_with(markdown: str, *headings: str) -> Table:
    """Return the one table whose heading has all these words."""
    fitting = [table for table in tables(markdown) if all(word in table[0] for word in headings)]
    if len(fitting) != 1:
        raise LookupError(f"{len(fitting)} tables have the columns {', '.join(headings)}: a figure needs one")
    return fitting[0]


def numbers(cell: str) -> list[float]:
    """Return the numbers in a cell, as they stand there."""
    return [float(word.replace(",", "")) for word in _NUMBER.findall(cell)]


def number(cell: str) -> float | None:
    """Return the first number in a cell, or None."""
    found = numbers(cell)
    return found[0] if found else None
