"""The wire form: fixed-length records, little-endian, each on its own, and nothing invalid among them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.core.random import seeded
from ldpkit.testing.examples import allowed_size, good_values, small
from ldpkit.testing.expect import NotApplicableError, refuses, require

__all__ = ["CHECKS", "example_reports"]

_FOREIGN = (None, 3, "reports", [0.5], [[[0]]], ["a"], [None], np.zeros((2, 999), np.uint8), np.array([1j]))


def example_reports(mechanism: Any) -> Any:
    """Return 200 reports made from a seed."""
    return mechanism.first_reports(good_values(mechanism), rng=seeded(1))


def check_wire_form(mechanism: Any) -> None:
    """Reports go into bytes of `report_bytes` each and come back the same."""
    subject = small(mechanism)
    reports = example_reports(subject)
    data, length = subject.encode(reports), subject.report_bytes
    require(isinstance(data, bytes), f"expected bytes from encode, found {type(data).__name__}")
    require(
        len(data) == len(reports) * length, f"expected {len(reports)} x {length} bytes, found {len(data)}"
    )
    back = subject.decode(data)
    require(
        back.dtype == np.asarray(reports).dtype and back.shape == reports.shape and (back == reports).all(),
        f"expected the reports back from decode, found {back.dtype} {back.shape}",
    )
    require(subject.encode(back) == data, "expected the same bytes from decoded reports, found others")
    require(subject.tally(back) == subject.tally(reports), "expected the same tally from decoded reports")
    nothing = subject.decode(b"")
    require(len(nothing) == 0 and subject.encode(nothing) == b"", "expected no bytes for no reports")
    require(subject.tally(nothing).n == 0, "expected an empty tally of no reports")


def check_records(mechanism: Any) -> None:
    """A record stands on its own, whatever its place; other byte orders and strides are understood."""
    subject = small(mechanism)
    reports = example_reports(subject)
    data, tally = subject.encode(reports), subject.tally(reports)
    singles = [subject.encode(reports[place : place + 1]) for place in range(len(reports))]
    require(b"".join(singles) == data, "expected reports to be encoded one by one as together")
    shuffled = subject.decode(b"".join(reversed(singles)))
    require(subject.tally(shuffled) == tally, "expected the same tally in another order")
    if reports.dtype.names is None:
        swapped = reports.astype(reports.dtype.newbyteorder(">"))
        require(subject.encode(swapped) == data, "expected big-endian reports to be understood")
    require(subject.encode(reports[::2]) == subject.encode(reports[::2].copy()), "a stride changes the bytes")
    require(subject.tally(reports[::-1]) == tally, "a negative stride changes the tally")


def check_damaged_records(mechanism: Any) -> None:
    """A record that is cut, or that the mechanism cannot have made, is refused with its offset."""
    subject = small(mechanism)
    length, good = subject.report_bytes, subject.encode(example_reports(subject)[:5])
    for extra in range(1, length):
        error: Any = refuses(FileFormatError, subject.decode, good + bytes(extra), says="whole number")
        require(error.offset == 5 * length, f"expected offset {5 * length}, found {error.offset}")
    patterns = ((pattern * length)[:length] for pattern in (b"\xff", b"\xff\x7f", b"\x7f", b"\x00"))
    bad = next((record for record in patterns if not _decodes(subject, record)), None)
    if bad is None:
        return  # every record of that length is a report
    error = refuses(FileFormatError, subject.decode, good + bad + good, says="report 5 ")
    require(error.offset == 5 * length, f"expected offset {5 * length}, found {error.offset}")
    base, shape = subject._layout
    records = np.frombuffer(good + bad, base).reshape(-1, *shape)
    refuses(InvalidInputError, subject.tally, records, says="report 5 ")


def check_any_bytes(mechanism: Any) -> None:
    """Any bytes are reports that encode to these bytes, or are refused with an offset inside them."""
    subject = small(mechanism)
    noise = seeded(17).bytes(40 * 41).tobytes()
    for length, value in itertools.product(range(40), (0, 1, 127, 255, None)):
        data = noise[41 * length : 42 * length] if value is None else bytes([value] * length)
        if _decodes(subject, data):
            reports = subject.decode(data)
            require(subject.encode(reports) == data, f"{data.hex()} decodes to what encodes differently")
            require(subject.tally(reports).n == len(data) // subject.report_bytes, "wrong number of reports")
        else:
            error: Any = refuses(FileFormatError, subject.decode, data)
            require(error.offset in range(len(data) + 1), f"offset {error.offset} of {len(data)} bytes")


def check_valid_records(mechanism: Any) -> None:
    """Where a report is one byte, all 256 are tried: valid is what the channel holds, and no more."""
    from ldpkit.testing.epsilon import has_public_coins, is_listed

    subject = mechanism.sibling(allowed_size(mechanism, 4))
    if subject.report_bytes > 1 or not is_listed(subject) or has_public_coins(subject):
        raise NotApplicableError("its reports are too many to try them all")
    listed = set(subject.encode(subject.channel().reports))
    found = {number for number in range(256) if _decodes(subject, bytes([number]))}
    require(
        found == listed, f"expected the reports {sorted(listed)} of the channel, found {sorted(found)} valid"
    )


def check_foreign_reports(mechanism: Any) -> None:
    """What is no array of the right shape and type is refused as reports."""
    subject = small(mechanism)
    for foreign in _FOREIGN:
        refuses(InvalidInputError, subject.tally, foreign)
        refuses(InvalidInputError, subject.encode, foreign)


def _decodes(mechanism: Any, record: bytes) -> bool:
    try:
        mechanism.decode(record)
    except FileFormatError:
        return False
    return True


CHECKS = (
    check_wire_form,
    check_records,
    check_damaged_records,
    check_any_bytes,
    check_valid_records,
    check_foreign_reports,
)
