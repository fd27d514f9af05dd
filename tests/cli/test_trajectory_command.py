"""`ldpkit trajectory`: recommend, privatize, evaluate, heatmap, and what they refuse."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import ldpkit
from ldpkit.core.random import seeded

SPACE = ("--space", "0,0,10,5")


@pytest.fixture
def walks(tmp_path):
    """Three people, 200 locations each, in a file."""
    points = seeded(1).generator().random((3, 200, 2)) * [10, 5]
    lines = [f"{who},{x},{y}" for who, line in zip("abc", points, strict=True) for x, y in line.tolist()]
    path = tmp_path / "walks.csv"
    path.write_text("\n".join(["user,lon,lat", *lines]) + "\n")
    return path


def test_recommend_ranks_all_with_a_constant_among_them(run, walks):
    found = json.loads(run("trajectory", "recommend", *SPACE, "-e", 4, "--format", "json").out)
    names = [row["mechanism"] for row in found["rows"]]
    assert {"grid_response", "planar_window", "tracs_c", "tracs_d", "constant"} <= set(names)
    assert found["about"]["best"] == names[0]
    text = run(
        "trajectory", "recommend", walks, *SPACE, "-e", 3, "--for", "heatmap", "--columns", 4, "--rows", 2
    )
    assert "olh on cells" in text.out


@pytest.mark.parametrize("ending", ["csv", "geojson"])
def test_trajectories_go_out_with_ids_and_cells(run, walks, tmp_path, ending):
    file = tmp_path / f"private.{ending}"
    shown = run("trajectory", "privatize", walks, *SPACE, "-e", 2, "-o", file)
    assert "epsilon" in shown.out
    assert "not protected" in shown.err
    if ending == "csv":
        rows = list(csv.DictReader(file.read_text().splitlines()))
        assert len(rows) == 600
        assert {"id", "position", "x", "y", "cell_0", "cell_1"} <= set(rows[0])
    else:
        assert len(json.loads(file.read_text())["features"]) == 3


def test_reports_tally_to_the_same_map(run, walks, tmp_path):
    file = tmp_path / "reports.ldp"
    run("trajectory", "privatize", walks, *SPACE, "-e", 4, "-p", "tracs_c", "-o", file, "--seed", 3)
    options = ("--columns", 4, "--rows", 2, "--format", "json")
    found = json.loads(run("trajectory", "heatmap", file, *options).out)
    assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)
    assert found["about"]["provenance"]["randomness"] == "seeded"
    spots = json.loads(run("trajectory", "heatmap", file, *options, "--hotspots", 2).out)
    assert len(spots["rows"]) == 2
    line = run("trajectory", "heatmap", file, *SPACE, code=2).error_line
    assert "leave out --space" in line


def test_what_is_no_report_of_a_location_is_sent_to_estimate(run, tmp_path):
    (tmp_path / "values.txt").write_text("0\n1\n")
    file = tmp_path / "g.ldp"
    run("privatize", tmp_path / "values.txt", "-p", "grr", "-e", 1, "--domain", 2, "--seed", 1, "-o", file)
    line = run("trajectory", "heatmap", file, code=2).error_line
    assert line.endswith(f"these are of GRR(2, epsilon=1): give them to 'ldpkit estimate {file}'")


def test_a_refusal_of_a_region_is_one_line(run, tmp_path):
    for space in ("disc:0,0,1e308", "disc:1e308,0,1e308", "-1e308,-1e308,1e308,1e308"):
        line = run("trajectory", "recommend", f"--space={space}", code=2).error_line
        assert "error: a region inf across is too wide" in line
    (tmp_path / "many.csv").write_text("," * 10_000 + "\n")
    line = run("trajectory", "recommend", tmp_path / "many.csv", *SPACE, code=2).error_line
    assert line.endswith("'', '' and 9971 more")
    assert len(line) < 500


def test_maps_and_evaluations_are_drawn(run, walks, tmp_path):
    pytest.importorskip("matplotlib")
    figure, points = tmp_path / "map.png", tmp_path / "points.png"
    shown = run(
        *("trajectory", "heatmap", walks, *SPACE, "-e", 4, "-p", "olh", "--columns", 4, "--rows", 2),
        *("--seed", 1, "--figure", figure),
    )
    assert "total variation from the true map: 0." in shown.err
    run("trajectory", "evaluate", walks, *SPACE, "-p", "tracs_c,planar_window", "--figure", points)
    assert figure.stat().st_size > 10_000
    assert points.stat().st_size > 10_000


def test_evaluate_takes_all_that_can_be_made(run, walks):
    shown = run("trajectory", "evaluate", walks, *SPACE, "-e", 4, "--format", "csv")
    assert "place_response is left out" in shown.err
    rows = list(csv.DictReader(shown.out.splitlines()))
    assert rows[0]["mechanism"] in ("grid_response", "planar_window")


@pytest.mark.parametrize(
    ("name", "text", "words", "said"),
    [
        ("a.csv", "x,y\n1,1\n20,1\n", (), "is not in [0, 10] x [0, 5]"),
        ("a.csv", "x,y\n1,1\nnan,1\n", (), "not a finite number"),
        ("a.csv", "x,y\n1,1\n1,7\n", (), "the two numbers are swapped"),
        (
            "a.geojson",
            json.dumps({"type": "Feature", "geometry": {"type": "LineString", "coordinates": []}}),
            (),
            "has no points",
        ),
        (
            "a.gpx",
            '<gpx><trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>',
            ("--times",),
            "does not have a time for every point",
        ),
    ],
)
def test_what_cannot_be_reported_is_refused(run, tmp_path, name, text, words, said):
    file = tmp_path / name
    file.write_text(text)
    target = tmp_path / "out.csv"
    line = run("trajectory", "privatize", file, *SPACE, *words, "-o", target, code=2).error_line
    assert said in line
    assert not target.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--space", "0,0,10"), "has 3 numbers, not 4"),
        (("--space", "square:1,2"), "none that is known"),
        (("--space", "0,0,ten,5"), "not a number"),
        ((*SPACE, "-o", "x.txt"), "--output is written as"),
        ((*SPACE, "-o", "x.ldp", "-p", "tracs_d", "--reference", "previous"), "reports that can be tallied"),
        ((*SPACE, "-p", "grr"), "locations"),
    ],
)
def test_wrong_options_are_refused(run, walks, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    given = words if "-o" in words else (*words, "-o", "out.csv")
    assert said in run("trajectory", "privatize", walks, *given, code=2).error_line


def test_previous_does_not_tally(run, walks, tmp_path):
    file = tmp_path / "chained.csv"
    shown = run(
        *("trajectory", "privatize", walks, *SPACE, "-p", "tracs_d", "--reference", "previous"),
        *("-o", file, "--format", "json"),
    )
    assert json.loads(shown.out)["about"]["tallies"] is False
    assert np.isfinite([float(row["x"]) for row in csv.DictReader(file.read_text().splitlines())]).all()


def test_places_repeat_their_reports_from_the_memo(run, tmp_path):
    memo, today, later = tmp_path / "places.db", tmp_path / "today.csv", tmp_path / "later.csv"
    today.write_text("user,x,y\nann,1,1\nann,2,2\nann,1,1\n")
    later.write_text("user,x,y\nann,2,2\nann,3,3\n")
    first = run("trajectory", "privatize", today, *SPACE, "--memo", memo, "-o", tmp_path / "1.csv")
    assert "must not leave the device" in first.err
    told = run(
        *("trajectory", "privatize", later, *SPACE, "--memo", memo),
        *("-o", tmp_path / "2.csv", "--format", "json"),
    )
    (row,) = json.loads(told.out)["rows"]
    assert (row["paid"], row["in_all"]) == (1, 3)
    assert row["epsilon"] == pytest.approx(12, abs=1e-5)
    one, two = (list(csv.DictReader((tmp_path / f"{part}.csv").read_text().splitlines())) for part in (1, 2))
    cells = [[each["cell_0"], each["cell_1"]] for each in (*one, *two)]
    assert cells[0] == cells[2]
    assert cells[1] == cells[3]
    line = run(
        "trajectory", "privatize", later, *SPACE, "--memo", memo, "-o", tmp_path / "3.ldp", code=2
    ).error_line
    assert "leave out --per, --reference, --repeat-places and --memo" in line


def test_rivals_on_the_command_line(run, walks, tmp_path):
    stops = tmp_path / "stops.csv"
    stops.write_text("x,y\n" + "\n".join(f"{x},{y}" for x in (1, 4, 7, 9) for y in (1, 4)) + "\n")
    options = (*SPACE, "-e", 4, "--places", stops)
    found = json.loads(run("trajectory", "evaluate", walks, *options, "--format", "json").out)
    rows = {row["mechanism"]: row for row in found["rows"]}
    assert {"srr", "ngram", "atp", "place_response", "tracs_d"} <= rows.keys()
    assert rows["srr"]["expected"] > 0
    assert rows["ngram"]["expected"] is rows["atp"]["expected"] is None
    out = tmp_path / "private.csv"
    shown = run("trajectory", "privatize", walks, *options, "-p", "atp", "-o", out)
    assert "Reports cannot be tallied" in shown.err
    assert len(list(csv.DictReader(out.read_text().splitlines()))) == 600
    for command, told in (
        (
            ("privatize", walks, *options, "-p", "ngram", "-o", tmp_path / "reports.ldp"),
            "reports can be tallied",
        ),
        (("heatmap", walks, *SPACE, "-p", "ngram"), "is for whole trajectories, not for locations"),
    ):
        assert told in run("trajectory", *command, code=2).error_line
    advice = json.loads(run("trajectory", "recommend", stops, *SPACE, "--format", "json").out)
    assert {"srr", "place_exponential"} <= {row["mechanism"] for row in advice["rows"]}
    assert "depends on the whole trajectory" in advice["about"]["left_out"]["atp"]
    listed = json.loads(run("mechanisms", "--kind", "trajectory", "--format", "json").out)
    assert [row["name"] for row in listed["rows"]] == ["atp", "ngram"]


def test_locations_outside_name_the_option_that_helps(run, walks):
    for command in ("privatize", "evaluate", "heatmap", "recommend"):
        more = ("-o", walks.with_suffix(".geojson")) if command == "privatize" else ()
        line = run("trajectory", command, walks, "--space", "0,0,1,1", *more, code=2).error_line
        assert "give --clip to move such locations" in line
        assert "clip=True" not in line


def test_a_map_of_a_fine_grid_looks_at_no_more_places_than_there_are_bins():
    """A header of 247 bytes may name 4,096 by 4,096 cells; a tally has 64 by 64 bins of them."""
    grid = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=1, columns=4096, rows=4096)
    looked_at = grid.bends(np.zeros(2), np.ones(2), grid.bin_edges)
    assert [len(each) for each in looked_at] == [64, 64]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("grid_response", "for a map of locations use 'ldpkit trajectory heatmap'"),
        ("atp", "reports of atp do not tally"),
        ("ngram", "reports of ngram do not tally"),
    ],
)
def test_estimate_refuses_reports_of_locations_at_once(run, tmp_path, name, said):
    places = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.5, 0.6), (0.9, 0.2)])
    mechanism = ldpkit.get(name, places, epsilon=1)
    path = tmp_path / "reports.ldp"
    with ldpkit.ReportWriter(path, mechanism) as writer:
        writer.write(mechanism.decode(bytes(mechanism.report_bytes)))
    assert said in run("estimate", path, code=2).error_line
