"""Data sets: loading by name, file and population; domains; preparation as in the LDP3 paper."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import os

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import (
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    OutOfDomainError,
    UnknownNameError,
)
from ldpkit.files.readers import read_column
from ldpkit.simulation.datasets import KNOWN, Dataset, catalogue, grid_cells, load, top_items
from ldpkit.simulation.populations import zipf
from slow import slow

needs_data = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"),
    reason="LDPKIT_DATA does not name a directory with the public data sets",
)


@pytest.fixture
def empty_places(tmp_path, monkeypatch):
    """A machine without data sets; returns the directory that LDPKIT_DATA would name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LDPKIT_DATA", raising=False)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


# --- the data set itself ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "labels", "counts"),
    [
        ([3, 1, 1], [0, 1, 2, 3], [0, 2, 0, 1]),
        ([3.0, 1.0], [0, 1, 2, 3], [0, 1, 0, 1]),
        ([-1, 4, 4], [-1, 4], [1, 2]),
        ([1.5, 2.0], [1.5, 2.0], [1, 1]),
        (["b", "a", "b"], ["a", "b"], [1, 2]),
        ([7, 10**9], [7, 10**9], [1, 1]),  # identifiers, not positions
    ],
)
def test_the_domain_follows_from_the_values(values, labels, counts):
    dataset = Dataset.from_values(values, name="x")
    assert list(dataset.domain.labels) == labels
    assert dataset.counts.tolist() == counts
    assert (dataset.n, dataset.k) == (len(values), len(labels))
    assert [labels[index] for index in dataset.values()] == values


def test_an_explicit_domain():
    dataset = Dataset.from_values(["a", "a"], name="x", domain=["b", "a"])
    assert dataset.counts.tolist() == [0, 2]
    with pytest.raises(OutOfDomainError):
        Dataset.from_values([5], name="x", domain=4)
    counted = Dataset.from_counts(["a"], np.array([3]), name="x", domain=["b", "a"])
    assert counted.counts.tolist() == [0, 3]


def test_counts_keep_the_order_of_their_labels():
    dataset = Dataset.from_counts(["b", "a"], np.array([1, 2]), name="x")
    assert list(dataset.domain.labels) == ["b", "a"]
    assert dataset.values().tolist() == [0, 1, 1]
    assert dataset.values().dtype == np.uint32
    numbered = Dataset.from_counts([2, 0, 1], np.array([5, 6, 7]), name="x")
    assert numbered.domain == CategoricalDomain(3)
    assert numbered.counts.tolist() == [6, 7, 5]


@pytest.mark.parametrize("values", [["a", "a"], [5, 5, 5]])
def test_one_distinct_value_is_no_domain(values):
    with pytest.raises(
        InvalidInputError, match=f"only the value {values[0]!r}, and a domain needs at least 2"
    ):
        Dataset.from_values(values, name="x")
    with pytest.raises(InvalidInputError, match="a domain needs at least 2 values"):
        Dataset.from_counts(values[:1], np.array([5]), name="x")


