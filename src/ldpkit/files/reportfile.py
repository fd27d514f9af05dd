"""Report files: stored reports with everything needed to count them.

A report file (`.ldp`) names the mechanism that made its reports, so nobody has to
remember it, and carries checksums, so damage never passes for data. All integers are
unsigned and little-endian, every CRC is the CRC-32 of zlib and PNG (polynomial
0x04C11DB7, reflected, initial and final value 0xFFFFFFFF), and nothing stands between
the parts:

```
header   4 bytes   "LDPR"
         u16       version of this layout, 1
         u32       h, the length of the description
         h bytes   the description: a JSON object in UTF-8
         u32       CRC of all bytes before
block    u32       m, the number of reports in the block, at least 1
         u32       CRC of the reports
         m * r     the reports, r bytes each, as `Mechanism.encode` makes them
...                more blocks
end      u32       0
         u64       the number of reports in the file
         u32       CRC of the 12 bytes before
```

The description has the keys `mechanism` (registered name), `parameters` (what the
mechanism's `spec` returns, and nothing else: an object of numbers, for `aaa` and
`optimal` also their table), `domain` (the size, or the array of labels), `record_length` (r) and `ldpkit`
(the version that wrote the file). How the reports were made is recorded in `randomness`
("secure", "seeded" or "unknown"), `domain_source` ("stated", "data" or "unknown") and,
for mechanisms with a memory, `devices` ("kept", "new" or "unknown"), for numbers `outside`
("refused", "moved", "wrapped" or "unknown": what was done with numbers outside); `batch`
is a random id of 128 bits as 32 hexadecimal digits, by which a copy is recognised. These
five may be missing, as in files of the first versions, and are unknown then; further keys are
ignored. A description has at most 2^28 bytes. The reports of a block have at most 2^24
bytes, unless there is only one. How reports are divided into blocks has no meaning;
`ReportWriter` fills blocks of about one megabyte. A file without an end is truncated,
whatever it holds.

Nothing in a file makes its reader write, solve or load anything. What a file needs in
memory to be counted is compared with a limit before it is taken (`ldpkit.core.limits`).
"""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from ldpkit.core.errors import FileFormatError, InvalidInputError, WriteError
from ldpkit.core.forks import process
from ldpkit.core.limits import check_memory
from ldpkit.core.provenance import UNKNOWN, Provenance, Span, new_batch
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.core.wholefile import whole_file
from ldpkit.files.reportparts import MAGIC, Reader, block, end, header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from ldpkit.core.typing import Reports
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.tally import Tally

__all__ = ["MAGIC", "ReportFile", "ReportWriter", "tally_file"]

_USUAL_BLOCK = 1 << 20
_MOST_GATHERED = 1 << 14  # blocks that are counted at once, however small they are
_ARRAYS = 3  # of counts at once while a file is counted: the sum, what is added, and a copy


