"""Files of trajectories, good and bad."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError
from ldpkit.files.trajectories import read_trajectories, write_trajectories

WALKS = ldpkit.Trajectories.from_list(
    [[(139.5, 35.5), (139.75, 35.625)], [(139.25, 35.25)]],
    ids=["ann", "=bob"],
    times=[np.array(["2026-01-01T08:00", "2026-01-01T09:30"], "M8[ms]"), np.array(["2026-01-02"], "M8[ms]")],
)
GPX = """<?xml version="1.0"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><metadata><name>x</name></metadata>
<trk><name>ann</name><trkseg>
<trkpt lat="35.5" lon="139.5"><ele>3</ele><time>2026-01-01T08:00:00Z</time></trkpt>
<trkpt lat="35.625" lon="139.75"><time>2026-01-01T10:30:00+01:00</time></trkpt>
</trkseg></trk>
<trk><name>=bob</name><trkseg>
<trkpt lat="35.25" lon="139.25"><time>2026-01-02T00:00:00Z</time></trkpt></trkseg></trk>
</gpx>
"""


def written(folder, name, text):
    file = folder / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson"])
def test_what_is_written_is_read_again(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"walks.{ending}"
    write_trajectories(file, WALKS, cells=np.arange(6).reshape(3, 2))
    assert read_trajectories(file) == WALKS
    assert "cell_1" in (file.read_text() if ending != "parquet" else "cell_1")
    numbered = ldpkit.Trajectories.from_list(
        [[(0, 1), (2, 3)], [(4, 5), (6, 7)]], ids=[3, 1], times=[[1, 2], [3, 4]]
    )
    write_trajectories(file, numbered)
    assert read_trajectories(file) == numbered


def test_gpx(tmp_path):
    assert read_trajectories(written(tmp_path, "walks.gpx", GPX), with_times=True) == WALKS
    timeless = GPX.replace("<time>2026-01-02T00:00:00Z</time>", "")
    file = written(tmp_path, "timeless.gpx", timeless)
    assert read_trajectories(file).times is None
    with pytest.raises(InvalidInputError, match="does not have a time for every point"):
        read_trajectories(file, with_times=True)


def test_gpx_with_a_document_type_is_refused_before_anything_is_read(tmp_path):
    bomb = '<!DOCTYPE gpx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
    outside = '<!DOCTYPE gpx SYSTEM "file:///etc/passwd">'
    for declared in (bomb, outside):
        text = GPX.replace("<gpx", f"{declared}\n<gpx", 1)
        with pytest.raises(InvalidInputError, match="line 2: a document type or entity"):
            read_trajectories(written(tmp_path, "bad.gpx", text))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.gpx", "<gpx><trk>", "not well-formed XML"),
        ("a.gpx", "<kml/>", "is XML, but not GPX"),
        ("a.gpx", "<gpx><wpt lat='1' lon='2'/></gpx>", "has no track or route with points"),
        ("a.gpx", "<gpx><trk><trkseg><trkpt lat='1'/></trkseg></trk></gpx>", "needs lat and lon"),
        ("a.gpx", "<a>" * 200 + "</a>" * 200, "too deep"),
        ("a.gpx", GPX.replace("2026-01-01T08:00:00Z", "noon"), "neither a number nor a date"),
        ("a.geojson", "{", "is not JSON"),
        ("a.geojson", "[" * 100_000, "is not JSON"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}', "has no features"),
        ("a.geojson", '{"features": [3]}', "feature 0 is not an object"),
        ("a.geojson", '{"type": "Polygon", "coordinates": []}', "feature 0 is a 'Polygon'"),
        ("a.geojson", '{"type": "Feature", "geometry": null}', "feature 0 has no geometry: leave it out"),
        ("a.geojson", '{"features": [{"type": "Feature"}]}', "feature 0 has no geometry: leave it out"),
        ("a.geojson", '{"type": "LineString", "coordinates": [[0, 1], [2]]}', "not pairs of numbers"),
        ("a.geojson", '{"type": "LineString", "coordinates": []}', "feature 0 has no points"),
        ("a.csv", "id,x\n1,2\n", "has no column called y, lat, latitude: say which one is y"),
        ("a.csv", "x,x,y\n1,2,3\n", "more than one column called x"),
        ("a.csv", "id,x,y\n1,2,north\n", "line 2: the y 'north' is not a number"),
        ("a.csv", "id,x,y\n1,2,\n", "missing"),
        ("a.csv", "id,x,y,time\n1,2,3,noon\n", "the time 'noon' of point 0"),
        ("a.kml", "", "unknown ending"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, name, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_trajectories(written(tmp_path, name, text))


@pytest.mark.parametrize(
    ("row", "name", "times", "message"),
    [
        ([10**400, 1], "a", [1, 2], "not pairs of numbers"),
        ({"x": 1}, "a", [1, 2], "not pairs of numbers"),
        ([1, 1], True, [1, 2], "give text or a whole number"),
        ([1, 1], "a", [10**400, 1], "neither a number nor a date"),
        ([1, 1], "a", ["0001-01-01T00:00+23:00", "0002-01-01"], "neither a number nor a date"),
    ],
)
def test_numbers_and_names_that_nothing_holds_are_refused(tmp_path, row, name, times, message):
    shape = {"type": "LineString", "coordinates": [row, [0, 1]]}
    form = {"type": "Feature", "id": name, "properties": {"time": times}, "geometry": shape}
    with pytest.raises(InvalidInputError, match=message):
        read_trajectories(written(tmp_path, "a.geojson", json.dumps(form)))


def test_ids_come_back_whatever_they_are(tmp_path):
    pytest.importorskip("pyarrow")
    for names in (["\ud800", "b"], [10**30, 2], [1, "b"]):
        walks = ldpkit.Trajectories.from_list([[(0, 1)], [(2, 3)]], ids=names)
        for ending in ("csv", "parquet", "geojson"):
            write_trajectories(tmp_path / f"a.{ending}", walks)
            assert len(read_trajectories(tmp_path / f"a.{ending}")) == 2


def test_a_long_whole_number_is_a_coordinate(tmp_path):
    file = written(tmp_path, "a.csv", "x,y\n1,29223372036854775807\n2,2\n")
    assert read_trajectories(file).points[0].tolist() == [1.0, 29223372036854775807.0]


@pytest.mark.parametrize("ending", ["gpx", "geojson", "parquet"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, ending):
    os.mkfifo(tmp_path / f"a.{ending}")
    with pytest.raises(InvalidInputError, match="not a file on a disk"):
        read_trajectories(tmp_path / f"a.{ending}")


def test_columns_by_name_and_by_request(tmp_path):
    file = written(tmp_path, "a.csv", "who;east;north;Lat;LON\na;1;2;3;4\nb;5;6;7;8\n")
    assert read_trajectories(file).points.tolist() == [[4, 3], [8, 7]]
    assert len(read_trajectories(file)) == 1
    found = read_trajectories(file, id="who", x="east", y="north")
    assert found.ids == ("a", "b")
    assert found["b"].tolist() == [[5, 6]]
    with pytest.raises(InvalidInputError, match="has no columns: leave out id"):
        read_trajectories(written(tmp_path, "walks.gpx", GPX), id="who")
    points = [
        {
            "type": "Feature",
            "properties": {"id": each},
            "geometry": {"type": "Point", "coordinates": [each, 2]},
        }
        for each in (1, 2, 1)
    ]
    file = written(tmp_path, "p.geojson", json.dumps({"type": "FeatureCollection", "features": points}))
    assert read_trajectories(file)["1"].tolist() == [[1, 2], [1, 2]]


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="unknown ending"):
        write_trajectories(tmp_path / "a.gpx", WALKS)
    with pytest.raises(InvalidInputError, match="does not exist"):
        read_trajectories(tmp_path / "none.csv")