def test_it_does_not_change():
    dataset = Dataset.from_values([0, 1], name="x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "y"
    with pytest.raises(ValueError, match="read-only"):
        dataset.counts[0] = 9


def test_too_many_people_are_not_listed():
    dataset = Dataset.from_counts([0, 1], np.array([10**9, 1]), name="big")
    with pytest.raises(InvalidInputError, match="1000000001 people, too many to list"):
        dataset.values()


def test_nobody_is_no_data_set():
    with pytest.raises(InvalidInputError, match="counts are all zero"):
        Dataset.from_counts([0, 1], np.array([0, 0]), name="x")


# --- loading ---------------------------------------------------------------------------


def test_a_file_of_values(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("city,age\nOslo,3\nRome,1\nOslo,1\n")
    dataset = load(file, column="city")
    assert (dataset.name, dataset.n, dataset.k) == ("people.csv", 3, 2)
    assert dataset.counts.tolist() == [2, 1]
    assert load(str(file), column="age").counts.tolist() == [0, 2, 0, 1]
    assert load(file, column="age", domain=6).k == 6


@pytest.mark.parametrize("text", ["3\n1\n1\n", "b\n\na\nb\n", "1.5\n2\n\n1.5\n", "7\n8\nseven\n7\n"])
def test_a_file_is_loaded_in_pieces_as_if_it_were_read_at_once(tmp_path, monkeypatch, text):
    monkeypatch.setattr("ldpkit.files.tables._PIECE", 2)
    path = tmp_path / "people.txt"
    path.write_text(text)
    whole = Dataset.from_values(read_column(path, missing="drop"), name="people.txt")
    found = load(path, missing="drop")
    assert (found.domain, found.counts.tolist()) == (whole.domain, whole.counts.tolist())
    assert found.values().tolist() == whole.values().tolist()
    assert found.dropped == text.count("\n\n")


def test_people_in_a_packed_file_have_a_limit(tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
    from pyarrow import parquet

    path = tmp_path / "people.parquet"
    parquet.write_table(arrow.table({"v": (np.arange(200_000) % 2).astype(np.int8)}), path)
    assert load(path).n == 200_000
    monkeypatch.setattr("ldpkit.core.limits._TIMES", 1)
    monkeypatch.setattr("ldpkit.core.limits._DEFAULT", 1 << 20)
    with pytest.raises(InvalidInputError, match=r"the whole of '.*' takes 4 MiB .* set LDPKIT_MEMORY=4M"):
        load(path)


def test_a_file_of_counts(tmp_path):
    file = tmp_path / "cities.csv"
    file.write_text("value,count\nRome,1\nOslo,2\n")
    for dataset in (
        load(file),
        load(file, column="value"),
        load(file, kind="counts"),
        load(file, count="count"),
    ):
        assert list(dataset.domain.labels) == ["Rome", "Oslo"]
        assert dataset.counts.tolist() == [1, 2]
    assert load(file, column="count", kind="values").n == 2
    other = tmp_path / "other.csv"
    other.write_text("city,people\nRome,1\nOslo,2\n")
    assert load(other, kind="counts").n == 3
    with pytest.raises(InvalidInputError, match="choose one of city, people"):
        load(other)


def test_a_population():
    dataset = load("zipf:k=8,n=1000")
    assert dataset.counts.tolist() == zipf(8, 1000).tolist()
    assert dataset.domain == CategoricalDomain(8)
    assert dataset.name == "zipf:k=8,n=1000"
    assert "tail" in dataset.source


def test_a_file_wins_over_a_population_and_a_known_name_over_a_file(tmp_path, monkeypatch, empty_places):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uniform").write_text("a\nb\n")
    (tmp_path / "kosarak").write_text("a\nb\n")
    assert load("uniform").n == 2
    assert load("./kosarak").n == 2
    with pytest.raises(InvalidInputError, match="'kosarak' is not here"):
        load("kosarak")


@pytest.mark.parametrize(
    ("name", "options", "kind", "message"),
    [
        ("kosarek", {}, UnknownNameError, "unknown data set or file 'kosarek': did you mean kosarak"),
        ("no/such", {}, InvalidInputError, "does not exist: check the path"),
        ("no.csv", {}, InvalidInputError, "does not exist: check the path"),
        ("zpif:k=3,n=5", {}, UnknownNameError, "unknown population 'zpif': did you mean zipf"),
        ("zipf", {}, InvalidParameterError, "needs k"),
        ("zipf:k=3,n=5", {"column": "x"}, InvalidParameterError, "column is for files"),
        ("kosarak", {"domain": 3}, InvalidParameterError, "domain is for files"),
        (
            "a.csv",
            {"kind": "other"},
            InvalidParameterError,
            "kind must be auto, values or counts, got 'other'",
        ),
        ("a.csv", {"kind": "values", "count": "n"}, InvalidParameterError, "leave count='n' out"),
    ],
)
def test_what_cannot_be_loaded(name, options, kind, message):
    with pytest.raises(kind, match=message):
        load(name, **options)


def test_a_known_set_that_is_missing_says_where_to_get_it(empty_places, monkeypatch):
    with pytest.raises(InvalidInputError) as caught:
        load("Kosarak")
    for part in ("kosarak_counts.csv", "cache", "LDPKIT_DATA can name", "alrzakh/LDPcubePlus"):
        assert part in str(caught.value)
    monkeypatch.setenv("LDPKIT_DATA", str(empty_places))
    with pytest.raises(InvalidInputError, match=str(empty_places)):
        load("kosarak")


@pytest.fixture
def tiny(monkeypatch):
    """A known set of our own, so that the catalogue is tested without real data."""
    content = b"value,count\na,5\nb,1\nc,4\n"
    values = b"value\na\nb\n"
    known = catalogue.KnownSet(
        "tiny",
        "A small one",
        9,
        2,
        "made for a test",
        "public domain",
        (
            catalogue.KnownFile("tiny.csv", hashlib.sha256(content).hexdigest(), count="count"),
            catalogue.KnownFile("tiny_values.csv", hashlib.sha256(values).hexdigest()),
        ),
        least_count=2,
    )
    monkeypatch.setitem(KNOWN, "tiny", known)
    return content, values


def test_a_known_set_is_found_verified_and_cut(empty_places, monkeypatch, tiny):
    content, values = tiny
    cache = empty_places.parent / "cache" / "ldpkit"
    cache.mkdir(parents=True)
    (cache / "tiny_values.csv").write_bytes(values)
    assert load("tiny").values().tolist() == [0, 1]
    (cache / "tiny.csv").write_bytes(content)
    dataset = load("tiny")
    assert list(dataset.domain.labels) == ["a", "c"]
    assert dataset.counts.tolist() == [5, 4]
    assert (dataset.source, dataset.licence) == ("made for a test", "public domain")
    # LDPKIT_DATA comes before the cache, and a changed file is noticed.
    (empty_places / "tiny.csv").write_bytes(content.replace(b"5", b"6"))
    monkeypatch.setenv("LDPKIT_DATA", str(empty_places))
    with pytest.raises(InvalidInputError, match="is not the file of the catalogue: its SHA-256 is"):
        load("tiny")
    assert load("tiny", verify=False).counts.tolist() == [6, 4]


def test_the_catalogue_is_complete():
    for name, known in KNOWN.items():
        assert name == known.name == name.lower()
        assert known.title
        assert known.source
        assert known.licence
        assert known.n > known.k >= 2
        assert known.files
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in known.files)


REAL = {name: known.files[0].sha256 for name, known in KNOWN.items() if known.files[0].sha256}
ONE_A_FILE = {file: name for name, file in REAL.items()}


@needs_data
@pytest.mark.parametrize("name", [*ONE_A_FILE.values(), *slow(*sorted(REAL.keys() - ONE_A_FILE.values()))])
def test_the_real_files_are_what_the_catalogue_says(name):
    dataset = load(name)
    assert (dataset.n, dataset.k) == (KNOWN[name].n, KNOWN[name].k)
    assert (dataset.counts > 0).all()


@needs_data
def test_the_sets_of_the_ldp3_paper():
    kosarak, bms_pos = load("kosarak"), load("bms-pos")
    assert (kosarak.n, kosarak.k) == (929_669, 128)
    assert (bms_pos.n, bms_pos.k) == (500_000, 256)
    assert len(kosarak.values()) == kosarak.n


@needs_data
@pytest.mark.parametrize("name", ["kosarak", "bms_pos", "adult_age"])
def test_both_forms_of_a_set_agree(name):
    pytest.importorskip("pyarrow", reason="the values are a Parquet file")
    place = catalogue.search_places()["LDPKIT_DATA"]
    values = read_column(place / KNOWN[name].files[1].name)
    assert Dataset.from_values(values, name=name).counts.tolist() == load(name).counts.tolist()


# --- preparation -----------------------------------------------------------------------


def test_top_items_by_hand():
    clicks = [
        ["a", "b", "b", "x"],  # b is the most frequent
        ["c", "a"],  # a tie: c was seen first, but is not kept
        ["b", "a"],  # a tie: b was seen first
        ["x", "y"],  # nothing kept: dropped
        [],
        ["a"],
    ]
    dataset = top_items(clicks, 2)
    assert list(dataset.domain.labels) == ["a", "b"]  # four and three times
    assert [dataset.domain.labels[index] for index in dataset.values()] == ["b", "a", "b", "a"]
    assert dataset.counts.tolist() == [2, 2]


def _top_items_slowly(transactions, k):
    frequency = collections.Counter(item for items in transactions for item in items)
    kept = [item for item, _ in frequency.most_common(k)]  # ties in the order of first sight
    chosen = []
    for items in transactions:
        own = collections.Counter(item for item in items if item in kept)
        if own:
            chosen.append(own.most_common(1)[0][0])
    return kept, chosen


@given(st.lists(st.lists(st.integers(0, 8), max_size=8), min_size=1, max_size=20), st.integers(2, 9))
def test_top_items_equals_the_definition(transactions, k):
    distinct = len({item for items in transactions for item in items})
    if distinct < k:
        with pytest.raises(InvalidInputError, match=f"{distinct} distinct items"):
            top_items(transactions, k)
        return
    kept, chosen = _top_items_slowly(transactions, k)
    dataset = top_items(iter(transactions), k)
    assert list(dataset.domain.labels) == kept
    assert [dataset.domain.labels[index] for index in dataset.values()] == chosen
    assert dataset.n == len(chosen)


def test_a_kept_item_may_be_nobodys_choice():
    dataset = top_items([["a", "a", "b"], ["a", "a", "b"], ["c"]], 2)
    assert dataset.counts.tolist() == [2, 0]


def test_grid_cells_by_hand():
    points = [[0, 0], [2.9, 0], [3, 0], [0, 1], [6, 2]]
    dataset = grid_cells(points, 2, 2)
    assert dataset.values().tolist() == [0, 0, 1, 2, 3]
    assert dataset.domain == CategoricalDomain(4)
    assert grid_cells(points, 15, 15).k == 225


def test_grid_bounds():
    points = np.array([[0.0, 0.0], [5.0, 5.0], [20.0, 0.0]])
    bounds = (0, 0, 10, 10)
    with pytest.raises(InvalidInputError, match=r"1 points lie outside the bounds, first \(20.0, 0.0\)"):
        grid_cells(points, 2, 2, bounds=bounds)
    assert grid_cells(points, 2, 2, bounds=bounds, drop_outside=True).values().tolist() == [0, 3]


@given(
    st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1),
    st.integers(1, 20),
    st.integers(2, 20),
)
def test_every_point_is_inside_its_cell(points, rows, columns):
    cells = grid_cells(points, rows, columns, bounds=(-180, -90, 180, 90)).values()
    for (x, y), cell in zip(points, cells.tolist(), strict=True):
        row, column = divmod(cell, columns)
        width, height = 360 / columns, 180 / rows
        assert -180 + column * width - 1e-9 <= x <= -180 + (column + 1) * width + 1e-9
        assert -90 + row * height - 1e-9 <= y <= -90 + (row + 1) * height + 1e-9


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[0, 0]], 1, 1), {}, "at least 2 cells, got 1 x 1"),
        (([[0, 0]], 0, 5), {}, "rows must be at least 1, got 0"),
        (([0, 1], 2, 2), {}, r"rows of x and y, got shape \(2,\)"),
        ((np.empty((0, 2)), 2, 2), {}, r"got shape \(0, 2\)"),
        (([[0, 0], [np.nan, 1]], 2, 2), {}, "point 1 is"),
        (([[1, 0], [1, 1]], 2, 2), {}, "with room between"),
        (([[0, 0]], 2, 2), {"bounds": (0, 0, 1)}, "bounds are x_min, y_min, x_max, y_max"),
        (([[5, 5]], 2, 2), {"bounds": (0, 0, 1, 1), "drop_outside": True}, "counts are all zero"),
    ],
)
def test_bad_grids(arguments, options, message):
    with pytest.raises(LdpkitError, match=message):
        grid_cells(*arguments, **options)
