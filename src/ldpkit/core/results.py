"""Results: frozen records that a terminal, a notebook, a page and a service show alike.

A result knows its rows, what holds for all of them, and how to say it: title, caption,
notes and warnings are written here once. Everything else follows from these: the JSON
envelope, the data frame, the table, the HTML and the picture.
"""

from __future__ import annotations

import abc
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ldpkit.core.frames import make_frame
from ldpkit.core.hooks import call_up
from ldpkit.core.tables import Table
from ldpkit.core.text import as_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.core.typing import Floats

__all__ = ["ENVELOPE", "TOP", "Columns", "Result", "finite", "in_columns"]

ENVELOPE = ("ldpkit", "kind", "title", "caption", "about", "rows", "notes", "warnings")
"""The keys of every result as JSON, in this order."""

TOP = 20
"""So many rows of a long result a table shows."""

Columns: TypeAlias = "Mapping[str, Sequence[Any] | Floats]"
"""Some records by column; an array where all are numbers."""

_AT_ONCE = 1024  # rows that are turned into columns together


class Result(abc.ABC):
    """What a question to ldpkit is answered with.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2.0)
    >>> estimate = oracle.tally([1] * 700 + [0] * 300).estimate()
    >>> list(estimate.to_dict())
    ['ldpkit', 'kind', 'title', 'caption', 'about', 'rows', 'notes', 'warnings']
    >>> estimate.to_dict()["kind"], len(estimate.rows())
    ('frequencies', 2)
    """

    kind: ClassVar[str]
    """What sort of result it is; figures are found by it."""

    @property
    @abc.abstractmethod
    def title(self) -> str:
        """The title above the table."""

    @property
    @abc.abstractmethod
    def caption(self) -> str:
        """The caption below the table: what the columns mean, and for whom they hold."""

    @abc.abstractmethod
    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the records, plain dictionaries with the same keys.

        Parameters
        ----------
        top : int, optional
            Only so many, the ones that matter most.
        """

    def iter_columns(self, top: int | None = None) -> Iterator[Columns]:
        """Yield the records of `rows` by column, some at a time; results with very many make them then."""
        return in_columns(self.rows(top))

    @abc.abstractmethod
    def about(self) -> dict[str, Any]:
        """Return what holds for all rows."""

    def notes(self) -> list[str]:
        """Return sentences for the reader, beside the caption."""
        return []

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting or using the numbers."""
        return ()

    def answer(self, unit: str = "") -> str:
        """Return what was found as one sentence that can be quoted, with its interval where there is one.

        Parameters
        ----------
        unit : str
            What the numbers are measured in, such as "years".
        """
        return f"{self.title}."

    def to_dict(self, **chosen: Any) -> dict[str, Any]:
        """Return the JSON envelope; an infinite number is the word "infinite", and nan is None.

        Parameters
        ----------
        chosen
            What `rows` takes, such as `top`.
        """
        return {**self.envelope(), "rows": finite(self.rows(**chosen))}

    def envelope(self) -> dict[str, Any]:
        """Return `to_dict` without rows, for who writes very many as they come."""
        from ldpkit import __version__

        told = (self.title, self.caption, self.about())
        values: tuple[Any, ...] = (__version__, self.kind, *told, [], self.notes(), list(self.warnings))
        return {name: finite(value) for name, value in zip(ENVELOPE, values, strict=True)}

    def to_json(self, **chosen: Any) -> str:
        """Return the envelope as JSON text."""
        return json.dumps(self.to_dict(**chosen), indent=2, allow_nan=False)

    def to_frame(self, backend: str = "auto", **chosen: Any) -> Any:
        """Return the rows as a data frame that narwhals understands.

        Parameters
        ----------
        backend : {"auto", "polars", "pandas", "pyarrow"}
            The library; "auto" takes the first of these that is installed.
        chosen
            What `rows` takes, such as `top`.
        """
        return make_frame(self.rows(**chosen), backend)

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return what a person sees: one table or more, of short text.

        Parameters
        ----------
        top : int, optional
            So many rows at most; None shows all.
        """
        rows, shown = self.rows(), self.rows(top)
        more = f"\n{len(shown)} of {len(rows)} rows" if len(shown) < len(rows) else ""
        return [Table.of(shown, title=self.title, caption=self.caption + more)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the main picture of the result, and return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure of pyplot, which a notebook shows.
        """
        axes: Axes = call_up("plot")(self, ax)
        return axes

    def figure(self, **options: Any) -> Figure:
        """Return a figure with all that there is to see, ready to be saved; it needs no display.

        Parameters
        ----------
        options
            `unit`: what the numbers are measured in; `narrow`: True for a phone.
        """
        figure: Figure = call_up("figure")(self, **options)
        return figure

    def page(self, **options: Any) -> str:
        """Return a self-contained HTML page of the result: answer, figure, table, and how it was made.

        Parameters
        ----------
        options
            `title`: what stands above; `unit`: what the numbers are measured in; `command`: what made it.
        """
        page: str = call_up("page")(self, **options)
        return page

    def __repr__(self) -> str:
        parts = [*map(str, self.tables()), *self.notes(), *(f"warning: {each}" for each in self.warnings)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """Return what a notebook shows; whatever stands in a label is text, not markup."""
        parts = []
        for table in self.tables():
            parts.append(f"<p><strong>{as_html(table.title)}</strong></p>" if table.title else "")
            parts.append(table.to_html() if table.rows else "")
            parts += [f"<p><small>{as_html(line)}</small></p>" for line in table.caption.splitlines()]
        told = [*self.notes(), *(f"warning: {each}" for each in self.warnings)]
        if told:
            parts.append("<ul>" + "".join(f"<li>{as_html(each)}</li>" for each in told) + "</ul>")
        return f'<div class="ldpkit-result">{"".join(parts)}</div>'


def in_columns(rows: Iterable[Mapping[str, Any]]) -> Iterator[Columns]:
    """Yield records with the same keys by column, many at a time; of no records, once no columns.

    Examples
    --------
    >>> list(in_columns([{"value": "bus", "n": 3}, {"value": "car", "n": 4}]))
    [{'value': ['bus', 'car'], 'n': [3, 4]}]
    """
    coming = iter(rows)
    some = list(itertools.islice(coming, _AT_ONCE))
    if not some:
        yield {}
    while some:
        yield {name: [row[name] for row in some] for name in some[0]}
        some = list(itertools.islice(coming, _AT_ONCE))


def finite(value: Any) -> Any:
    """Return the same as plain data that JSON has words for: an epsilon may be infinite.

    Examples
    --------
    >>> finite({"epsilon": math.inf, "low": [-math.inf, math.nan, 1.5]})
    {'epsilon': 'infinite', 'low': ['-infinite', None, 1.5]}
    """
    if isinstance(value, Mapping):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "infinite" if value > 0 else "-infinite"
    return value