class ReportWriter:
    """Writes reports of one mechanism to a file; use it in a `with` statement.

    The file appears when the statement ends. If it ends by an exception or by Ctrl-C,
    there is no file, and one of that name that was there before stays as it was. A process
    that is forked inside the statement cannot write to the file.

    Parameters
    ----------
    path : path
        The file; it is replaced if it exists.
    mechanism : Mechanism
        What makes the reports.
    provenance : Provenance, optional
        How the reports are made: with which randomness, and whether the domain is public
        or was taken from the data. What is not said is recorded as unknown.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> oracle, rng = ldpkit.GRR(["no", "yes"], epsilon=2), ldpkit.random.secure()
    >>> made = ldpkit.Provenance.of(rng, domain="stated")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ReportWriter(folder + "/poll.ldp", oracle, provenance=made) as writer:
    ...         writer.write(oracle.privatize(["yes", "no", "yes"], rng=rng))
    ...         writer.write(oracle.privatize(["no"], rng=rng))
    ...     file = ReportFile.open(folder + "/poll.ldp")
    >>> file.n, file.provenance.randomness, file.provenance.domain
    (4, 'secure', 'stated')
    """

    def __init__(
        self, path: str | Path, mechanism: Mechanism, *, provenance: Provenance | None = None
    ) -> None:
        self.path = Path(path)
        self.mechanism = mechanism
        if provenance is not None and provenance.spans:
            raise InvalidInputError(
                "reports that already belong to a batch would be counted twice from a second file: copy "
                "the file, or leave out their provenance"
            )
        self.provenance = UNKNOWN if provenance is None else provenance
        self.batch: str | None = None  # drawn with the start of the file: forked writers must not share it
        self.n = self.size = 0
        self._block_length = max(1, _USUAL_BLOCK // mechanism.report_bytes) * mechanism.report_bytes
        self._pending = bytearray()
        self._is_open, self._is_used, self._is_broken = False, False, False

    def __enter__(self) -> Self:
        if self._is_used:  # what was written before would be there a second time
            raise InvalidInputError(f"this writer has written {str(self.path)!r}: make a new ReportWriter")
        self.batch, self._process = new_batch(), process()
        start = header(self.mechanism, self.provenance, self.batch)
        with contextlib.ExitStack() as stack:
            self._stream = stack.enter_context(whole_file(self.path))
            stack.push(self._finish)
            self._stream.write(start)
            self._stack = stack.pop_all()
        self._is_open = self._is_used = True
        return self

    def write(self, reports: Reports) -> None:
        """Add some reports; refuse what the mechanism cannot have made."""
        if not self._is_open:
            raise InvalidInputError(f"{str(self.path)!r} is not open: write inside the with statement")
        if self._process != process():
            raise self._not_ours()
        data = self.mechanism.encode(reports)
        self.n += len(data) // self.mechanism.report_bytes
        self._pending += data
        length = self._block_length
        full = len(self._pending) // length * length
        self._is_broken = True  # unless all of it goes through: half a block must not become a file
        for start in range(0, full, length):
            self._stream.write(block(bytes(self._pending[start : start + length]), self.mechanism))
        del self._pending[:full]
        self._is_broken = False

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the end, unless an exception leaves the file without one."""
        self._is_open = False
        if kind is None:
            if self._process != process():
                raise self._not_ours()
            if self._is_broken:
                raise WriteError(str(self.path), "reports could not be written")
            if self._pending:
                self._stream.write(block(bytes(self._pending), self.mechanism))
            self._stream.write(end(self.n))
            self.size = self._stream.tell()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _not_ours(self) -> InvalidInputError:
        return InvalidInputError(
            f"{str(self.path)!r} was opened before this process was forked, and only the process that opened "
            "it can write it: make a ReportWriter in each process, for a file of its own"
        )


@dataclass(frozen=True)
class ReportFile:
    """A report file whose header is sound and whose blocks lead to an end.

    Make one with `ReportFile.open`. The checksums of the reports are verified whenever
    they are read.

    Parameters
    ----------
    path : Path
        The file.
    mechanism : Mechanism
        What made the reports.
    n : int
        The number of reports.
    blocks : int
        The number of blocks, and so of the arrays that `reports` yields.
    size : int
        The length of the file in bytes.
    version : int
        The version of the layout.
    written_by : str
        The version of ldpkit that wrote the file.
    provenance : Provenance
        How the reports were made, as the file tells, and which they are.
    batch : str or None
        The id of the file's reports, which its copies share; None in files without one.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ldpkit.ReportWriter(folder + "/poll.ldp", oracle) as writer:
    ...         writer.write(oracle.privatize(["yes", "no", "yes"]))
    ...     file = ReportFile.open(folder + "/poll.ldp")
    >>> file.n, file.mechanism
    (3, GRR(2, epsilon=2))
    """

    path: Path
    mechanism: Mechanism
    n: int
    blocks: int
    size: int
    version: int
    written_by: str
    provenance: Provenance = UNKNOWN
    batch: str | None = None

    @classmethod
    def open(cls, path: str | Path) -> ReportFile:
        """Read the header and walk along the blocks; refuse truncated and foreign files."""
        with Reader(path) as reader:
            told = reader.read_header()
            counts = [count for count, _ in reader.walk(told.mechanism.report_bytes)]
            n = sum(counts)
            return cls(
                reader.path,
                told.mechanism,
                n,
                len(counts),
                reader.size,
                told.version,
                told.written_by,
                _made(told.provenance, told.batch, 0, n),
                told.batch,
            )

    def reports(self, start: int = 0, stop: int | None = None) -> Iterator[Reports]:
        """Yield the reports block by block; refuse damaged ones.

        Parameters
        ----------
        start, stop : int
            The first report, and the one behind the last; blocks outside are not read.
        """
        start, stop = self._range(start, stop)
        length, first = self.mechanism.report_bytes, 0
        with Reader(self.path) as reader:
            told = reader.read_header()
            if (told.mechanism, told.batch, reader.size) != (self.mechanism, self.batch, self.size):
                raise reader.refuse("was exchanged while it was read", 0)
            for count, checksum in reader.walk(length):
                first, behind = first + count, reader.offset
                if first <= start or first - count >= stop:
                    continue
                data = reader.read(count * length)
                if zlib.crc32(data) != checksum:
                    raise reader.refuse("is damaged: the checksum of a block does not fit", behind)
                try:
                    reports = self.mechanism.decode(data)
                except FileFormatError as error:
                    what = f"holds what is no report of {self.mechanism!r}: it was written by another program"
                    raise reader.refuse(what, behind + (error.offset or 0)) from error
                yield reports[max(0, start - first + count) : stop - first + count]

    def watched(self, watch: Watch, label: str, start: int = 0, stop: int | None = None) -> Iterator[Reports]:
        """Yield the reports block by block, and let somebody watch how many pass, for a progress bar.

        What the watcher yields only says to go on: it is the file's own reports that are
        counted under the file's name.
        """
        passing: list[Reports] = []

        def lengths() -> Iterator[int]:
            for reports in self.reports(start, stop):
                passing.append(reports)
                yield len(reports)

        start, stop = self._range(start, stop)
        total = self.blocks if stop - start == self.n else None  # how many a part takes is not known before
        with watching(lengths(), total, f"{label} {self.path.name}", watch) as steps:
            for _ in steps:
                yield from passing
                passing.clear()

    def tally(self, watch: Watch = unwatched, *, start: int = 0, stop: int | None = None) -> Tally:
        """Return the tally of all reports or of some of them, reading one block at a time.

        The tally knows which reports it holds, so that tallies of different parts of a
        file add, and none is counted twice.

        Parameters
        ----------
        watch : Watch
            Sees the number of reports in each block pass.
        start, stop : int
            The first report, and the one behind the last.

        Examples
        --------
        >>> import ldpkit, tempfile
        >>> oracle = ldpkit.GRR(2, epsilon=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with ReportWriter(folder + "/a.ldp", oracle) as writer:
        ...         writer.write(oracle.privatize([0, 1] * 50))
        ...     file = ReportFile.open(folder + "/a.ldp")
        ...     early, late = file.tally(stop=60), file.tally(start=60)
        >>> (early + late).n
        100
        """
        from ldpkit.mechanisms.tally import Tally

        start, stop = self._range(start, stop)
        size = self.mechanism.tally_size
        check_memory(_ARRAYS * 8 * size, self.size, f"counting {str(self.path)!r}")
        counts = np.zeros(size, np.int64)
        n = 0
        for reports in _gathered(self.watched(watch, "counting", start, stop)):
            counts += self.mechanism.tally(reports).counts
            n += len(reports)
        if n != stop - start:
            raise InvalidInputError(
                f"the watcher stopped after {n} of the {stop - start} reports of {str(self.path)!r}"
            )
        return Tally(self.mechanism, n, counts, _made(self.provenance, self.batch, start, stop))

    def _range(self, start: int, stop: int | None) -> tuple[int, int]:
        stop = self.n if stop is None else stop
        if not 0 <= start <= stop <= self.n:
            raise InvalidInputError(f"reports {start} to {stop} are not in a file of {self.n}")
        return start, stop


def _made(provenance: Provenance, batch: str | None, start: int, stop: int) -> Provenance:
    """Return the provenance of some reports of a file."""
    return replace(provenance, spans=() if batch is None else (Span(batch, start, stop),))


def _gathered(chunks: Iterable[Reports]) -> Iterator[Reports]:
    """Yield the same reports in arrays of about a megabyte: a tally costs as much as the domain is large."""
    some: list[Reports] = []
    size = 0
    for reports in chunks:
        some.append(reports)
        size += reports.nbytes
        if size >= _USUAL_BLOCK or len(some) >= _MOST_GATHERED:
            yield np.concatenate(some)
            some, size = [], 0
    if some:
        yield np.concatenate(some)


def tally_file(path: str | Path) -> Tally:
    """Return the tally of a report file, with no more than one block of it in memory.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ldpkit.ReportWriter(folder + "/poll.ldp", oracle) as writer:
    ...         writer.write(oracle.privatize(["yes", "no", "yes"]))
    ...     tally_file(folder + "/poll.ldp").n
    3
    """
    return ReportFile.open(path).tally()
