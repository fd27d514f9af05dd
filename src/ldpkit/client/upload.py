"""The bytes of an upload: a header that says what was answered, and records of an id and a report.

All numbers are little-endian. The header has `LDPU`, the format (u8), flags (u8; bit 0: made
with a seed), the version of the collection (u16), the number of the question (u16), the round
(u32) and the fingerprint of the question (u64). Each record has the id of the answer (u64)
and the report. Every report of a question has the same length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from ldpkit.core.errors import FileFormatError, InvalidParameterError

__all__ = ["HEADER_BYTES", "ID_BYTES", "UploadHeader", "encode_upload"]

MAGIC = b"LDPU"
_FORMAT = 1
_SEEDED = 1
_LAYOUT = struct.Struct("<4sBBHHIQ")

HEADER_BYTES = _LAYOUT.size
ID_BYTES = 8


class UploadHeader(NamedTuple):
    """What all records of an upload answer.

    Parameters
    ----------
    version : int
        The version of the collection.
    question : int
        The number of the question.
    round : int
        The round.
    fingerprint : int
        64 bits of the digest of the question: reports of another epsilon can look valid byte for
        byte, and only the fingerprint tells them apart.
    seeded : bool
        Whether the reports were made with a seed, and so protect nobody.

    Examples
    --------
    >>> header = UploadHeader(version=1, question=0, round=3, fingerprint=7)
    >>> UploadHeader.decode(header.encode()) == header, len(header.encode())
    (True, 22)
    """

    version: int
    question: int
    round: int
    fingerprint: int
    seeded: bool = False

    def encode(self) -> bytes:
        """Return the bytes of the header."""
        try:
            return _LAYOUT.pack(
                MAGIC,
                _FORMAT,
                _SEEDED if self.seeded else 0,
                self.version,
                self.question,
                self.round,
                self.fingerprint,
            )
        except struct.error as error:
            raise InvalidParameterError(f"{self!r} does not fit an upload: {error}") from None

    @classmethod
    def decode(cls, data: bytes | memoryview) -> UploadHeader:
        """Return the header at the start of some bytes, or refuse them."""
        if len(data) < HEADER_BYTES:
            raise FileFormatError(f"an upload has a header of {HEADER_BYTES} bytes, got {len(data)}")
        magic, form, flags, version, question, number, fingerprint = _LAYOUT.unpack(data[:HEADER_BYTES])
        if magic != MAGIC:
            raise FileFormatError(f"an upload begins with {MAGIC!r}, got {magic!r}", offset=0)
        if form != _FORMAT:
            raise FileFormatError(
                f"an upload of format {form}: this program knows format {_FORMAT}", offset=4
            )
        if flags & ~_SEEDED:
            raise FileFormatError(f"an upload with the unknown flags {flags:#x}", offset=5)
        return cls(version, question, number, fingerprint, bool(flags & _SEEDED))


def encode_upload(header: UploadHeader, answers: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the bytes of an upload for some ids and their reports."""
    parts = [header.encode()]
    for identity, report in answers:
        parts += [identity.to_bytes(ID_BYTES, "little"), report]
    return b"".join(parts)
