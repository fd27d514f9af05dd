"""Tables of short text: what a person sees of a result, in a terminal, a notebook or a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldpkit.core.numbertext import number_text, rounded
from ldpkit.core.text import as_html, text_table

__all__ = ["Table", "cell_text", "flat"]

_WIDTH = 110
_ENDS = {"low": False, "high": True}  # columns of the ends of intervals, and whether they are rounded up


@dataclass(frozen=True)
class Table:
    """A table as text: what stands above it, its columns and cells, and what stands below.

    Parameters
    ----------
    title, caption : str
        What stands above and below.
    header, rows : sequences of str
        The columns and the cells.
    right : sequence of bool
        Which columns are aligned on the right, as numbers are.

    Examples
    --------
    >>> rows = [{"value": "bus", "share": 0.512345}, {"value": "walk", "share": None}]
    >>> table = Table.of(rows, title="Ways")
    >>> print(table)
    Ways
    value   share
    ─────────────
    bus    0.5123
    walk
    >>> Table.of([{"value": "<b>"}]).to_html()
    '<table><thead><tr><th>value</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    caption: str = ""

    @classmethod
    def of(
        cls,
        rows: Sequence[Mapping[str, Any]],
        *,
        title: str = "",
        caption: str = "",
        best: Mapping[int, str] | None = None,
    ) -> Table:
        """Return the table of records with the same keys; columns that are empty throughout are left out.

        Parameters
        ----------
        rows : sequence of mappings
            The records.
        title, caption : str
            What stands above and below.
        best : mapping, optional
            For a row number, the column to mark with a star.
        """
        marked = best or {}
        header = [
            name for name in (rows[0] if rows else ()) if any(row[name] not in (None, "") for row in rows)
        ]
        cells = tuple(
            tuple(
                cell_text(_rounded(name, row)) + ("*" if marked.get(index) == name else "") for name in header
            )
            for index, row in enumerate(rows)
        )
        right = tuple(all(_is_number(row[name]) for row in rows) for name in header)
        return cls(title, tuple(header), cells, right, caption)

    def without(self, column: str) -> Table:
        """Return the table without a column, if it has that.

        Examples
        --------
        >>> print(Table.of([{"value": "bus", "seconds": 0.2}]).without("seconds"))
        value
        ─────
        bus
        """
        kept = [place for place, name in enumerate(self.header) if name != column]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        header = tuple(self.header[place] for place in kept)
        return dataclasses.replace(
            self, header=header, rows=rows, right=tuple(self.right[place] for place in kept)
        )

    def to_html(self) -> str:
        """Return the table alone as HTML; a cell is text, whatever stands in it."""
        head = "".join(
            self._html_cell(name, right, "th") for name, right in zip(self.header, self.right, strict=True)
        )
        body = "".join("<tr>" + "".join(map(self._html_cell, row, self.right)) + "</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @staticmethod
    def _html_cell(text: str, right: bool, tag: str = "td") -> str:
        style = ' style="text-align: right"' if right else ""
        return f"<{tag}{style}>{as_html(text)}</{tag}>"

    def __str__(self) -> str:
        lines = list(text_table(self.header, self.rows, right=self.right, width=_WIDTH)) if self.rows else []
        above, below = (
            [cell_text(line) for line in text.split("\n") if line] for text in (self.title, self.caption)
        )
        return "\n".join([*above, *lines, *below])


_PLAIN = (float, int, str)


def _rounded(column: str, row: Mapping[str, Any]) -> Any:
    """Return a cell; the ends of an interval are rounded outwards, or it would cover less often."""
    value, is_bin = row[column], next(iter(row)) in _ENDS  # its edges come first, for they are its name
    return (
        rounded(value, up=_ENDS[column])
        if column in _ENDS and isinstance(value, float) and not is_bin
        else value
    )


def cell_text(value: Any) -> str:
    r"""Return a value as short text that cannot steer a terminal, as a label could.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(None), cell_text("\x1b[2J"), cell_text(["a", "b"])
    ('0.1235', '', '\\x1b[2J', 'a, b')
    """
    if isinstance(value, float):
        return number_text(value)
    text = "" if value is None else str(flat(value))
    return text if text.isprintable() else repr(text)[1:-1]


def flat(value: Any) -> Any:
    """Return lists and mappings as text for one cell.

    Examples
    --------
    >>> flat({"low": 0, "high": 1}), flat([1, 2]), flat(3)
    ('low=0, high=1', '1, 2', 3)
    """
    if type(value) in _PLAIN:  # nearly all are, of a million rows
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))
