"""One question of a collection: what is asked, what makes the report, and what it costs.

Whoever wrote the file is not believed. The ratios of the sampler's own integers say what a
report gives away, in exact arithmetic; a charge below them is refused.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ldpkit.client.canonical import canonical
from ldpkit.client.epsilon import MICRO, Ratio, covers
from ldpkit.client.fields import check_fields, choice_of, list_of, name_of, text_of, whole_of
from ldpkit.client.promises import Charges, exceeds
from ldpkit.client.samplers import MemorySampler, Sampler, read_sampler
from ldpkit.client.spending import Micro, micro_text
from ldpkit.core.errors import FileFormatError, LdpkitError

__all__ = [
    "CHANGING",
    "FIXED",
    "FREQUENCY",
    "KINDS",
    "Question",
    "category_count",
    "fingerprint",
    "read_question",
]

CHANGING, FIXED = "changing", "fixed"
KINDS = FREQUENCY, _NUMERIC, _CIRCULAR, _SPATIAL = "frequency", "numeric", "circular", "spatial"
_FIELDS = (
    *("number", "id", "text", "kind", "domain", "mechanism", "parameters", "sampler"),
    *("report_bytes", "value", "charge"),
)
_MOST_CATEGORIES = 1 << 26
_MOST_BYTES = 1 << 20  # of one report


@dataclass(frozen=True)
class Question:
    """A question whose charges cover what its reports give away.

    Parameters
    ----------
    number : int
        Its place in the collection.
    id, text : str
        Its name, and what a person reads.
    kind : {"frequency", "numeric", "circular", "spatial"}
        What sort of value it takes.
    domain
        The values, in JSON.
    mechanism : str
        What the sampler is called.
    parameters, sampler : mapping
        What the mechanism was made with, and the integers that make a report.
    report_bytes : int
        The length of one.
    value : {"changing", "fixed"}
        Whether a device goes on reporting its first value.
    first, next : int or None
        What the first answer of a device costs, and each further one, in millionths of an
        epsilon; None stands for infinite.
    fingerprint : int
        What tells its reports from those of any other question: 64 bits.
    """

    number: int
    id: str
    text: str
    kind: str
    domain: Any
    mechanism: str
    parameters: Mapping[str, Any]
    sampler: Mapping[str, Any]
    report_bytes: int
    value: str
    first: Micro
    next: Micro
    fingerprint: int

    @property
    def charges(self) -> Charges:
        """What answers cost."""
        return Charges(self.first, self.next)


def fingerprint(form: Mapping[str, Any]) -> int:
    """Return 64 bits of the SHA-256 of a question's canonical JSON."""
    return int.from_bytes(hashlib.sha256(canonical(form)).digest()[:8], "little")


def read_question(form: Any, number: int) -> Question:
    """Return the question at a place of a collection, or refuse it."""
    where = f"questions[{number}]"
    fields = check_fields(form, where, _FIELDS)
    if fields["number"] != number or isinstance(fields["number"], bool):
        raise FileFormatError(
            f"{where}.number is {str(fields['number'])[:50]!r}: questions count from 0 in order"
        )
    kind = choice_of(fields["kind"], f"{where}.kind", KINDS)
    _check_domain(kind, fields["domain"], f"{where}.domain")
    sampler = _sampler(fields["sampler"], f"{where}.sampler")
    value = choice_of(fields["value"], f"{where}.value", (CHANGING, FIXED))
    if value == FIXED and not sampler.has_memory:
        raise FileFormatError(f"{where}.value is fixed, but its reports remember nothing: make it changing")
    charges = Charges.from_json(fields["charge"], f"{where}.charge")
    parameters = _parameters(fields["parameters"], f"{where}.parameters")
    _check_charges(charges, sampler, value, where)
    _check_stated(parameters, charges.first, value, where)
    size = fields["sampler"].get("size")
    if kind == FREQUENCY and size is not None and size != category_count(fields["domain"]):
        raise FileFormatError(
            f"{where} has {category_count(fields['domain'])} categories, and its sampler is for {size}"
        )
    length = whole_of(fields["report_bytes"], f"{where}.report_bytes", least=1, most=_MOST_BYTES)
    if length != sampler.report_bytes:
        raise FileFormatError(
            f"{where}.report_bytes is {length}, and its sampler makes {sampler.report_bytes}"
        )
    return Question(
        number=number,
        id=name_of(fields["id"], f"{where}.id"),
        text=text_of(fields["text"], f"{where}.text"),
        kind=kind,
        domain=fields["domain"],
        mechanism=name_of(fields["mechanism"], f"{where}.mechanism"),
        parameters=parameters,
        sampler=fields["sampler"],
        report_bytes=length,
        value=value,
        first=charges.first,
        next=charges.next,
        fingerprint=fingerprint(fields),
    )


