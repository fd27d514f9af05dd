"""The vectors as JSON files: made from the integers that a file has already, and compared with it.

Some integers come out of solvers and floating-point functions, which differ between machines. So
what a file says about a sampler is kept, and only samplers that no file has yet are asked of
their mechanism. Vectors that are there never change: a command adds to them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ldpkit.client.samplers import read_sampler
from ldpkit.core.errors import FileFormatError
from ldpkit.core.smallfile import read_small_file
from ldpkit.testing.vectors.forged import forgeries
from ldpkit.testing.vectors.reports import group_of, made_again
from ldpkit.testing.vectors.rules import rules
from ldpkit.testing.vectors.subjects import subjects

__all__ = ["changed_files", "make_files", "read_files", "text_of", "wrong_vectors"]

Files = dict[str, Any]
"""The content of each file by its name: a list of groups for a mechanism, a list of cases for a rule."""

_MOST_BYTES = 1 << 26  # of one file
_LONGEST = 2000  # characters of a forged form: huge tables are made by tests


def make_files(
    known: Mapping[str, Any] | None = None, *, progress: Callable[[str], None] | None = None
) -> Files:
    """Return the vectors of every mechanism and every rule, with the integers that are known already."""
    kept = {group["name"]: group for name in known or () for group in _groups((known or {})[name])}
    files: Files = {}
    for name, make in subjects():
        if progress is not None:
            progress(name)
        if name in kept:
            old = kept[name]
            group = group_of(name, old["mechanism"], old["kind"], old["domain"], old["sampler"])
        else:
            mechanism = make()
            domain = mechanism.domain.to_json()
            group = group_of(name, mechanism.name, mechanism.kind, domain, mechanism.sampler())
        files.setdefault(group["mechanism"], []).append(group)
    forged = [{"why": why, "sampler": form} for why, form in forgeries()]
    return {**files, **rules(), "forged": [each for each in forged if len(json.dumps(each)) <= _LONGEST]}


def _groups(content: Any) -> Iterable[dict[str, Any]]:
    return [each for each in content if isinstance(each, dict) and "sampler" in each and "name" in each]


def text_of(content: list[Any]) -> str:
    """Return the text of a file: a line for each vector or case, so that a change shows in a diff."""
    lines = []
    for each in content:
        if "vectors" not in each:
            lines.append(_compact(each))
            continue
        head = ",\n ".join(f"{_compact(key)}: {_compact(each[key])}" for key in each if key != "vectors")
        body = ",\n  ".join(map(_compact, each["vectors"]))
        lines.append(f'{{{head},\n "vectors": [\n  {body}]}}')
    return "[" + ",\n".join(lines) + "]\n"


def _compact(thing: Any) -> str:
    return json.dumps(thing, ensure_ascii=True, separators=(",", ":"))


def _sorted(thing: Any) -> str:
    return json.dumps(thing, sort_keys=True)


def read_files(folder: Path) -> Files:
    """Return the vectors in a folder."""
    found: Files = {}
    for path in sorted(folder.glob("*.json")):
        data = read_small_file(path, "the vectors", _MOST_BYTES)
        try:
            found[path.stem] = json.loads(data)
        except ValueError as error:
            raise FileFormatError(f"{path} is not JSON: {error}") from None
    if not found:
        raise FileFormatError(
            f"there are no vectors in {folder}: make them with 'ldpkit spec vectors -o DIR'"
        )
    return found


def changed_files(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what stands in the old files and is not the same in the new ones.

    Examples
    --------
    >>> changed_files({"ids": [1, 2]}, {"ids": [1, 2, 3], "labels": []})
    []
    >>> changed_files({"ids": [1, 2]}, {"ids": [1, 5]})
    ['ids: 2 is gone or changed']
    """
    changes = []
    for name, content in old.items():
        there = {_sorted(each) for each in new.get(name, [])}
        for each in content:
            if _sorted(each) not in there:
                told = each.get("name", _compact(each)[:60]) if isinstance(each, dict) else each
                changes.append(f"{name}: {told} is gone or changed")
    return changes


def wrong_vectors(content: list[dict[str, Any]]) -> list[str]:
    """Return which vectors of a mechanism the reference samplers make differently."""
    wrong = []
    for group in content:
        sampler = read_sampler(group["sampler"])
        for number, vector in enumerate(group["vectors"]):
            made = made_again(sampler, vector)
            if made != vector[4]:
                wrong.append(f"{group['name']}/{number}: expected {vector[4]}, made {made}")
    return wrong
