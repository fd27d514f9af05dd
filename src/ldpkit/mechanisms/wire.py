"""The wire form of reports: fixed-length records, and the checks of what comes from outside."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.core.typing import Reports

__all__ = ["WireForm"]


class WireForm(abc.ABC):
    """What has reports with a layout: it encodes, decodes and checks them."""

    name: ClassVar[str]

    @property
    @abc.abstractmethod
    def report_dtype(self) -> np.dtype[Any]:
        """The little-endian layout of one report."""

    @abc.abstractmethod
    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each report whether the mechanism can have made it."""

    @property
    def report_bytes(self) -> int:
        """The length of one report on the wire."""
        return int(self.report_dtype.itemsize)

    def encode(self, reports: Reports) -> bytes:
        """Return the wire form: fixed-length records, little-endian, nothing between them."""
        return self.check_reports(reports).tobytes()

    def decode(self, data: bytes) -> Reports:
        """Return the reports of a wire form; refuse what the mechanism cannot have made."""
        size = self.report_bytes
        if len(data) % size:
            raise FileFormatError(
                f"{len(data)} bytes are not a whole number of {self.name} reports of {size} bytes",
                offset=len(data) - len(data) % size,
            )
        layout = self.report_dtype
        base, shape = layout.subdtype or (layout, ())
        reports = np.frombuffer(data, base).reshape((-1, *shape))
        position = self._first_invalid(reports)
        if position is not None:
            raise FileFormatError(
                f"report {position} is none that {self!r} makes: they are of another mechanism or damaged",
                offset=position * size,
            )
        return reports

    def valid_mask(self, data: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each report of a wire form whether the mechanism can have made it.

        Where `decode` refuses all for one, this says which: reports of many devices stand in one
        array, and one bad device must not cost the others their answer.
        """
        base, shape = self.report_dtype.subdtype or (self.report_dtype, ())
        reports = np.frombuffer(data, base).reshape((-1, *shape))
        return self._is_valid(reports) if len(reports) else np.zeros(0, np.bool_)

    def check_reports(self, reports: Reports) -> Reports:
        """Return a copy of the reports in the mechanism's own layout, or refuse them."""
        array = self._report_array(reports)
        return self._own_reports(array, 0, len(array))

    def report_chunks(self, reports: Reports, size: int) -> Iterator[Reports]:
        """Yield checked copies of some reports, `size` at a time.

        What is counted must be what was checked: another thread may change an array in
        between, and a kernel trusts what it is given. Chunks keep the copies small.
        """
        array = self._report_array(reports)
        for start in range(0, len(array), size):
            yield self._own_reports(array, start, start + size)

    def _report_array(self, reports: Reports) -> Reports:
        """Return reports as one array of the right shape and kind, not yet checked."""
        base, shape = self.report_dtype.subdtype or (self.report_dtype, ())
        try:
            array = np.asarray(reports)
        except ValueError:
            raise InvalidInputError(f"reports of {self!r} are one array: these differ in length") from None
        if array.shape[1:] != shape or array.ndim != 1 + len(shape):
            raise InvalidInputError(
                f"reports of {self!r} have shape (n{''.join(f', {size}' for size in shape)}), "
                f"got {array.shape}: they come from another mechanism"
            )
        if array.dtype != base and not (array.dtype.kind in "iu" and base.kind in "iu"):
            raise self._wrong_type(array)
        return array

    def _own_reports(self, array: Reports, start: int, stop: int) -> Reports:
        """Return a checked copy of some reports."""
        base, _ = self.report_dtype.subdtype or (self.report_dtype, ())
        given = array[start:stop]
        own = given.astype(base, order="C")
        if array.dtype != base and not (own == given).all():
            raise self._wrong_type(array)
        position = self._first_invalid(own)
        if position is not None:
            raise InvalidInputError(
                f"report {start + position} is none that {self!r} makes: "
                "it is of another mechanism or damaged"
            )
        return own

    def _wrong_type(self, array: Reports) -> InvalidInputError:
        base, _ = self.report_dtype.subdtype or (self.report_dtype, ())
        return InvalidInputError(
            f"reports of {self!r} have type {base}, got {array.dtype}: they come from another mechanism"
        )

    def _first_invalid(self, reports: Reports) -> int | None:
        if len(reports) == 0:
            return None
        valid = self._is_valid(reports)
        return None if valid.all() else int(np.argmin(valid))
