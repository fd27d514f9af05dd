"""Where in a TOML text something stands, so that a refusal can name the line.

`tomllib` reads the text; this only finds the lines. It is called on what `tomllib` has accepted,
so it needs to know where statements begin and end, and nothing else of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["Lines", "Path"]

Path = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and places in arrays of tables."""

_TOKENS = re.compile(
    r'"""(?:\\.|(?!""").)*?"{3,5}'
    r"|'''(?:(?!''').)*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}]|\n|.",
    re.DOTALL,
)
_KEY_PARTS = re.compile(r'\s*("(?:\\.|[^"\\])*"|\'[^\']*\'|[A-Za-z0-9_-]+)\s*(?:\.|$)')


class Lines:
    r"""The lines of the keys and tables of a TOML text.

    Parameters
    ----------
    text : str
        A text that `tomllib` reads.

    Examples
    --------
    >>> text = 'id = "a"\n\n[[questions]]\nid = "b"\ndomain = [\n  "x", # [\n]\n[[questions]]\ntext = 1\n'
    >>> lines = Lines(text)
    >>> [lines.of(("questions", *path)) for path in ((0, "domain"), (1, "text"), (1, "id"))]
    [5, 9, 8]
    """

    def __init__(self, text: str) -> None:
        self._found: dict[Path, int] = {}
        table: Path = ()
        for line, statement in _statements(text):
            if statement.startswith("["):
                is_array = statement.startswith("[[")
                table = self._resolve(_key(statement.strip("[] \t\r")), is_array)
                self._found.setdefault(table, line)
            else:
                key = _key(_before_equals(statement))
                for length in range(1, len(key) + 1):
                    self._found.setdefault((*table, *key[:length]), line)

    def _resolve(self, key: Sequence[str], is_array: bool) -> Path:
        """Return the path of a table header: names of arrays of tables mean the last table in them."""
        path: Path = ()
        for place, name in enumerate(key):
            path = (*path, name)
            count = self._count(path)
            if is_array and place == len(key) - 1:
                path = (*path, count)
            elif count:
                path = (*path, count - 1)
        return path

    def _count(self, path: Path) -> int:
        count = 0
        while (*path, count) in self._found:
            count += 1
        return count

    def of(self, path: Path) -> int:
        """Return the line of a value, or of the nearest thing around it that has one."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._found:
                return self._found[path[:length]]
        return 1


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a text, without comments, each with the line where it begins."""
    line = start = 1
    depth = 0
    parts: list[str] = []
    for token in _TOKENS.findall(text + "\n"):
        if token == "\n" and depth == 0:
            statement = "".join(parts).strip()
            if statement:
                yield start, statement
            parts = []
        elif not token.startswith("#"):
            if not parts and token.isspace():
                continue
            if not parts:
                start = line
            parts.append(token)
            # A header is no array, but its brackets are closed on the same line all the same.
            depth += (token in "[{") - (token in "]}")
        line += token.count("\n")


def _before_equals(statement: str) -> str:
    parts: list[str] = []
    for token in _TOKENS.findall(statement):
        if token == "=":
            break
        parts.append(token)
    return "".join(parts)


def _key(text: str) -> list[str]:
    return [part[1:-1] if part[:1] in "\"'" else part for part in _KEY_PARTS.findall(text)]
