"""The code blocks of the pages: where each stands, its language, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Block", "blocks", "pages"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    """One block: a fenced one, or lines indented by four spaces, whose language is 'indented'."""

    page: str
    line: int
    language: str
    text: str
    is_skipped: bool = False


def pages() -> list[Path]:
    """Return every page that people read, generated ones apart."""
    top = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"]
    return [*(ROOT / name for name in top), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str, page: str) -> Iterator[Block]:
    """Find the blocks of a page."""
    lines, at = text.splitlines(), 0
    before = ""
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"\s*(```+)\s*(\w*)", line)
        if fence:
            end = next(i for i in range(at + 1, len(lines) + 1) if lines[i].strip() == fence.group(1))
            body = "\n".join(lines[at + 1 : end])
            yield Block(page, at + 1, fence.group(2) or "none", body, before.startswith("<!-- skip"))
            at = end
        elif line.startswith("    ") and not before.strip() and not _in_list(lines, at):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield Block(page, at + 1, "indented", "\n".join(lines[at:end]))
            at = end - 1
        before = lines[at] if lines[at].strip() or not before.startswith("<!--") else before
        at += 1


def _in_list(lines: list[str], at: int) -> bool:
    """Whether indented lines go on a list, or an admonition, instead of being a block."""
    above = next((line for line in reversed(lines[:at]) if line.strip() and not line.startswith("    ")), "")
    return bool(re.match(r"\s*([-*+]|\d+\.|!!!|\?\?\?|===|\[\^|:) ?", above))