def category_count(domain: Any) -> int:
    """Return how many values categories have: a size, labels, or the product of several.

    Examples
    --------
    >>> category_count(4), category_count(["no", "yes"]), category_count({"product": [4, ["no", "yes"]]})
    (4, 2, 8)
    """
    if isinstance(domain, Mapping):
        return math.prod(map(category_count, domain["product"]))
    return len(domain) if isinstance(domain, list) else int(domain)


def _sampler(form: Any, where: str) -> Sampler:
    if not isinstance(form, dict):
        raise FileFormatError(f"{where} is an object with the form and its integers, got {str(form)[:50]!r}")
    try:
        return read_sampler(form)
    except LdpkitError as error:
        raise FileFormatError(f"{where}: {error}") from None


def _parameters(form: Any, where: str) -> dict[str, Any]:
    if not isinstance(form, dict):
        raise FileFormatError(f"{where} is an object, got {str(form)[:50]!r}")
    return form


def _check_charges(charges: Charges, sampler: Sampler, value: str, where: str) -> None:
    """Refuse a charge below what the integers of the sampler give away."""
    first: Ratio = sampler.ratio()
    further: Ratio | None = first
    if isinstance(sampler, MemorySampler):
        _, ever, again = sampler.ratios()
        first, further = (ever, Ratio(1, 1)) if value == FIXED else (first, again)
    for name, micro, ratio in (("first", charges.first, first), ("next", charges.next, further)):
        if micro is not None and (ratio is None or not covers(micro, *ratio)):
            gives = "everything" if ratio is None else f"about {ratio.times * _logarithm(ratio):.6g}"
            raise FileFormatError(
                f"{where}.charge.{name} is epsilon {micro_text(micro)}, but the integers of its sampler give "
                "away "
                f"{gives}: nothing is answered"
            )


def _logarithm(ratio: Ratio) -> float:
    return math.log(ratio.num) - math.log(ratio.den)


def _check_stated(parameters: Mapping[str, Any], first: Micro, value: str, where: str) -> None:
    """Refuse a stated epsilon above the charge: whoever reads the file would be told another one."""
    name = "epsilon_inf" if value == FIXED else "epsilon_1"
    name = name if name in parameters else "epsilon"
    stated = parameters.get(name)
    if stated is None:
        return
    if isinstance(stated, bool) or not isinstance(stated, (int, float)):
        raise FileFormatError(f"{where}.parameters.{name} is a number, got {str(stated)[:50]!r}")
    if exceeds(math.ceil(Fraction(stated) * MICRO) - 1, first):  # languages may differ by a millionth
        raise FileFormatError(
            f"{where}.parameters.{name} is {stated}, but an answer is charged epsilon {micro_text(first)}: "
            "the file says two things"
        )


def _check_domain(kind: str, domain: Any, where: str) -> None:
    if kind == FREQUENCY:
        if isinstance(domain, dict):
            check_fields(domain, where, ("product",))
            factors = list_of(domain["product"], f"{where}.product", least=2, most=8)
            for place, factor in enumerate(factors):
                _check_categories(factor, f"{where}.product[{place}]")
        else:
            _check_categories(domain, where)
        if category_count(domain) > _MOST_CATEGORIES:
            raise FileFormatError(
                f"{where} has {category_count(domain)} values, more than {_MOST_CATEGORIES}"
            )
    elif kind == _NUMERIC:
        low, high = (_finite(each, where) for each in list_of(domain, where, least=2, most=2))
        if not low < high:
            raise FileFormatError(f"{where} is [low, high] with low below high, got {domain}")
    elif kind == _CIRCULAR:
        fields = check_fields(domain, where, ("period", "low"))
        _finite(fields["low"], f"{where}.low")
        if not _finite(fields["period"], f"{where}.period") > 0:
            raise FileFormatError(f"{where}.period is positive, got {fields['period']}")
    elif not isinstance(domain, dict) or not isinstance(domain.get("shape"), str):
        raise FileFormatError(f"{where} is a region such as a rectangle, got {str(domain)[:50]!r}")


def _check_categories(domain: Any, where: str) -> None:
    if not isinstance(domain, list):
        whole_of(domain, where, least=2, most=_MOST_CATEGORIES)
        return
    labels = list_of(domain, where, least=2, most=_MOST_CATEGORIES)
    for label in labels:
        if not isinstance(label, (str, int, float)) or label == "":
            raise FileFormatError(
                f"{where} has a label that is neither text nor a number: {str(label)[:50]!r}"
            )
    if len({isinstance(label, str) for label in labels}) > 1:
        raise FileFormatError(f"{where} mixes text and numbers: give one or the other")
    if len(set(labels)) < len(labels):
        raise FileFormatError(f"{where} has a label twice: remove one")


def _finite(number: Any, where: str) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise FileFormatError(f"{where} has a number there, got {str(number)[:50]!r}")
    return number
