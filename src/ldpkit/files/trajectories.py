"""Files of trajectories: CSV, TSV and Parquet tables, GeoJSON and GPX in; tables and GeoJSON out."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.domains.trajectories import Identifier, Trajectories
from ldpkit.core.errors import InvalidInputError, MissingDependencyError
from ldpkit.core.text import listed
from ldpkit.core.wholefile import whole_file, whole_text
from ldpkit.files.gpx import read_tracks
from ldpkit.files.lines import check_kept_file, file_title, kept_limit
from ldpkit.files.readers import _coordinates, _pick, _whole
from ldpkit.files.spreadsheet import harmless_cell, original_cell
from ldpkit.files.tables import InputTable, open_table

__all__ = ["read_trajectories", "write_trajectories"]

_IDS = ("id", "traj_id", "trajectory", "trajectory_id", "user", "user_id")
_XS = ("x", "lon", "longitude", "lng", "long")
_YS = ("y", "lat", "latitude")
_TIMES = ("time", "times", "timestamp", "unix", "t")
_LINES = {"LineString": 1, "MultiPoint": 1, "MultiLineString": 2, "Point": 0}  # how deep coordinates lie


def read_trajectories(
    path: str | Path,
    *,
    id: str | None = None,  # noqa: A002 - named as the column
    x: str | None = None,
    y: str | None = None,
    time: str | None = None,
    with_times: bool = False,
) -> Trajectories:
    r"""Return the trajectories of a file; the ending of its name says how they are written.

    Parameters
    ----------
    path : path
        `.csv`, `.tsv` or `.parquet`: a row for each point, with columns for the trajectory, two
        coordinates and perhaps the time. `.geojson` or `.json`: LineString, MultiPoint and Point
        features. `.gpx`: tracks and routes.
    id, x, y, time : str, optional
        The columns of a table. By default those with a usual name, such as `traj_id`, `lon`,
        `lat` and `unix`; without a column of ids all rows are one trajectory.
    with_times : bool
        True refuses a file without times.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "walks.csv")
    ...     _ = file.write_text("user,lon,lat\nann,1,2\nbob,3,4\nann,5,6\n")
    ...     read_trajectories(file)["ann"].tolist()
    [[1.0, 2.0], [5.0, 6.0]]
    """
    title = file_title(path)
    ending = Path(path).suffix.lower()
    columns = {"id": id, "x": x, "y": y, "time": time}
    named = [name for name, value in columns.items() if value is not None]
    if ending in (".gpx", ".geojson", ".json"):
        if named:
            raise InvalidInputError(f"{title} has no columns: leave out {', '.join(named)}")
        found = _from_gpx(path) if ending == ".gpx" else _from_geojson(path)
    else:
        found = _from_table(path, columns)
    if with_times and found.times is None:
        raise InvalidInputError(
            f"{title} does not have a time for every point: give a file that does, or leave the times out"
        )
    return found


def _from_table(path: str | Path, columns: dict[str, str | None]) -> Trajectories:
    table = open_table(path, as_csv=True, limit=kept_limit(path))
    first, second = _column(table, columns["x"], _XS, "x"), _column(table, columns["y"], _YS, "y")
    owner = _column(table, columns["id"], _IDS, None)
    when = _column(table, columns["time"], _TIMES, None)
    wanted = [name for name in (first, second, owner, when) if name is not None]
    pieces = dict(zip(wanted, _whole(table, *wanted), strict=True))
    points = [_coordinates(name, pieces[name]) for name in (first, second) if name is not None]
    count = len(points[0])
    ids = np.zeros(count, np.int64) if owner is None else pieces[owner].typed()
    if ids.dtype.kind == "U":
        ids = np.array([original_cell(each) for each in ids.tolist()])
    times = None if when is None else _times(pieces[when].typed().tolist(), table.title)
    return Trajectories.from_rows(ids, np.column_stack(points), times)


def _column(table: InputTable, asked: str | None, usual: tuple[str, ...], needed: str | None) -> str | None:
    """Return the column that was asked for, or the one with a usual name."""
    if asked is not None:
        return _pick(table, asked)
    known: dict[str, list[str]] = {}
    for name in table.names:
        known.setdefault(name.lower(), []).append(name)
    found = next((known[name] for name in usual if name in known), [])
    if len(found) > 1:
        raise InvalidInputError(
            f"{table.title} has more than one column called {found[0]}: remove or rename one"
        )
    if not found and needed is not None:
        raise InvalidInputError(
            f"{table.title} has no column called {', '.join(usual)}: say which one is {needed}, among "
            f"{listed(table.names) or 'none'}"
        )
    return found[0] if found else None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _times(cells: list[Any], title: str) -> Any:
    """Return times as they are, or dates in words as datetimes of UTC."""
    if all(_is_number(cell) for cell in cells):
        return np.array([float(cell) for cell in cells])
    stamps = []
    for position, cell in enumerate(cells):
        try:
            moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell))
            utc = moment.astimezone(UTC) if moment.tzinfo is not None else moment
        except (ValueError, OverflowError):  # the first hours of year 1 are before it in UTC
            raise InvalidInputError(
                f"{title}: the time {str(cell)[:40]!r} of point {position} is neither a number nor a date "
                "such as 2026-01-31T08:00:00Z"
            ) from None
        stamps.append(np.datetime64(utc.replace(tzinfo=None), "ms"))
    return np.array(stamps)


def _from_gpx(path: str | Path) -> Trajectories:
    tracks = [track for track in read_tracks(path) if track[1]]
    title = file_title(path)
    if not tracks:
        raise InvalidInputError(f"{title} has no track or route with points")
    ids = _distinct([name for name, _, _ in tracks])
    times = None
    if all(stamp is not None for _, _, stamps in tracks for stamp in stamps):
        times = [_times(stamps, title) for _, _, stamps in tracks]
    return Trajectories.from_list([points for _, points, _ in tracks], ids, times)


def _distinct(names: list[Any]) -> list[Any]:
    """Return names as they are where each is there once, else numbers."""
    usable = None not in names and len(set(names)) == len(names)
    return names if usable else list(range(len(names)))


def _from_geojson(path: str | Path) -> Trajectories:
    title, file = file_title(path), Path(path)
    check_kept_file(file, title)
    try:
        form = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{title} is not JSON: {error}") from None
    except OSError as error:
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None
    features = form.get("features", [form]) if isinstance(form, dict) else []
    names, lines, times = list[Any](), list[Any](), list[Any]()
    for position, feature in enumerate(features if isinstance(features, list) else []):
        name, points, stamps = _feature(feature, title, position)
        names.append(name)
        lines.append(points)
        times.append(stamps)
    if not lines:
        raise InvalidInputError(f"{title} has no features: give a FeatureCollection of LineStrings")
    if all(name is not None and len(line) == 1 for name, line in zip(names, lines, strict=True)):
        # Points with an id of their trajectory, one a feature.
        stamped = all(stamps is not None for stamps in times)
        stamps = _times([each[0] for each in times], title) if stamped else None
        return Trajectories.from_rows(np.array([str(name) for name in names]), np.concatenate(lines), stamps)
    timed = [_times(each, title) for each in times] if all(each is not None for each in times) else None
    return Trajectories.from_list(lines, _distinct(names), timed)


def _feature(feature: Any, title: str, position: int) -> tuple[Any, Any, Any]:
    """Return the id, the points and the times of a feature."""
    where = f"{title}, feature {position}"
    if not isinstance(feature, dict):
        raise InvalidInputError(f"{where} is not an object")
    shape = feature.get("geometry", None if feature.get("type") == "Feature" else feature)
    if shape is None:
        raise InvalidInputError(f"{where} has no geometry: leave it out, or give {', '.join(_LINES)}")
    kind = shape.get("type") if isinstance(shape, dict) else None
    if not isinstance(kind, str) or kind not in _LINES:
        raise InvalidInputError(f"{where} is a {str(kind)[:30]!r}: give {', '.join(_LINES)}")
    rows = shape.get("coordinates")
    try:
        if _LINES[kind] == 2:
            rows = [row for line in rows for row in line]
        elif _LINES[kind] == 0:
            rows = [rows]
        points = np.array([[float(row[0]), float(row[1])] for row in rows])
    except (TypeError, ValueError, LookupError, OverflowError):
        raise InvalidInputError(f"{where} has coordinates that are not pairs of numbers") from None
    if not len(points):
        raise InvalidInputError(f"{where} has no points: leave it out")
    about = feature.get("properties")
    about = about if isinstance(about, dict) else {}
    name = _identifier(feature.get("id", next((about[each] for each in _IDS if each in about), None)), where)
    stamps = next((about[each] for each in ("coordTimes", *_TIMES) if each in about), None)
    stamps = [stamps] if stamps is not None and not isinstance(stamps, list) else stamps
    if stamps is not None and len(stamps) != len(points):
        raise InvalidInputError(f"{where} has {len(stamps)} times for {len(points)} points")
    return name, points, stamps


def _identifier(name: Any, where: str) -> Identifier | None:
    """Return an id as text or a whole number; JSON has no other way to write 1 than as a number, also 1.0."""
    if isinstance(name, float) and name.is_integer():
        return int(name)
    if name is None or (isinstance(name, (str, int)) and not isinstance(name, bool)):
        return name
    raise InvalidInputError(f"{where} has the id {str(name)[:30]}: give text or a whole number")


def write_trajectories(path: str | Path, trajectories: Trajectories, cells: Any = None) -> None:
    """Write trajectories to a file, whole or not at all: `.csv`, `.parquet` or `.geojson`.

    Parameters
    ----------
    path : path
        Where to; the ending says how.
    trajectories : Trajectories
        What is written: id, position, x, y, and the time where there is one.
    cells : array, optional
        The report of each point, whose numbers become columns `cell_0`, `cell_1`.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> walks = ldpkit.Trajectories.from_list([[(1, 1), (2, 3)], [(9, 9)]], ids=["ann", "bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_trajectories(folder + "/walks.csv", walks)
    ...     read_trajectories(folder + "/walks.csv")
    <2 trajectories with 3 points>
    """
    table = trajectories.columns()
    if trajectories.times is not None and trajectories.times.dtype.kind == "M":
        table["time"] = np.array([f"{each}Z" for each in trajectories.times])
    if cells is not None:
        reports = np.asarray(cells).reshape(len(trajectories.points), -1)
        table |= {f"cell_{column}": values for column, values in enumerate(reports.T)}
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        whole_text(path, _as_csv(table))
    elif ending in (".geojson", ".json"):
        whole_text(path, _as_geojson(trajectories, table))
    elif ending == ".parquet":
        data = _as_parquet(table)
        with whole_file(path) as stream:
            stream.write(data)
    else:
        raise InvalidInputError(
            f"{file_title(path)} has the unknown ending {ending!r}: give .csv, .parquet or .geojson"
        )


def _as_csv(table: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*(column.tolist() for column in table.values()), strict=True):
        writer.writerow([harmless_cell(cell) for cell in row])
    return text.getvalue()


def _as_parquet(table: dict[str, Any]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet files", "frames") from None
    ids = table["id"].tolist()
    if not all(isinstance(each, int) and -(1 << 63) <= each < 1 << 63 for each in ids):
        # A lone surrogate, which is no character, becomes an escape, as in every other file.
        ids = [str(each).encode("utf-8", "backslashreplace").decode() for each in ids]
    columns = {**table, "id": ids}
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


def _as_geojson(trajectories: Trajectories, table: dict[str, Any]) -> str:
    features = []
    for position, name in enumerate(trajectories.ids):
        rows = slice(*trajectories.offsets[position : position + 2].tolist())
        points = trajectories.points[rows].tolist()
        kind, where = ("LineString", points) if len(points) > 1 else ("Point", points[0])
        more = {
            key: column[rows].tolist()
            for key, column in table.items()
            if key not in ("id", "position", "x", "y")
        }
        features.append(
            {
                "type": "Feature",
                "id": name,
                "properties": {"id": name, **more},
                "geometry": {"type": kind, "coordinates": where},
            }
        )
    return json.dumps({"type": "FeatureCollection", "features": features})
