"""Provenance: how reports came about, as far as it bears on their promise.

Epsilon speaks of one report of a person whose value lies in a public domain, made with
secret coins. Whether that is so cannot be seen from the reports, so it is recorded where
they are made and stays with them: in the report file, in its tally, in the estimate.
Where nothing is recorded, the word is "unknown", never the best case.
"""

from __future__ import annotations

import functools
import operator
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ldpkit.core.errors import InvalidInputError, MismatchError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource

__all__ = ["UNKNOWN", "Provenance", "Span", "new_batch"]

Signed = TypeVar("Signed")

_BATCH_BYTES = 16
_SHOWN = 4  # batches that a caption names
# From the best case to the worst: what was put together is as bad as its worst part.
_RANDOMNESS = ("secure", "unknown", "seeded")
_DOMAIN = ("stated", "unknown", "data")
_DEVICES = ("kept", "new", "unknown")
_OUTSIDE = ("refused", "wrapped", "unknown", "moved")
_WORDS = {"wrapped": "wrapped around the circle"}


def new_batch() -> str:
    """Return a random id of 128 bits for reports that are written together.

    Examples
    --------
    >>> len(new_batch()), new_batch() == new_batch()
    (32, False)
    """
    return secrets.token_hex(_BATCH_BYTES)


@dataclass(frozen=True, order=True)
class Span:
    """The reports from `start` up to `stop` of the batch with an id."""

    batch: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        is_id = isinstance(self.batch, str) and len(self.batch) == 2 * _BATCH_BYTES
        if not is_id or set(self.batch) - set("0123456789abcdef"):
            raise InvalidInputError(f"a batch id is 32 hexadecimal digits, got {str(self.batch)[:50]!r}")
        whole = type(self.start) is int and type(self.stop) is int
        if not whole or not 0 <= self.start <= self.stop < 1 << 63:
            raise InvalidInputError(f"reports {self.start!r} to {self.stop!r} are not part of a batch")


