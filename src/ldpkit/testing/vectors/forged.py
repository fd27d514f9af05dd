"""Forms that look right and are not: a client must refuse each of them before it draws a byte.

A forged form makes reports that give more away than its ratio says, or brings a program out of its
arithmetic: sums that are not 2**64, weights of zero, likelier where it should be rarer, integers
that wrap around, sizes that do not fit.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["BASES", "forgeries"]

_WORD = 1 << 64


def _base(form: str, **fields: Any) -> dict[str, Any]:
    return {"form": form, **fields}


_ROUND = {"keep": str(_WORD - 3 * (1 << 61)), "width": str(1 << 61)}
_LEVELS = {"inside": str(3 << 60), "outside": str(1 << 60)}
_BITS = {"own": str(3 << 62), "other": str(1 << 62)}
_SLIDE = _base(
    "window",
    stand="slide",
    grid=8,
    width=6,
    margin=1,
    inside="1976436865040309101",
    outside="658812288346769701",
)

BASES: tuple[dict[str, Any], ...] = (
    _base("response", size=4, **_ROUND),
    _base("hashing", size=9, buckets=4, word=32, **_ROUND),
    _base("unary", size=9, **_BITS),
    _base("subset", size=9, omega=3, threshold=str(1 << 63)),
    _base("window", stand="clamp", grid=8, width=8, inside=str(3 << 59), outside=str(1 << 59)),
    _base("window", stand="wrap", grid=8, width=8, inside=str(3 << 59), outside=str(1 << 59)),
    _SLIDE,
    _base("window", stand="sector", grid=3, width=4, inside=str(1 << 61), outside=str(1 << 60)),
    _base("coin", grid=2, base=str(1 << 62), slope=str(1 << 62)),
    _base("hybrid", grid=2, base=str(1 << 61), slope=str(1 << 61), width=2, **_LEVELS),
    _base(
        "noise",
        grid=2,
        reach=1,
        blocks=[str(1 << 63), str(1 << 62), str(1 << 62)],
        lengths=[1],
        weights=[str(3 << 62), str(1 << 62)],
    ),
    _base("turned", grid=2, weights=[str(3 << 61), str(1 << 61)]),
    _base("rows", shape=[2], rows=[[str(3 << 62), str(1 << 62)], [str(1 << 62), str(3 << 62)]]),
    _base("table", grid=4, rows=[[str(3 << 62), str(1 << 62)], [str(1 << 62), str(3 << 62)]]),
    _base("sites", shape=[2, 2], **_ROUND),
    _base("planar", grid=2, widths=[2, 2], inside=str(5 << 59), outside=str(1 << 59)),
    _base("chained_response", size=4, first=dict(_ROUND), second=dict(_ROUND)),
    _base("chained_hashing", size=9, buckets=4, word=32, first=dict(_ROUND), second=dict(_ROUND)),
    _base("chained_unary", size=9, first=dict(_BITS), second={"one": str(3 << 62), "zero": str(1 << 62)}),
    _base("bitflip", size=9, d=3, **_BITS),
    _base(
        "pair",
        first=_base("turned", grid=2, weights=[str(3 << 61), str(1 << 61)]),
        second=_base("window", stand="clamp", grid=8, width=8, inside=str(3 << 59), outside=str(1 << 59)),
    ),
)
"""A small form of each kind that is right."""

_BAD_WORDS: tuple[Any, ...] = (
    None,
    "",
    "-1",
    "+5",
    "05",
    "1.5",
    "1e3",
    " 5",
    "0x10",
    "\u0663",
    "5\u0000",
    True,
    7,
    str(_WORD),
    "9" * 400,
    ["5"],
)
_BAD_NUMBERS: tuple[Any, ...] = (None, 0, -1, "4", 4.5, True, 1 << 53, [4], {})


def forgeries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield forms that must be refused, each with what is wrong."""
    for base in BASES:
        name, seen = base["form"], set[type]()
        for path, value in _leaves(base):
            where, is_word = ".".join(map(str, path)), isinstance(value, str)
            yield f"{name}: {where} is missing", _without(base, path)
            every = _BAD_WORDS if is_word else _BAD_NUMBERS
            few = every if type(value) not in seen else every[:3]  # one field of each type has them all
            for bad in (*few, *((str(_WORD), "0") if is_word else (1 << 53,))):
                if (name, where, bad) != ("noise", "reach", 0):  # that is a truncated one, and right
                    yield f"{name}: {where} is {str(bad)[:30]!r}", _with(base, path, bad)
            if is_word and name not in _WITHOUT_SUMS:
                for step in (-1, 1):
                    yield f"{name}: {where} off by {step}", _with(base, path, str(int(value) + step))
            seen.add(type(value))
        yield f"{name}: a field that nobody knows", {**base, "extra": 1}
        yield from ((f"{name}: {why}", {**base, **changed}) for why, changed in _WRONG.get(name, ()))
    yield "no form", {"size": 4}
    yield "an unknown form", {"form": "respond", "size": 4}


