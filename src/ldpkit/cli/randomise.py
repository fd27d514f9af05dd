"""What `ldpkit privatize` does with a column: categories, numbers, angles, and the two phases of AAA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ldpkit.cli.circles import as_angles, wrapped_in_words
from ldpkit.cli.inputs import as_numbers, dropped_in_words, moved_in_words
from ldpkit.cli.making import (
    is_for_numbers,
    make_circular,
    make_numeric,
    make_oracle,
    read_mechanism,
    refuse_circular,
)
from ldpkit.cli.memory import Memory
from ldpkit.cli.options import Missing
from ldpkit.cli.tallies import open_collected
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import numpy as np

    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.domains.circle import CircleDomain
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.provenance import Provenance
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats, Reports
    from ldpkit.files.pieces import Piece
    from ldpkit.files.readers import ColumnStream
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = [
    "Request",
    "Work",
    "fitting",
    "randomise_angles",
    "randomise_categories",
    "randomise_described",
    "randomise_numbers",
]

_AUTO = "auto"


def fitting(name: str) -> Literal["aaa", "auto"] | None:
    """Return how a mechanism is fitted to a description of the data; None if it is not.

    Examples
    --------
    >>> fitting("auto"), fitting("aaa"), fitting("pm")
    ('auto', 'aaa', None)
    """
    from ldpkit.mechanisms.base import MECHANISMS

    if name.lower() == _AUTO:  # no mechanism, but the best one for what is described
        return "auto"
    return "aaa" if MECHANISMS.get(name).can("fitted") else None


@dataclass(frozen=True)
class Request:
    """What the user asked for: a mechanism by name, and the column to randomise."""

    mechanism: str
    epsilon: float | None
    parameters: dict[str, str]
    values: Path
    column: str | None
    missing: Missing
    rng: RandomSource
    memory: Memory

    def read(self, values: Collection[str] = ()) -> Piece:
        """Return the column; of known values, a first line that is one of them is no header."""
        from ldpkit.files.readers import read_cells

        if self.memory.ids is not None and self.missing is Missing.drop:
            raise InvalidParameterError(
                "each value needs its id: remove rows with missing values from the table, and leave out "
                "--missing"
            )
        return read_cells(self.values, self.column, missing=self.missing.value, values=values)

    def stream(self, values: Collection[str] = ()) -> ColumnStream:
        """Return the column, to be gone through once, a piece at a time; `values` as for `read`."""
        from ldpkit.files.readers import ColumnStream

        return ColumnStream(self.values, self.column, missing=self.missing.value, values=values)

    def header_note(self, values: Collection[str] = ()) -> list[str]:
        """Return that a single column's first line was taken as its header, where nobody named the column."""
        from ldpkit.files.readers import column_names

        if self.column is not None or self.values.suffix.lower() == ".parquet":
            return []
        names = column_names(self.values, values=values)
        if len(names) != 1:
            return []
        return [f"note: the first line of {str(self.values)!r}, {names[0]!r}, was taken as the header"]


@dataclass(frozen=True)
class Work:
    """Reports to be made, chunk by chunk, and what to tell the user once they are."""

    mechanism: FrequencyOracle | NumericMechanism | CircularMechanism
    chunks: Iterator[Reports]
    notes: Iterable[str] = ()
    devices: str | None = None
    """What is recorded about devices with memory: "new" or "kept"."""
    domain_source: str = "stated"
    outside: str | None = None
    """What is recorded about numbers outside: "moved", "wrapped" or "refused"."""

    def provenance(self, rng: RandomSource) -> Provenance:
        """Return what is recorded of how the reports are made."""
        from ldpkit.core.provenance import Provenance

        return Provenance.of(rng, domain=self.domain_source, devices=self.devices, outside=self.outside)


