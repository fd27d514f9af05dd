"""Loading: one name for a known set, a file or a population."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldpkit.core.errors import InvalidParameterError, UnknownNameError
from ldpkit.core.parameters import check_counts
from ldpkit.files.distinct import DistinctColumn
from ldpkit.files.readers import STANDARD_INPUT, column_names, read_cells, read_column, read_counts
from ldpkit.simulation import populations
from ldpkit.simulation.datasets.catalogue import KNOWN, KnownSet
from ldpkit.simulation.datasets.dataset import Dataset
from ldpkit.simulation.datasets.numbers import KNOWN_NUMBERS

if TYPE_CHECKING:
    from ldpkit.core.typing import DomainLike
    from ldpkit.files.pieces import Missing

__all__ = ["DEFAULT_DATA", "as_dataset", "load", "load_amounts"]

DEFAULT_DATA = "zipf:k=128,n=100000"
"""Who stands in for the people where nothing else is said."""

Kind = Literal["auto", "values", "counts"]

_FOR_A_PERSON = 16  # bytes: the index, and its copies while they are put together and counted


def load(
    name: str | Path,
    *,
    column: str | None = None,
    count: str | None = None,
    kind: Kind = "auto",
    domain: DomainLike | None = None,
    missing: Missing | None = None,
    verify: bool = True,
) -> Dataset:
    """Return a data set.

    Parameters
    ----------
    name : str or path
        A known public set ("kosarak"), the spec of a population
        ("zipf:k=128,n=100000"), a file, or "-" for standard input. A known name wins
        over a file of that name; write "./kosarak" for the file.
    column : str, optional
        The column of values in a file that is a table.
    count : str, optional
        The column of counts; makes the file a table of counts.
    kind : {"auto", "values", "counts"}
        Whether the file has a row for each person or for each value. "auto" takes a
        table whose columns are `value` and `count` for counts.
    domain : size or labels, optional
        All values that a person may hold, where the file does not show them all.
    missing : {"refuse", "drop"}, optional
        Whether people whose value is missing are refused, or left out and counted in
        `Dataset.dropped`. A table of counts must be whole.
    verify : bool
        Whether to check the checksum of a known set.

    Examples
    --------
    >>> load("uniform:k=3,n=10").counts.tolist()
    [4, 3, 3]
    """
    if kind not in ("auto", "values", "counts"):
        raise InvalidParameterError(f"kind must be auto, values or counts, got {kind!r}")
    if kind == "values" and count is not None:
        raise InvalidParameterError(f"a file of values has no counts: leave count={count!r} out, or kind")
    wanted = name.lower().replace("-", "_") if isinstance(name, str) else ""
    # os.path: a text that is too long for a name is the name of no file, but an error to a Path
    is_population = isinstance(name, str) and not os.path.exists(name) and populations.is_spec(name)  # noqa: PTH110
    if wanted in KNOWN or is_population:
        for option, given in (("column", column), ("count", count), ("domain", domain)):
            if given is not None:
                raise InvalidParameterError(f"{option} is for files: the data set {name!r} has its own")
        if wanted in KNOWN:
            return _load_known(KNOWN[wanted], verify)
        return _load_population(str(name))
    if wanted in KNOWN_NUMBERS:
        raise InvalidParameterError(
            f"{wanted} is a set of numbers, not of categories: 'ldpkit datasets prepare numbers {wanted}' "
            "writes it to a file for 'ldpkit mean' and 'ldpkit density'"
        )
    if isinstance(name, str) and not _is_path(name):
        raise UnknownNameError("data set or file", name, [*KNOWN, *populations.POPULATIONS])
    is_counts = kind == "counts" or count is not None
    if kind == "auto" and not is_counts and column in (None, "value"):
        is_counts = sorted(column_names(name)) == ["count", "value"]
    title = Path(name).name
    if is_counts:
        labels, counts = read_counts(name, column, count)
        return Dataset.from_counts(labels, counts, name=title, domain=domain, source=str(name))
    if domain is None:
        seen = DistinctColumn(name, column, missing=missing)
        seen.check_kept(_FOR_A_PERSON)
        made = Dataset.from_pieces(seen.values, seen.again(), name=title, source=str(name))
        return replace(made, dropped=seen.column.dropped) if seen.column.dropped else made
    cells = read_cells(name, column, missing=missing)
    made = Dataset.from_values(cells.typed(), name=title, domain=domain, source=str(name))
    return replace(made, dropped=cells.dropped) if cells.dropped else made


def as_dataset(data: Any, *, column: str | None = None) -> Dataset:
    """Return the people that somebody speaks of.

    Parameters
    ----------
    data : str, path, Dataset, mapping or sequence of int
        What `load` takes; a data set; how many people hold each label; or how many hold
        each of the values 0, 1, 2 and so on.
    column : str, optional
        The column of values in a file that is a table.

    Examples
    --------
    >>> as_dataset({"bus": 3, "walk": 2}), as_dataset([5, 4, 1])
    (Dataset('counts', n=5, k=2), Dataset('counts', n=10, k=3))
    """
    if isinstance(data, (str, Path)):
        return load(data, column=column)
    if column is not None:
        raise InvalidParameterError(f"column={column!r} is for files: leave it out")
    if isinstance(data, Dataset):
        return data
    if isinstance(data, Mapping):
        return Dataset.from_counts(list(data), check_counts(list(data.values()), len(data)), name="counts")
    counts = check_counts(data, np.size(data))
    return Dataset.from_counts(range(len(counts)), counts, name="counts")


def load_amounts(data: Any, *, column: str | None = None) -> Dataset:
    """Return people with amounts: a table with `amount` or `value` and `count`, or what `as_dataset` takes.

    Examples
    --------
    >>> load_amounts({0: 400, 1.5: 600}).domain.labels
    (0, 1.5)
    """
    if isinstance(data, (str, Path)):
        names = column_names(data) if os.path.isfile(data) else []  # noqa: PTH113 - as in `load`
        chosen = column or ("amount" if "amount" in names else None)
        return load(data, column=chosen, count="count" if "count" in names else None)
    return as_dataset(data, column=column)


def _is_path(name: str) -> bool:
    """Whether a text that is no known name means a file, which may be missing."""
    has_path = Path(name).suffix != "" or Path(name).name != name
    return name == STANDARD_INPUT or has_path or os.path.exists(name)  # noqa: PTH110 - as in `load`


def _load_known(known: KnownSet, verify: bool) -> Dataset:
    file, path = known.locate()
    if verify:
        file.verify(path)
    facts = {"name": known.name, "source": known.source, "licence": known.licence}
    if file.count is None:
        column = file.value if isinstance(file.value, str) else None
        return Dataset.from_values(read_column(path, column), **facts)
    labels, counts = read_counts(path, file.value, file.count)
    kept = counts >= known.least_count
    return Dataset.from_counts(
        [label for label, keep in zip(labels, kept, strict=True) if keep], counts[kept], **facts
    )


def _load_population(spec: str) -> Dataset:
    name, counts = populations.from_spec(spec)
    summary = populations.POPULATIONS.get(name).summary
    return Dataset.from_counts(range(len(counts)), counts, name=spec, source=f"population {name}: {summary}")