_WITHOUT_SUMS = ("unary", "chained_unary", "bitflip", "subset")
_WRONG: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "response": (
        (
            "the true value is the rarest",
            {"size": 8, "keep": str((1 << 61) - 7), "width": str((1 << 61) + 1)},
        ),
        ("the sum wraps around", {"size": 5, "keep": "0", "width": str(1 << 62)}),
        ("the sum is 2**65", {"size": 4, "keep": str(1 << 63), "width": str(1 << 63)}),
        ("too many values", {"size": (1 << 26) + 1}),
    ),
    "hashing": (
        ("words that are too short", {"buckets": 257, "word": 32}),
        ("words that are too long", {"word": 64}),
        ("words of 48 bits", {"word": 48}),
        ("more buckets than an index has", {"buckets": (1 << 32) + 1, "word": 64}),
    ),
    "unary": (
        ("the true bit is the rarest", {"own": str(1 << 62), "other": str(3 << 62)}),
        ("a bit that is always one", {"own": str(_WORD)}),
    ),
    "subset": (
        ("all values", {"omega": 9}),
        ("the true value is the rarest", {"threshold": "5"}),
        ("a value that is never missed", {"threshold": str(_WORD)}),
    ),
    "window": (
        ("another stand", {"stand": "stick"}),
        ("a stand that is no text", {"stand": ["slide"]}),
        ("a grid that is no power of two", {"grid": 7}),
        ("inside is less than outside", {"inside": str(1 << 59), "outside": str(3 << 59)}),
        ("kept that does not fit", {"kept": [0, 10**6]}),
        ("kept that keeps nothing", {"kept": [3, 0]}),
        ("kept of one number", {"kept": [3]}),
    ),
    "noise": (
        ("odd blocks", {"blocks": [str((1 << 63) + 1), str((1 << 62) - 1), str(1 << 62)]}),
        ("blocks that grow", {"blocks": [str(1 << 62), str(1 << 63), str(1 << 62)]}),
        ("one block", {"reach": 0, "blocks": [str(1 << 63)]}),
        ("a reach that is too far", {"reach": 2}),
        ("weights that grow", {"weights": [str(1 << 62), str(3 << 62)]}),
        ("lengths that do not fill the grid", {"lengths": [1, 2]}),
        ("too large a table", {"weights": ["1"] * 4097}),
        ("a huge table", {"blocks": ["2"] * 100_000}),
    ),
    "turned": (
        ("too few weights", {"grid": 4}),
        ("a sum of 2**64", {"weights": [str(3 << 62), str(1 << 62)]}),
    ),
    "rows": (
        ("rows of two lengths", {"rows": [[str(1 << 63)] * 2, [str(1 << 62)] * 4]}),
        ("one row", {"shape": [1], "rows": [[str(1 << 63)] * 2]}),
        ("more rows than places", {"rows": [[str(1 << 63)] * 2] * 3}),
        ("a shape of three", {"shape": [1, 2, 1]}),
        ("columns that are no sites", {"shape": [1, 2], "rows": [[str(1 << 62)] * 4] * 2}),
        ("too large a table", {"shape": [65], "rows": [[str(1 << 58)] * 64] * 65}),
    ),
    "table": (("more rows than places", {"rows": [[str(1 << 63)] * 2] * 6}),),
    "sites": (("a shape of three", {"shape": [2, 2, 1]}), ("one site", {"shape": [1, 1]})),
    "planar": (
        ("an odd width", {"widths": [3, 2]}),
        ("a window that is all there is", {"widths": [4, 4]}),
        ("a window that is too wide", {"widths": [6, 2]}),
        ("three widths", {"widths": [2, 2, 2]}),
        ("too few reaches", {"reaches": [1]}),
        ("reaches beyond the window", {"reaches": [1, 2]}),
        ("reaches of nothing", {"reaches": [0, 0]}),
    ),
    "chained_unary": (
        ("the second round turned round", {"second": {"one": str(1 << 62), "zero": str(3 << 62)}}),
    ),
    "bitflip": (("more buckets than values", {"d": 10}),),
    "pair": (
        ("a part of another form", {"first": _base("response", size=4, **_ROUND)}),
        ("a part that keeps some cells", {"second": {**_SLIDE, "kept": [2, 4]}}),
        ("a part with a field that nobody knows", {"second": {**_SLIDE, "extra": 1}}),
        ("a reference of one number", {"reference": [1.5]}),
        ("a reference that is nowhere", {"reference": [1.5, 1e301]}),
    ),
}


def _leaves(form: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the place of every integer of a form but those of long arrays, with what stands there."""
    if isinstance(form, (dict, list)):
        for key, value in form.items() if isinstance(form, dict) else enumerate(form):
            if key not in ("form", "stand"):
                yield from _leaves(value, (*path, key))
    else:
        yield path, form


def _with(form: Mapping[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed: Any = copy.deepcopy(dict(form))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return dict(changed)


def _without(form: Mapping[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed: Any = copy.deepcopy(dict(form))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return dict(changed)
