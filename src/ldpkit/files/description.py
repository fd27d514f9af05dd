"""What Arrow and Parquet files say of their reports: a JSON object in the metadata of the schema.

Under the key `ldpkit` it has `mechanism`, `parameters` and `domain` as in a report file,
`record_length`, `fingerprint` (the first 16 hexadecimal digits of the SHA-256 of the first
three), how the reports were made (`randomness` and the like) and `batch`, by which a copy is
recognised. Files of others may lack it; then who reads them says what made them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import FileFormatError, LdpkitError, MismatchError
from ldpkit.core.provenance import UNKNOWN, Provenance, Span, new_batch
from ldpkit.mechanisms.base import from_spec

if TYPE_CHECKING:
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["Description", "described", "fingerprint"]

_KEY = b"ldpkit"  # of the description in the metadata of a file


def fingerprint(mechanism: Mechanism) -> str:
    """Return 16 hexadecimal digits that tell a mechanism from any other.

    Examples
    --------
    >>> import ldpkit
    >>> fingerprint(ldpkit.GRR(4, epsilon=1)) == fingerprint(ldpkit.GRR(4, epsilon=1.0))
    True
    """
    text = json.dumps(mechanism.spec(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Description:
    """What the metadata of a file say of its reports."""

    mechanism: Mechanism
    provenance: Provenance
    batch: str | None

    @classmethod
    def read(cls, metadata: Mapping[bytes, bytes] | None, title: str) -> Description | None:
        """Return the description in the metadata of a schema; None where there is none."""
        if not metadata or _KEY not in metadata:
            return None
        try:
            told: Any = json.loads(metadata[_KEY])
            mechanism = from_spec(told)
            provenance = Provenance.from_json(told)
            batch = told.get("batch")
            if batch is not None:
                Span(batch, 0, 0)  # refuses what is no id
        except (ValueError, TypeError, KeyError, RecursionError, ArithmeticError, LdpkitError) as error:
            raise FileFormatError(f"{title} has a description that cannot be used: {error}") from None
        length, mark = told.get("record_length"), told.get("fingerprint")
        if length != mechanism.report_bytes or mark not in (None, fingerprint(mechanism)):
            raise FileFormatError(
                f"{title} has a description that does not fit {mechanism!r}: it is damaged, or written with "
                "another version of the mechanism"
            )
        return cls(mechanism, provenance, batch)

    def of_rows(self, rows: int) -> Provenance:
        """Return the provenance of all reports of a file with so many rows."""
        if self.batch is None:
            return self.provenance
        return replace(self.provenance, spans=(Span(self.batch, 0, rows),))

    def check(self, mechanism: Mechanism, title: str) -> None:
        """Refuse another mechanism than the one that made the reports."""
        if self.mechanism != mechanism:
            raise MismatchError(
                f"{title} holds reports of {self.mechanism!r} on {self.mechanism.domain}, not of "
                f"{mechanism!r} on {mechanism.domain}: leave the file out, or name its mechanism"
            )


def described(schema: Any, mechanism: Mechanism, provenance: Provenance = UNKNOWN) -> Any:
    """Return a schema whose metadata say what made the reports, with a batch of their own."""
    told = {
        **mechanism.spec(),
        "record_length": mechanism.report_bytes,
        "fingerprint": fingerprint(mechanism),
        **provenance.to_json(),
    }
    if not provenance.spans:
        told["batch"] = new_batch()
    return schema.with_metadata({**(schema.metadata or {}), _KEY: json.dumps(told).encode()})
