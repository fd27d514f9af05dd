"""The parts of a report file, written and read: header, blocks and end, as `reportfile` describes them."""

from __future__ import annotations

import json
import os
import stat
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ldpkit import __version__
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    UnknownNameError,
)
from ldpkit.core.provenance import Provenance, Span
from ldpkit.core.smallfile import without_waiting
from ldpkit.mechanisms.base import Mechanism, from_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAGIC", "Header", "Reader", "block", "end", "header"]

MAGIC = b"LDPR"
"""What every report file begins with."""

_VERSION = 1
_HEAD = struct.Struct("<4sHI")  # magic, version, length of the description
_U32 = struct.Struct("<I")
_BLOCK = struct.Struct("<II")  # number of reports, CRC of the reports
_END = struct.Struct("<IQ")  # 0, number of reports in the file; a CRC follows
_TABLES = (".csv", ".json")  # what people take for reports: estimates, and values
_LONGEST_DESCRIPTION = 1 << 28
_LONGEST_BLOCK = 1 << 24


def header(mechanism: Mechanism, provenance: Provenance, batch: str) -> bytes:
    """Return the first part of a file."""
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


def block(data: bytes, mechanism: Mechanism) -> bytes:
    """Return a block of encoded reports."""
    return _BLOCK.pack(len(data) // mechanism.report_bytes, zlib.crc32(data)) + data


def end(n: int) -> bytes:
    """Return the last part of a file of n reports."""
    last = _END.pack(0, n)
    return last + _U32.pack(zlib.crc32(last))


@dataclass(frozen=True)
class Header:
    """What a file says about itself before the first report."""

    mechanism: Mechanism
    version: int
    written_by: str
    provenance: Provenance
    batch: str | None


class Reader:
    """Reads the parts of a report file in order, and knows where it is."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.offset = 0

    def __enter__(self) -> Self:
        try:
            self._stream = open(self.path, "rb", opener=without_waiting)
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
        """Return the error that says what is wrong at a byte."""
        return FileFormatError(f"the report file {str(self.path)!r} {what}", offset=offset)

    def _refuse_truncated(self) -> FileFormatError:
        return self.refuse("is truncated: write or copy it again", self.size)

    def read(self, count: int) -> bytes:
        """Return the next bytes; refuse a file that has fewer."""
        # The length is compared with the file before memory is asked for.
        if count > self.size - self.offset:
            raise self._refuse_truncated()
        data = self._stream.read(count)
        if len(data) < count:  # somebody shortened the file meanwhile
            raise self._refuse_truncated()
        self.offset += count
        return data

    def read_header(self) -> Header:
        """Return what the file says about itself."""
        if self.size == 0:
            raise self.refuse("is empty: write or copy it again", 0)
        magic = self._stream.read(len(MAGIC))
        if not MAGIC.startswith(magic):
            if self.path.suffix.lower() in _TABLES:
                raise FileFormatError(
                    f"{str(self.path)!r} is not a report file: give the .ldp that 'ldpkit privatize' or "
                    "'ldpkit collector export' wrote"
                )
            raise FileFormatError(
                f"{str(self.path)!r} is not a report file: it does not begin with {MAGIC.decode()}", offset=0
            )
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

    def _describe(self, text: bytes, version: int) -> Header:
        try:
            description: Any = json.loads(text)
            mechanism = from_spec(description)
            length, written_by = description["record_length"], str(description["ldpkit"])
            provenance = Provenance.from_json({**description, "spans": ()})
            batch = description.get("batch")
            if batch is not None:
                Span(batch, 0, 0)  # refuses what is no id
        except UnknownNameError:
            raise self.refuse(
                f"was made by the mechanism {description['mechanism']!r}, which is not known here: "
                "load its plugin with --plugin or ldpkit.load_plugin",
                _HEAD.size,
            ) from None
        except KeyError as error:
            raise self.refuse(f"has a description without {error}: write it again", _HEAD.size) from error
        except (ValueError, TypeError, RecursionError, ArithmeticError, LdpkitError) as error:
            raise self.refuse(f"has a description that cannot be used: {error}", _HEAD.size) from error
        if type(length) is not int or length != mechanism.report_bytes:  # true and 1.0 equal 1
            raise self.refuse(
                f"has reports of {length!r} bytes, those of {mechanism!r} have {mechanism.report_bytes}: "
                "it was written with another version of the mechanism",
                _HEAD.size,
            )
        return Header(mechanism, version, written_by, provenance, batch)

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
