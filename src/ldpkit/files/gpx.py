"""GPX: the tracks of a receiver, as XML that may hold nothing but elements and text.

A document type can make a parser read other files, or swell a few bytes to gigabytes, and
no GPX file needs one: it is refused where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

from ldpkit.core.errors import InvalidInputError
from ldpkit.files.lines import check_kept_file, file_title

__all__ = ["Track", "read_tracks"]

_DEEPEST = 100  # elements within each other
_LONGEST = 10_000  # characters of a name or a time

Track = tuple[str | None, list[tuple[float, float]], list[str | None]]
"""The name, the points (longitude, latitude) and the times as they are written."""


def read_tracks(path: str | Path) -> list[Track]:
    """Return the tracks and routes of a GPX file, the segments of a track joined."""
    title, file = file_title(path), Path(path)
    check_kept_file(file, title)
    reader = _Reader(title)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = reader.refuse_type
    parser.EntityDeclHandler = reader.refuse_type
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    reader.line = lambda: parser.CurrentLineNumber
    try:
        with file.open("rb") as stream:
            parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise InvalidInputError(f"{title}, line {error.lineno}: not well-formed XML: {error}") from None
    except OSError as error:
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None
    if not reader.is_gpx:
        raise InvalidInputError(f"{title} is XML, but not GPX: its first element is not gpx")
    return reader.tracks


class _Reader:
    """What has been read so far."""

    def __init__(self, title: str) -> None:
        self.title, self.is_gpx = title, False
        self.tracks: list[Track] = []
        self.line: Any = None
        self._open: list[str] = []
        self._text = ""

    def refuse_type(self, *_: object) -> None:
        raise InvalidInputError(
            f"{self.title}, line {self.line()}: a document type or entity, which GPX does not need and which "
            "can make a reader fetch other files: remove it"
        )

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if not self._open:
            self.is_gpx = tag == "gpx"
        if len(self._open) >= _DEEPEST:
            raise InvalidInputError(f"{self.title}, line {self.line()}: elements are too deep within others")
        self._open.append(tag)
        self._text = ""
        if tag in ("trk", "rte"):
            self.tracks.append((None, [], []))
        elif tag in ("trkpt", "rtept") and self.tracks:
            self.tracks[-1][1].append((self._degrees(attributes, "lon"), self._degrees(attributes, "lat")))
            self.tracks[-1][2].append(None)

    def end(self, name: str) -> None:
        tag = self._open.pop()
        above = self._open[-1] if self._open else ""
        if tag == "name" and above in ("trk", "rte"):
            _, points, times = self.tracks[-1]
            self.tracks[-1] = (self._text.strip() or None, points, times)
        elif tag == "time" and above in ("trkpt", "rtept") and self.tracks:
            self.tracks[-1][2][-1] = self._text.strip()
        self._text = ""

    def text(self, text: str) -> None:
        if self._open and self._open[-1] in ("name", "time"):
            self._text = (self._text + text)[:_LONGEST]

    def _degrees(self, attributes: Mapping[str, str], name: str) -> float:
        try:
            return float(attributes[name])
        except (KeyError, ValueError):
            raise InvalidInputError(
                f"{self.title}, line {self.line()}: a point needs lat and lon in degrees, got "
                f"{name}={attributes.get(name)!r}"
            ) from None
