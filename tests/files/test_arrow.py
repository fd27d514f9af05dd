"""The one decoder: whatever a column holds becomes reports, or is refused or counted with its row."""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, MismatchError
from ldpkit.files.arrow import decode_column, open_parquet, report_column, write_parquet
from ldpkit.files.description import Description, described

ORACLE = ldpkit.OLH(64, epsilon=1)
REPORTS = ORACLE.privatize(list(range(64)), rng=ldpkit.random.seeded(1))
WIDTH = ORACLE.report_bytes
MECHANISMS = [
    ORACLE,
    ldpkit.OUE(20, epsilon=1),
    ldpkit.get("ss", 20, epsilon=1),
    ldpkit.get("piecewise", (0, 10), epsilon=1),
    ldpkit.get("tracs_d", ((0, 0), (1, 1)), epsilon=1),
    ldpkit.get("lolh", 20, epsilon_inf=2.0, epsilon_1=1.0),
]


def columns(mechanism, reports):
    fixed = report_column(mechanism, reports)
    return {
        "fixed": fixed,
        "sliced": pa.concat_arrays([fixed, fixed]).slice(len(fixed), len(fixed)),
        "binary": fixed.cast(pa.binary()),
        "large": fixed.cast(pa.large_binary()),
        "view": fixed.cast(pa.binary()).cast(pa.binary_view()),
        "coded": fixed.cast(pa.binary()).dictionary_encode(),
        "chunked": pa.chunked_array([fixed.slice(0, 3), fixed.slice(3)]),
        "binary sliced": pa.concat_arrays([fixed, fixed]).cast(pa.binary()).slice(len(fixed)),
    }


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_every_layout_of_every_kind_of_mechanism_gives_the_same_reports(mechanism):
    domain = mechanism.domain
    held = [(0.2, 0.7)] * 9 if mechanism.kind == "spatial" else [3] * 9
    reports = mechanism.first_reports(held, rng=ldpkit.random.seeded(2))
    for name, column in columns(mechanism, reports).items():
        found = decode_column(column, mechanism)
        assert (found.reports == mechanism.check_reports(reports)).all(), (name, domain)
        assert found.rows is None
        assert len(found.bad) == 0


def test_bad_rows_are_refused_with_their_place_or_counted():
    good = ORACLE.encode(REPORTS[:1])
    damaged = b"\xff" * WIDTH
    assert not ORACLE.valid_mask(damaged).all()
    cells = [good, None, good[:-1], good + b"x", damaged, b"", good]
    for kind in (pa.binary(), pa.large_binary()):
        column = pa.array(cells, kind)
        found = decode_column(column, ORACLE, bad="count")
        assert found.rows is not None
        assert found.rows.tolist() == [0, 6]
        assert found.bad.tolist() == [1, 2, 3, 4, 5]
        for row, why in ((1, "no report is there"), (2, "bytes"), (4, "from another mechanism or damaged")):
            with pytest.raises(FileFormatError, match=f"row {11 + row}: .*{why}"):
                decode_column(column.slice(row, 1), ORACLE, first=10 + row)
    fixed = pa.array([good, None, damaged], pa.binary(WIDTH))
    assert decode_column(fixed, ORACLE, bad="count").bad.tolist() == [1, 2]


def test_a_column_of_another_length_or_type_is_refused_whatever_bad_says():
    with pytest.raises(FileFormatError, match=f"values of 3 bytes, reports of .* have {WIDTH}"):
        decode_column(pa.array([b"abc"], pa.binary(3)), ORACLE, bad="count")
    with pytest.raises(FileFormatError, match="holds int64, not bytes"):
        decode_column(pa.array([1]), ORACLE)
    with pytest.raises(InvalidParameterError, match='"refuse" or "count"'):
        decode_column(pa.array([b""]), ORACLE, bad="drop")


def test_blocks_hold_any_number_of_reports():
    data = ORACLE.encode(REPORTS)
    blocks = pa.array([data[: 10 * WIDTH], b"", data[10 * WIDTH :], data[:3], None])
    found = decode_column(blocks, ORACLE, bad="count", blocks=True)
    assert (found.reports == REPORTS).all()
    assert found.bad.tolist() == [3, 4]
    with pytest.raises(FileFormatError, match=r"row 4: 3 bytes, .* a multiple of"):
        decode_column(blocks, ORACLE, blocks=True)


def test_an_empty_column_has_no_reports():
    for kind in (pa.binary(), pa.binary(WIDTH), pa.large_binary()):
        assert len(decode_column(pa.array([], kind), ORACLE).reports) == 0


def test_a_file_says_what_made_it_and_a_foreign_mechanism_is_refused(tmp_path):
    file = tmp_path / "a.parquet"
    write_parquet(file, ORACLE, [REPORTS[:40], REPORTS[40:]], ldpkit.Provenance("secure", "stated"))
    opened = open_parquet(file)
    told = opened.description
    assert told is not None
    assert told.mechanism == ORACLE
    assert told.of_rows(opened.rows).known == 64
    assert told.provenance.randomness == "secure"
    other = ldpkit.OLH(64, epsilon=2)
    with pytest.raises(MismatchError, match=r"holds reports of OLH.64, epsilon=1"):
        told.check(other, "'a.parquet'")


def test_a_description_that_does_not_fit_itself_is_refused():
    schema = described(pa.schema([]), ORACLE)
    told = json.loads(schema.metadata[b"ldpkit"])
    for changed in (
        {"record_length": 3},
        {"fingerprint": "0" * 16},
        {"batch": "no id"},
        {"mechanism": "unheard of"},
        {"parameters": {"epsilon": 2.0}},
    ):
        with pytest.raises(FileFormatError, match="description that"):
            Description.read({b"ldpkit": json.dumps({**told, **changed}).encode()}, "'a'")
    assert Description.read({b"other": b""}, "'a'") is None


def test_a_file_that_is_damaged_missing_or_lacks_a_column_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        open_parquet(tmp_path / "none.parquet")
    os.mkfifo(tmp_path / "pipe.parquet")  # which would wait for a writer for ever
    with pytest.raises(InvalidInputError, match="is not a file on a disk"):
        open_parquet(tmp_path / "pipe.parquet")
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    with pytest.raises(FileFormatError, match="is not a Parquet file"):
        open_parquet(tmp_path / "text.parquet")
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.arange(3)}), file)
    with pytest.raises(InvalidInputError, match="has no column 'report': it has x"):
        list(open_parquet(file).batches(["report"], 10))
    assert open_parquet(f"file://{file}").rows == 3