def randomise_categories(
    asked: Request, public: CategoricalDomain | None, *, from_data: bool = False
) -> Work:
    """Return the work on categories; their domain is public, or taken from the values if that is asked."""
    oracle = None if public is None else _oracle(asked, public)
    if oracle is None and is_for_numbers(asked.mechanism):
        raise InvalidParameterError(f"{asked.mechanism} is for numbers: give --low and --high")
    if oracle is None:
        refuse_circular(asked.mechanism)
    if oracle is None and not from_data:
        raise InvalidParameterError(
            "the domain is missing: give the public list of values with --domain, or accept with "
            "--domain-from-data that the file reveals which values exist"
        )
    known = {each for each in public.labels if isinstance(each, str)} if public and public.has_labels else ()
    if oracle is not None and asked.memory.ids is None:
        column = asked.stream(known)
        values = (_labels_of(piece, oracle.domain) for piece in column)
        chunks = column.located(asked.memory.stream(oracle, values, asked.rng))
        return Work(oracle, chunks, _Notes(column, asked.header_note(known)), asked.memory.devices)
    if asked.memory.ids is None:
        return _with_observed_domain(asked)
    cells = asked.read(known)
    data = cells.typed()
    notes = asked.header_note(known)
    if cells.dropped:
        notes.append(dropped_in_words(cells.dropped, len(data)))
    if oracle is None:
        oracle = _oracle(asked, _infer_domain(data))
        notes.append(_observed_in_words(oracle.domain))
    labels = _as_labels(data, oracle.domain)
    chunks = asked.memory.chunks(oracle, labels, asked.rng, asked.values, asked.column)
    return Work(oracle, chunks, notes, asked.memory.devices, "data" if public is None else "stated")


def _with_observed_domain(asked: Request) -> Work:
    """Return the work on categories whose domain is what the column holds; only the distinct are kept."""
    from ldpkit.files.distinct import DistinctColumn

    seen = DistinctColumn(asked.values, asked.column, missing=asked.missing.value)
    oracle = _oracle(asked, _infer_domain(seen.values))
    chunks = asked.memory.stream(oracle, seen.again(), asked.rng)
    notes = _Notes(seen.column, [*asked.header_note(), _observed_in_words(oracle.domain)])
    return Work(oracle, chunks, notes, asked.memory.devices, "data")


def _observed_in_words(domain: CategoricalDomain) -> str:
    """Return what a domain that was taken from the values gives away."""
    return (
        f"note: the domain {domain} was taken from the values and is written to the file: "
        "epsilon does not protect that these values exist, so a rare one is not hidden"
    )


def randomise_numbers(
    asked: Request, interval: IntervalDomain, *, clip: bool, bins: int | None, descriptor: Path | None
) -> Work:
    """Return the work on numbers; `bins` makes them categories for the first phase of AAA."""
    if bins is not None:
        return _describe(asked, interval, bins, clip=clip)
    return _number_work(asked, _numeric(asked, interval, descriptor), clip=clip)


def _number_work(asked: Request, mechanism: NumericMechanism, *, clip: bool) -> Work:
    asked.memory.check(mechanism)
    column = asked.stream()
    notes = _Notes(column, asked.header_note())
    numbers = _taken(column, notes, partial(as_numbers, domain=mechanism.domain, clip=clip))
    chunks = mechanism.privatize_stream(numbers, rng=asked.rng)
    return Work(mechanism, chunks, notes, outside="moved" if clip else "refused")


def randomise_angles(asked: Request, circle: CircleDomain, *, wrap: bool) -> Work:
    """Return the work on values of a circle."""
    return _angle_work(
        asked, make_circular(asked.mechanism, circle, asked.epsilon, asked.parameters), wrap=wrap
    )


def randomise_described(asked: Request, file: Path, *, clip: bool, wrap: bool) -> Work:
    """Return the work of a mechanism whose description is in a file, as 'ldpkit optimal' writes it."""
    from ldpkit.mechanisms.kinds import is_circular, is_numeric

    mechanism = read_mechanism(file)
    if is_circular(mechanism):
        if clip:
            raise InvalidParameterError("a circle has no ends: give --wrap instead of --clip")
        return _angle_work(asked, mechanism, wrap=wrap)
    if is_numeric(mechanism):
        if wrap:
            raise InvalidParameterError("an interval does not go round: give --clip instead of --wrap")
        return _number_work(asked, mechanism, clip=clip)
    raise InvalidParameterError(
        f"{str(file)!r} describes {mechanism!r}: name mechanisms for categories with -p and a --domain"
    )


def _angle_work(asked: Request, mechanism: CircularMechanism, *, wrap: bool) -> Work:
    asked.memory.check(mechanism)
    column = asked.stream()
    notes = _Notes(column, asked.header_note(), outside=wrapped_in_words)
    angles = _taken(column, notes, partial(as_angles, circle=mechanism.domain, wrap=wrap))
    chunks = mechanism.privatize_stream(angles, rng=asked.rng)
    return Work(mechanism, chunks, notes, outside="wrapped" if wrap else "refused")


def _oracle(asked: Request, domain: CategoricalDomain) -> FrequencyOracle:
    made = make_oracle(asked.mechanism, domain, asked.epsilon, asked.parameters)
    asked.memory.check(made)
    return made


