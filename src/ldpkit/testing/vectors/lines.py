"""The vectors as lines of text, which a program in any language reads, and what it printed.

A line is an id, a form and fields `name=value`, with spaces between them and no quotes:

    grr-2-1/0 response size=2 keep=13485650502877570762 width=4961093570831980854 input=0 bytes=00...

Parts have a prefix (`first.keep=`), arrays commas, rows semicolons. The program prints the id and the
report in hex, `refused` where the form or the input must be refused, or `-` for a form that it does
not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldpkit.client.samplers import read_sampler
from ldpkit.core.errors import InvalidInputError
from ldpkit.testing.vectors.forged import BASES

__all__ = ["REFUSED", "Line", "VectorOutcome", "compare", "vector_lines"]

REFUSED = "refused"
_KEPT = {"permanent": "coins", "instant": "permanent"}
_NOISE = "00" * 256  # bytes for a form that is to be refused: a program that draws finds some


@dataclass(frozen=True)
class Line:
    """One vector for a program.

    Parameters
    ----------
    id : str
        What the program repeats.
    mechanism : str
        What it is counted under.
    text : str
        The line.
    expected : str
        What the program must print behind the id.
    """

    id: str
    mechanism: str
    text: str
    expected: str


@dataclass(frozen=True)
class VectorOutcome:
    """How a program did on the vectors of one mechanism."""

    mechanism: str
    vectors: int
    equal: int
    different: int
    skipped: int
    first: str = ""

    def row(self) -> dict[str, Any]:
        """Return what a table shows."""
        told = {"mechanism": self.mechanism, "vectors": self.vectors, "equal": self.equal}
        return {**told, "different": self.different, "skipped": self.skipped}


def vector_lines(files: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the lines of all vectors of reports, of places that there are not, and of forged forms."""
    for content in files.values():
        for group in content:
            if isinstance(group, dict) and "vectors" in group:
                yield from _group_lines(group)
    for number, case in enumerate(files.get("forged", ())):
        if (fields := _forged_fields(case["sampler"])) is not None:
            head = f"forged/{number} {case['sampler'].get('form', '-')}"
            yield Line(f"forged/{number}", "forged", f"{head} {fields}input=0 bytes={_NOISE}", REFUSED)


def _group_lines(group: Mapping[str, Any]) -> Iterator[Line]:
    form, name = group["sampler"], group["mechanism"]
    head = f"{form['form']} {_fields(form)}"
    for number, (stage, place, kept, data, made) in enumerate(group["vectors"]):
        told = "" if stage == "draw" else f"stage={stage} "
        told += f"{_KEPT[stage]}={kept} " if stage in _KEPT else ""
        told += "" if place is None else f"input={_value(place)} "
        key = f"{group['name']}/{number}"
        yield Line(key, name, f"{key} {head}{told}bytes={data}", made)
    sampler = read_sampler(form)
    if not sampler.has_memory:
        beyond, key = list(sampler.places), f"{group['name']}/beyond"
        yield Line(key, name, f"{key} {head}input={_value(beyond)} bytes={_NOISE}", REFUSED)


def _fields(form: Mapping[str, Any], prefix: str = "") -> str:
    """Return the fields of a form as words."""
    told = ""
    for name, value in form.items():
        if name == "form" and not prefix:
            continue
        part = isinstance(value, dict)
        told += _fields(value, f"{prefix}{name}.") if part else f"{prefix}{name}={_value(value)} "
    return told


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return (";" if value and isinstance(value[0], list) else ",").join(map(_value, value))


def _forged_fields(form: Mapping[str, Any]) -> str | None:
    """Return a forged form as words, or None where the fault is one of JSON that words do not have."""
    likes = [base for base in BASES if base["form"] == form.get("form")]
    same = [base for base in likes if base.get("stand") == form.get("stand")] or likes
    if same and not all(_is_like(form[name], value) for name, value in same[0].items() if name in form):
        return None
    told = _fields(form)
    return told if told.isascii() and told.isprintable() and "= " not in told and "  " not in told else None


def _is_like(value: Any, base: Any) -> bool:
    """Whether something has the type of what is right at its place."""
    if isinstance(base, dict):
        return isinstance(value, dict) and all(
            _is_like(value[name], base[name]) for name in base if name in value
        )
    if isinstance(base, list):
        return isinstance(value, list) and all(_is_like(each, base[0]) for each in value)
    return type(value) is type(base) and str(value).split() == [str(value)]


def compare(lines: Sequence[Line], printed: Iterable[str]) -> list[VectorOutcome]:
    """Return how a program did, by mechanism, from what it printed.

    Examples
    --------
    >>> lines = [Line("a/0", "a", "", "00"), Line("a/1", "a", "", "01"), Line("b/0", "b", "", "02")]
    >>> for outcome in compare(lines, ["a/0 00", "a/1 11", "b/0 -"]):
    ...     print(outcome.row(), outcome.first)
    {'mechanism': 'a', 'vectors': 2, 'equal': 1, 'different': 1, 'skipped': 0} a/1: expected 01, got 11
    {'mechanism': 'b', 'vectors': 1, 'equal': 0, 'different': 0, 'skipped': 1}
    """
    answers: dict[str, str] = {}
    known = {line.id for line in lines}
    for number, row in enumerate(printed, 1):
        words = row.split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in known:
            raise InvalidInputError(
                f"line {number} of the program's output is not an id and a report: {row.strip()[:60]!r}"
            )
        answers[words[0]] = words[1].lower()
    found: dict[str, list[tuple[Line, str]]] = {}
    for line in lines:
        found.setdefault(line.mechanism, []).append((line, answers.get(line.id, "nothing")))
    return [_outcome(name, pairs) for name, pairs in found.items()]


def _outcome(name: str, pairs: Sequence[tuple[Line, str]]) -> VectorOutcome:
    skipped = sum(answer == "-" for _, answer in pairs)
    wrong = [(line, answer) for line, answer in pairs if answer not in ("-", line.expected)]
    first = (
        f"{wrong[0][0].id}: expected {_short(wrong[0][0].expected)}, got {_short(wrong[0][1])}"
        if wrong
        else ""
    )
    return VectorOutcome(name, len(pairs), len(pairs) - len(wrong) - skipped, len(wrong), skipped, first)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