@dataclass(frozen=True)
class Provenance:
    """What is recorded of how some reports were made.

    Parameters
    ----------
    randomness : {"secure", "unknown", "seeded"}
        Where the coins came from. Whoever knows a seed can undo the noise.
    domain : {"stated", "unknown", "data"}
        Whether the domain was public, or taken from the values, which reveals that these
        values are there.
    devices : {"kept", "new", "unknown"} or None
        For mechanisms with memory: whether the reports come from devices that keep their
        permanent reports, or each from a device that never answered before; None for
        mechanisms without memory.
    spans : tuple of Span
        Which reports of which batches these are; empty where it is unknown.
    outside : {"refused", "wrapped", "unknown", "moved"} or None
        For mechanisms of numbers: what was done with numbers outside the interval. How
        many were moved to its ends is not recorded: it would reveal more than epsilon.
        On a circle they are wrapped, which changes no direction.

    Examples
    --------
    >>> batch = "0" * 32
    >>> first = Provenance("secure", "stated", spans=(Span(batch, 0, 60),))
    >>> rest = Provenance("seeded", "stated", spans=(Span(batch, 60, 100),))
    >>> print(Provenance("seeded", "data"))
    randomness seeded, domain from the data
    >>> first + rest == Provenance("seeded", "stated", spans=(Span(batch, 0, 100),))
    True
    >>> first + first
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.MismatchError: reports 0 to 59 of batch 00000000 are there twice: \
count a file and its copy or its tally only once
    """

    randomness: str = "unknown"
    domain: str = "unknown"
    devices: str | None = None
    spans: tuple[Span, ...] = ()
    outside: str | None = None

    def __post_init__(self) -> None:
        for name, known in (
            ("randomness", _RANDOMNESS),
            ("domain", _DOMAIN),
            ("devices", _DEVICES),
            ("outside", _OUTSIDE),
        ):
            word = getattr(self, name)
            if word not in known and not (name in ("devices", "outside") and word is None):
                raise InvalidInputError(f"{name} is one of {', '.join(known)}, got {str(word)[:50]!r}")
        object.__setattr__(self, "spans", _joined(self.spans))

    @classmethod
    def of(
        cls,
        rng: RandomSource,
        *,
        domain: str = "unknown",
        devices: str | None = None,
        outside: str | None = None,
    ) -> Provenance:
        """Return the provenance of reports that are made with a source of randomness.

        Examples
        --------
        >>> from ldpkit.core import random
        >>> Provenance.of(random.secure(), domain="stated")
        Provenance(randomness='secure', domain='stated', devices=None, spans=(), outside=None)
        """
        return cls("secure" if rng.is_secure else "seeded", domain, devices, outside=outside)

    def __add__(self, other: Provenance) -> Provenance:
        """Return the provenance of both together; refuse reports that are in both."""
        return Provenance(
            _worse(_RANDOMNESS, self.randomness, other.randomness),
            _worse(_DOMAIN, self.domain, other.domain),
            self.devices if self.devices == other.devices else _worse_devices(self.devices, other.devices),
            (*self.spans, *other.spans),
            self.outside if self.outside == other.outside else _worse_outside(self.outside, other.outside),
        )

    @classmethod
    def merge(cls, provenances: Iterable[Provenance]) -> Provenance:
        """Return the provenance of all together; unknown if there are none."""
        every = list(provenances)
        return functools.reduce(operator.add, every) if every else cls()

    @property
    def known(self) -> int:
        """How many reports the spans hold."""
        return sum(span.stop - span.start for span in self.spans)

    @property
    def batches(self) -> tuple[str, ...]:
        """The ids of the batches that the reports come from, each once."""
        return tuple(dict.fromkeys(span.batch for span in self.spans))

    def warnings(self) -> list[str]:
        """Return a sentence for each thing recorded that weakens the promise."""
        said = []
        if self.randomness == "seeded":
            said.append(
                "made with a seed: whoever knows the seed can undo the noise, so these reports protect nobody"
            )
        if self.domain == "data":
            said.append("the domain was taken from the values: it is not hidden that these values exist")
        if self.devices == "kept" and len(self.batches) > 1:
            said.append(
                "several batches of devices that answer again: if these are rounds of the same people, there "
                "are fewer people than reports, and the intervals are too narrow"
            )
        if self.devices == "new":
            said.append("made by devices that had never answered before: asking them again costs more")
        if self.outside == "moved":
            said.append(
                "numbers outside the interval were moved to its nearest end: estimates are about the moved "
                "ones, and how many there were is not recorded, as that would reveal something about them"
            )
        return said

    def sign(self, estimate: Signed) -> Signed:
        """Return an estimate that tells what is recorded of its reports, if anything is."""
        if self == UNKNOWN or not (is_dataclass(estimate) and hasattr(estimate, "made_by")):
            return estimate
        changes: dict[str, Any] = {"made_by": {**estimate.made_by, **replace(self, spans=()).to_json()}}
        if hasattr(estimate, "provenance"):
            changes["provenance"] = self
        made: Any = replace(estimate, **changes)  # type: ignore[type-var]  # asked above
        return cast("Signed", made)

    def facts(self) -> dict[str, Any]:
        """Return what is recorded, for the reader of a result.

        Examples
        --------
        >>> Provenance("secure", "stated").facts()
        {'randomness': 'secure', 'domain_source': 'stated', 'devices': None, 'outside': None, \
'batches': 'unknown', 'warnings': []}
        """
        return {
            "randomness": self.randomness,
            "domain_source": self.domain,
            "devices": self.devices,
            "outside": self.outside,
            "batches": list(self.batches) or "unknown",
            "warnings": self.warnings(),
        }

    def __str__(self) -> str:
        """Say what is recorded, in a line for a caption; `facts` says what is not."""
        batches = [batch[:8] for batch in self.batches]
        more = f" and {len(batches) - _SHOWN} more" if len(batches) > _SHOWN else ""
        told = [
            ("randomness", self.randomness),
            ("domain", "from the data" if self.domain == "data" else self.domain),
            ("devices", self.devices),
            ("numbers outside", None if self.outside is None else _WORDS.get(self.outside, self.outside)),
            ("batch", f"{', '.join(batches[:_SHOWN])}{more}"),
        ]
        return ", ".join(f"{name} {word}" for name, word in told if word and word != "unknown")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, as files keep it."""
        made: dict[str, Any] = {"randomness": self.randomness, "domain_source": self.domain}
        if self.devices is not None:
            made["devices"] = self.devices
        if self.outside is not None:
            made["outside"] = self.outside
        if self.spans:
            made["spans"] = [[span.batch, span.start, span.stop] for span in self.spans]
        return made

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Provenance:
        """Return the provenance of a JSON form; what is missing is unknown."""
        if not isinstance(record, Mapping):
            raise InvalidInputError(f"a provenance is an object with fields, got {str(record)[:50]!r}")
        try:
            spans = tuple(Span(batch, start, stop) for batch, start, stop in record.get("spans", ()))
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                "spans are triples of a batch id, the first report and the one behind the last"
            ) from None
        randomness, domain = record.get("randomness", "unknown"), record.get("domain_source", "unknown")
        return cls(randomness, domain, record.get("devices"), spans, record.get("outside"))


def _worse(order: tuple[str, ...], one: str, other: str) -> str:
    return max(one, other, key=order.index)


def _worse_devices(one: str | None, other: str | None) -> str | None:
    return other if one is None else one if other is None else _worse(_DEVICES, one, other)


def _worse_outside(one: str | None, other: str | None) -> str:
    # Reports of one mechanism are all about numbers, or none is: what is missing was not recorded.
    return _worse(_OUTSIDE, one or "unknown", other or "unknown")


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, neighbours as one; refuse any that overlap."""
    made: list[Span] = []
    for span in sorted(each for each in spans if each.start < each.stop):
        if made and made[-1].batch == span.batch and span.start <= made[-1].stop:
            if span.start < made[-1].stop:
                last = min(span.stop, made[-1].stop) - 1
                raise MismatchError(
                    f"reports {span.start} to {last} of batch {span.batch[:8]} are there twice: "
                    "count a file and its copy or its tally only once"
                )
            made[-1] = Span(span.batch, made[-1].start, span.stop)
        else:
            made.append(span)
    return tuple(made)


UNKNOWN = Provenance()
"""The provenance of reports about which nothing is recorded."""