def _describe(asked: Request, interval: IntervalDomain, bins: int, *, clip: bool) -> Work:
    """Return the work of the first phase: numbers rounded at random, without bias, for an oracle."""
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.mechanisms.adaptive.rounding import round_at_random

    oracle = _oracle(asked, CategoricalDomain(bins + 1))
    if asked.memory.ids is not None:
        raise InvalidParameterError(
            "--bins rounds at random at every run, which no memory follows: leave out --ids"
        )
    column = asked.stream()
    notes = _Notes(
        column,
        [
            *asked.header_note(),
            f"note: value i of 0..{bins} stands for {interval.low:g} + i * {interval.width / bins:g}",
        ],
    )
    (coins,) = asked.rng.spawn(1)
    numbers = _taken(column, notes, partial(as_numbers, domain=interval, clip=clip))
    rounded = (round_at_random(interval, some, bins, coins) for some in numbers)
    chunks = asked.memory.stream(oracle, rounded, asked.rng)
    return Work(oracle, chunks, notes, asked.memory.devices, outside="moved" if clip else "refused")


def _numeric(asked: Request, interval: IntervalDomain, descriptor: Path | None) -> NumericMechanism:
    """Return the mechanism for numbers, fitted to the reports of a first phase if they are given."""
    choice = fitting(asked.mechanism)
    if descriptor is None:
        if choice == "auto":
            raise InvalidParameterError(
                "auto chooses by reports of a first phase: give them with --descriptor, or use 'ldpkit mean'"
            )
        return make_numeric(asked.mechanism, interval, asked.epsilon, asked.parameters)
    if choice is None:
        raise InvalidParameterError(f"{asked.mechanism} is not fitted to data: leave out --descriptor")
    if asked.epsilon is None or asked.parameters:
        raise InvalidParameterError(f"{asked.mechanism} with --descriptor takes --epsilon and no --parameter")
    from ldpkit.cli.tallies import count_files
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.mechanisms.kinds import is_frequency
    from ldpkit.protocols.adaptive_mean import AdaptiveMean

    first = open_collected(descriptor).mechanism
    if not (is_frequency(first) and first.domain == CategoricalDomain(len(first.domain))):
        raise InvalidInputError(
            f"{str(descriptor)!r} holds reports of {first!r}: a descriptor needs reports made with --bins"
        )
    protocol = AdaptiveMean(interval, asked.epsilon, bins=len(first.domain) - 1, choice=choice)
    return protocol.mechanism(count_files([descriptor]))


@dataclass
class _Notes:
    """What to tell the user in the end; how many values were moved or dropped is known only then."""

    column: ColumnStream
    known: Sequence[str] = ()
    moved: int = 0
    outside: Callable[[int, int], str] = moved_in_words

    def __iter__(self) -> Iterator[str]:
        yield from self.known
        if self.moved:
            yield f"note: {self.outside(self.moved, self.column.read)}"
        if self.column.dropped:
            yield dropped_in_words(self.column.dropped, self.column.read)


def _taken(column: ColumnStream, notes: _Notes, take: Callable[..., tuple[Floats, int]]) -> Iterator[Floats]:
    """Yield a column as numbers, a piece at a time; `take` brings them within their domain."""
    for piece in column:
        numbers, moved = take(piece.typed(), place=piece)
        notes.moved += moved
        yield numbers


def _labels_of(piece: Piece, domain: CategoricalDomain) -> np.ndarray[Any, Any]:
    """Return cells as written where labels are text: there 007 is not 7, and 1 is a label, not an index."""
    return piece.text() if domain.has_labels and isinstance(domain.labels[0], str) else piece.typed()


def _infer_domain(data: np.ndarray[Any, Any]) -> CategoricalDomain:
    """Return 0..max for whole numbers, else the sorted labels."""
    import numpy as np

    from ldpkit.core.domains.categorical import CategoricalDomain

    if data.dtype.kind == "i" and data.min() >= 0:
        return CategoricalDomain(max(2, int(data.max()) + 1))
    labels = np.unique(data).tolist()
    if len(labels) < 2:
        raise InvalidInputError(
            f"all values are {labels[0]!r}, and a domain needs at least 2: give the domain with --domain"
        )
    return CategoricalDomain(labels)


def _as_labels(data: np.ndarray[Any, Any], domain: CategoricalDomain) -> np.ndarray[Any, Any]:
    """Return numbers as text where the labels are text: in a file, 1 is the label and not an index."""
    import numpy as np

    is_text = domain.has_labels and isinstance(domain.labels[0], str)
    return data.astype(np.str_) if is_text and data.dtype.kind != "U" else data
