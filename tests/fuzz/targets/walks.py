"""Files of trajectories: CSV, TSV, Parquet, GeoJSON and GPX, read, written and read again.

The first line of an input is JSON that tells the file's name and its columns; the rest is the file.
"""

from __future__ import annotations

import functools
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import HOSTILE_TEXTS, change_bytes, change_json_text, change_text
from fuzz.target import Target, refused_if, require
from fuzz.targets.tables import change_footer
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import LdpkitError
from ldpkit.files.trajectories import read_trajectories, write_trajectories

__all__ = ["WALKS", "framed"]

_NAMES = ("a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.geojson", "a.json", "a.gpx", "a.txt")
_COLUMNS = ("id", "x", "y", "time")
_KEYS = ("features", "geometry", "coordinates", "properties", "coordTimes", "time", "id", "type")
_WORDS = (
    *("<trkpt lat='1' lon='2'>", "</trkpt>", "<trkseg>", "</trk>", "<name>ann</name>", "<time>", "</time>"),
    *("<!DOCTYPE gpx [<!ENTITY a 'b'>]>", "&a;", "&#0;", "&#55296;", "<![CDATA[", "<?xml version='1.1'?>"),
    *("2026-01-31T08:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "NaT", "lon='nan'"),
    *(",", "\n", "\t", '"', "-0.0", "1e308", "id", "lon", "lat", "unix", "nan", "'=1"),
)
_GPX = b"""<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><name>ann</name><trkseg>
<trkpt lat="41.5" lon="-87.5"><time>2026-01-31T08:00:00Z</time></trkpt>
<trkpt lat="41.6" lon="-87.6"><time>2026-01-31T08:01:00Z</time></trkpt></trkseg></trk>
<rte><rtept lat="1" lon="2"><time>2026-01-31</time></rtept></rte></gpx>"""


def framed(name: str, content: bytes, **columns: Any) -> bytes:
    """Return an input of this target."""
    return json.dumps({"name": name, **columns}).encode() + b"\n" + content


def _features(*shapes: tuple[Any, str, Any, Any]) -> bytes:
    made = [
        {
            "type": "Feature",
            "id": name,
            "properties": {"time": times},
            "geometry": {"type": kind, "coordinates": points},
        }
        for name, kind, points, times in shapes
    ]
    return json.dumps({"type": "FeatureCollection", "features": made}).encode()


@functools.cache
def _seeds() -> tuple[bytes, ...]:
    import pyarrow
    from pyarrow import parquet

    files = [
        framed("a.csv", b"user,lon,lat,unix\nann,1,2,5\nbob,3,4,6\nann,5,6.5,7\n"),
        framed("a.tsv", b"x\ty\n1\t2\n3.5\t-4\n"),
        framed("a.csv", b"who,a,b,at\n1,0,1,2026-01-31T08:00:00Z\n", id="who", x="a", y="b", time="at"),
        framed("a.geojson", _features(("ann", "LineString", [[0, 1], [2, 3]], [1, 2]))),
        framed("a.geojson", _features((1, "Point", [0, 1], 7), (1, "Point", [2, 1], 8))),
        framed("a.json", _features((None, "MultiLineString", [[[0, 1]], [[2, 3]]], None))),
        framed("a.json", b'{"type": "MultiPoint", "coordinates": [[0, 1], [2.5, 3]]}'),
        framed("a.gpx", _GPX),
    ]
    tables: tuple[dict[str, Any], ...] = (
        {"id": ["a", "b", "a"], "x": [0.5, 1.5, 2.0], "y": [1, 2, 3], "t": [3, 4, 5]},
        {"user_id": [1, 1], "lon": [0, 1], "lat": [2, 3], "time": np.array([1, 2], "M8[ms]")},
    )
    for each in tables:
        stream = io.BytesIO()
        parquet.write_table(pyarrow.table(each), stream, compression="none")
        files.append(framed("a.parquet", stream.getvalue()))
    return tuple(files)


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, content = data.partition(b"\n")
    asked = json.loads(first)
    kind = rng.randrange(20)
    if kind == 0:
        asked["name"] = rng.choice(_NAMES)
    elif kind == 1:
        asked[rng.choice(_COLUMNS)] = rng.choice((None, "x", "user", "lon", "at", *HOSTILE_TEXTS))
    elif kind < 4:
        content = change_bytes(rng, content)
    elif str(asked["name"]).endswith("json"):
        content = change_json_text(rng, json.loads(content), _KEYS)
    elif str(asked["name"]).endswith("parquet"):
        content = change_footer(rng, content)
    else:
        text = content.decode("utf-8", "replace")
        for _ in range(rng.choice((1, 1, 2, 4))):
            text = change_text(rng, text, _WORDS)
        content = text.encode("utf-8", "surrogatepass")
    return json.dumps(asked).encode() + b"\n" + content[: 1 << 16]


def _check(data: bytes, folder: Path) -> None:
    first, _, content = data.partition(b"\n")
    try:
        asked = json.loads(first)
        columns = {name: asked.get(name) for name in _COLUMNS}
    except (ValueError, RecursionError, AttributeError) as error:
        raise LdpkitError(str(error)) from None
    refused_if(asked.get("name") not in _NAMES, "not a question of this target")
    refused_if(not all(each is None or isinstance(each, str) for each in columns.values()), "names are text")
    path = folder / asked["name"]
    path.write_bytes(content)
    walks = read_trajectories(path, **columns)
    require(np.isfinite(walks.points).all() and len(walks.points), "points are not finite")
    require(
        (walks.lengths > 0).all() and len(set(walks.ids)) == len(walks), "a trajectory is empty or double"
    )
    repr(walks)
    for ending in (".csv", ".geojson", ".parquet"):
        _compare(walks, folder / f"again{ending}")


def _compare(walks: Trajectories, path: Path) -> None:
    """Write trajectories, read them and fail unless the same points come back."""
    write_trajectories(path, walks)
    again = read_trajectories(path)
    if len({str(name).strip() for name in walks.ids}) == len(walks):  # 1 and "1" are one id in a table
        require(len(again) == len(walks), f"{len(walks)} trajectories come back as {len(again)}")
    require((again.times is None) == (walks.times is None), "times are lost or made up")
    require(
        sorted(again.points.tolist()) == sorted(walks.points.tolist()),
        f"other points come back from {path.name}",
    )


WALKS = Target("trajectories", _seeds, _mutate, _check)
