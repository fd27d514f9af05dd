"""Report files: reports at rest, with all that is needed to count them.

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
mechanism's `spec` tells, and nothing else: an object of numbers, for `aaa` also its
table), `domain` (the size, or the array of labels), `record_length` (r) and `ldpkit`
(the version that wrote the file). How the reports were made stands in `randomness`
("secure", "seeded" or "unknown"), `domain_source` ("stated", "data" or "unknown") and,
for mechanisms with a memory, `devices` ("kept", "new" or "unknown"); `batch` is a random
id of 128 bits as 32 hexadecimal digits, by which a copy is recognised. These four may be
missing, as in files of the first versions, and are unknown then; further keys are
ignored. A description has at most 2**28 bytes. The reports of a block have at most 2**24 bytes, unless there is only one.
How reports are divided into blocks has no meaning; `ReportWriter` fills blocks of about
one megabyte. A file without an end is truncated, whatever it holds.

Nothing in a file makes its reader write, solve or load anything. What a file needs in
memory to be counted is compared with a limit before it is taken (`ldpkit.core.limits`).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ldpkit import __version__
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    UnknownNameError,
    WriteError,
)
from ldpkit.core.limits import check_memory
from ldpkit.core.provenance import Provenance, Span, new_batch
from ldpkit.core.wholefile import whole_file
from ldpkit.mechanisms.base import Mechanism, from_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from ldpkit.core.typing import Reports
    from ldpkit.mechanisms.tally import Tally

__all__ = ["MAGIC", "ReportFile", "ReportWriter", "tally_file"]

MAGIC = b"LDPR"
"""What every report file begins with."""

_VERSION = 1
_HEAD = struct.Struct("<4sHI")  # magic, version, length of the description
_U32 = struct.Struct("<I")
_BLOCK = struct.Struct("<II")  # number of reports, CRC of the reports
_END = struct.Struct("<IQ")  # 0, number of reports in the file; a CRC follows
_LONGEST_DESCRIPTION = 1 << 28
_LONGEST_BLOCK = 1 << 24
_USUAL_BLOCK = 1 << 20
_MOST_GATHERED = 1 << 14  # blocks that are counted at once, however small they are
_ARRAYS = (
    4  # of counts that are held at once while a file is counted: what there is, what is added, and copies
)


class ReportWriter:
    """Writes reports of one mechanism to a file; use it in a `with` statement.

    The file appears when the statement ends. If it ends by an exception or by Ctrl-C,
    there is no file, and one of that name that was there before stays as it was.

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
        self.provenance = Provenance() if provenance is None else replace(provenance, spans=())
        self.batch = new_batch()
        self.n = 0
        self._block_length = max(1, _USUAL_BLOCK // mechanism.report_bytes) * mechanism.report_bytes
        self._pending = bytearray()
        self._is_open, self._is_used, self._is_broken = False, False, False

    def __enter__(self) -> Self:
        if self._is_used:  # what was written before would be there a second time
            raise InvalidInputError(f"this writer has written {str(self.path)!r}: make a new ReportWriter")
        header = _header(self.mechanism, self.provenance, self.batch)
        with contextlib.ExitStack() as stack:
            self._stream = stack.enter_context(whole_file(self.path))
            stack.push(self._finish)
            self._stream.write(header)
            self._stack = stack.pop_all()
        self._is_open = self._is_used = True
        return self

    def write(self, reports: Reports) -> None:
        """Add some reports; refuse what the mechanism cannot have made."""
        if not self._is_open:
            raise InvalidInputError(f"{str(self.path)!r} is not open: write inside the with statement")
        data = self.mechanism.encode(reports)
        self.n += len(data) // self.mechanism.report_bytes
        self._pending += data
        length = self._block_length
        full = len(self._pending) // length * length
        self._is_broken = True  # unless all of it goes through: half a block must not become a file
        for start in range(0, full, length):
            self._write_block(bytes(self._pending[start : start + length]))
        del self._pending[:full]
        self._is_broken = False

    def _write_block(self, data: bytes) -> None:
        self._stream.write(_BLOCK.pack(len(data) // self.mechanism.report_bytes, zlib.crc32(data)) + data)

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the end, unless an exception leaves the file without one."""
        self._is_open = False
        if kind is None:
            if self._is_broken:
                raise WriteError(str(self.path), "reports could not be written")
            if self._pending:
                self._write_block(bytes(self._pending))
            end = _END.pack(0, self.n)
            self._stream.write(end + _U32.pack(zlib.crc32(end)))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _header(mechanism: Mechanism, provenance: Provenance, batch: str) -> bytes:
    description = {
        **mechanism.spec(),
        "record_length": mechanism.report_bytes,
        "ldpkit": __version__,
        **provenance.to_json(),
        "batch": batch,
    }
    text = json.dumps(description, separators=(",", ":")).encode()
    if len(text) > _LONGEST_DESCRIPTION:
        raise InvalidParameterError(
            f"the labels of {mechanism!r} fill {len(text)} bytes, at most {_LONGEST_DESCRIPTION} fit: "
            "use a domain that is a size"
        )
    head = _HEAD.pack(MAGIC, _VERSION, len(text)) + text
    return head + _U32.pack(zlib.crc32(head))


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
    """

    path: Path
    mechanism: Mechanism
    n: int
    blocks: int
    size: int
    version: int
    written_by: str
    provenance: Provenance = Provenance()
    batch: str | None = None

    @classmethod
    def open(cls, path: str | Path) -> ReportFile:
        """Read the header and walk along the blocks; refuse truncated and foreign files."""
        with _Reader(path) as reader:
            header = reader.read_header()
            counts = [count for count, _ in reader.walk(header.mechanism.report_bytes)]
            n = sum(counts)
            return cls(
                reader.path,
                header.mechanism,
                n,
                len(counts),
                reader.size,
                header.version,
                header.written_by,
                _made(header.provenance, header.batch, 0, n),
                header.batch,
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
        with _Reader(self.path) as reader:
            header = reader.read_header()
            if (header.mechanism, header.batch, reader.size) != (self.mechanism, self.batch, self.size):
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

    def tally(
        self, chunks: Iterable[Reports] | None = None, *, start: int = 0, stop: int | None = None
    ) -> Tally:
        """Return the tally of all reports or of some of them, reading one block at a time.

        The tally knows which reports it holds, so that tallies of different parts of a
        file add, and none is counted twice.

        Parameters
        ----------
        chunks : iterable of arrays, optional
            The file's own `reports()`, if somebody wants to watch them pass.
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
        for reports in _gathered(self.reports(start, stop) if chunks is None else chunks):
            counts += self.mechanism.tally(reports).counts
            n += len(reports)
        if n != stop - start:
            raise InvalidInputError(
                f"the chunks hold {n} reports, not the {stop - start} of {str(self.path)!r}"
            )
        made = _made(self.provenance, self.batch, start, stop)
        return Tally(self.mechanism, n, counts, made)

    def _range(self, start: int, stop: int | None) -> tuple[int, int]:
        stop = self.n if stop is None else stop
        if not 0 <= start <= stop <= self.n:
            raise InvalidInputError(f"reports {start} to {stop} are not in a file of {self.n}")
        return start, stop


def _made(provenance: Provenance, batch: str | None, start: int, stop: int) -> Provenance:
    """Return the provenance of some reports of a file."""
    return replace(provenance, spans=() if batch is None else (Span(batch, start, stop),))


def _gathered(chunks: Iterable[Reports]) -> Iterator[Reports]:
    """Yield the same reports in arrays of about a megabyte: each tally costs as much as the domain is large."""
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
    """Return the tally of a report file, with no more than one block of it in memory."""
    return ReportFile.open(path).tally()


def _without_waiting(path: str, flags: int) -> int:
    """Open a path at once, also where it is a pipe to which nobody writes."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@dataclass(frozen=True)
class _Header:
    """What a file says about itself before the first report."""

    mechanism: Mechanism
    version: int
    written_by: str
    provenance: Provenance
    batch: str | None


class _Reader:
    """Reads the parts of a report file in order, and knows where it is."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.offset = 0

    def __enter__(self) -> Self:
        try:
            self._stream = open(self.path, "rb", opener=_without_waiting)
        except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
            what = error.strerror if isinstance(error, OSError) else error
            raise InvalidInputError(
                f"cannot read the report file {str(self.path)!r}: {what}: check the path"
            ) from error
        status = os.fstat(self._stream.fileno())
        self.size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            self._stream.close()
            raise InvalidInputError(f"{str(self.path)!r} is not a file on a disk: save the reports first")
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def refuse(self, what: str, offset: int) -> FileFormatError:
        return FileFormatError(f"the report file {str(self.path)!r} {what}", offset=offset)

    def _refuse_truncated(self) -> FileFormatError:
        return self.refuse("is truncated: write or copy it again", self.size)

    def read(self, count: int) -> bytes:
        # The length is compared with the file before memory is asked for.
        if count > self.size - self.offset:
            raise self._refuse_truncated()
        data = self._stream.read(count)
        if len(data) < count:  # somebody shortened the file meanwhile
            raise self._refuse_truncated()
        self.offset += count
        return data

    def read_header(self) -> _Header:
        """Return what the file says about itself."""
        if self.size == 0:
            raise self.refuse("is empty: write or copy it again", 0)
        magic = self._stream.read(len(MAGIC))
        if not MAGIC.startswith(magic):
            raise self.refuse(f"is none: it does not begin with {MAGIC.decode()}", 0)
        self._stream.seek(0)
        head = self.read(_HEAD.size)
        _, version, length = _HEAD.unpack(head)
        if version != _VERSION:
            raise self.refuse(
                f"has version {version}, this ldpkit reads version {_VERSION}: install a newer ldpkit", 4
            )
        if length > _LONGEST_DESCRIPTION:
            raise self.refuse(f"is damaged: it has a description of {length} bytes", 6)
        text = self.read(length)
        (checksum,) = _U32.unpack(self.read(_U32.size))
        if zlib.crc32(head + text) != checksum:
            raise self.refuse("is damaged: the checksum of its header does not fit", self.offset - _U32.size)
        return self._describe(text, version)

    def _describe(self, text: bytes, version: int) -> _Header:
        try:
            description: Any = json.loads(text)
            mechanism = from_spec(description)
            length, written_by = description["record_length"], str(description["ldpkit"])
            provenance = replace(Provenance.from_json({**description, "spans": ()}), spans=())
            batch = description.get("batch")
            if batch is not None:
                Span(batch, 0, 0)  # refuses what is no id
        except UnknownNameError:
            raise self.refuse(
                f"is of the mechanism {description['mechanism']!r}, which is not known here: "
                "load the plugin that has it with --plugin or ldpkit.load_plugin",
                _HEAD.size,
            ) from None
        except (ValueError, TypeError, KeyError, RecursionError, ArithmeticError, LdpkitError) as error:
            raise self.refuse(f"has a description that cannot be used: {error}", _HEAD.size) from error
        if length != mechanism.report_bytes:
            raise self.refuse(
                f"has reports of {length!r} bytes, those of {mechanism!r} have {mechanism.report_bytes}: "
                "it was written with another version of the mechanism",
                _HEAD.size,
            )
        return _Header(mechanism, version, written_by, provenance, batch)

    def walk(self, record_length: int) -> Iterator[tuple[int, int]]:
        """Yield (number of reports, checksum) of each block, and check the end.

        Between two steps the caller may read the reports; what is left is skipped.
        """
        total = 0
        while True:
            start = self.offset
            (count,) = _U32.unpack(self.read(_U32.size))
            if count == 0:
                self._check_end(start, total)
                return
            (checksum,) = _U32.unpack(self.read(_U32.size))
            length = count * record_length
            if length > _LONGEST_BLOCK and count > 1:
                raise self.refuse(f"is damaged: it has a block of {length} bytes", start)
            behind = self.offset + length
            if behind > self.size:
                raise self._refuse_truncated()
            total += count
            yield count, checksum
            if self.offset < behind:
                self._stream.seek(behind)
                self.offset = behind

    def _check_end(self, start: int, total: int) -> None:
        end = _U32.pack(0) + self.read(_END.size - _U32.size)
        (checksum,) = _U32.unpack(self.read(_U32.size))
        if zlib.crc32(end) != checksum:
            raise self.refuse("is damaged: the checksum of its end does not fit", start)
        if _END.unpack(end)[1] != total:
            raise self.refuse(f"holds {total} reports but should hold {_END.unpack(end)[1]}", start)
        if self.offset < self.size:
            raise self.refuse(
                f"is damaged: {self.size - self.offset} bytes follow its end: copy it again", self.offset
            )
