"""Provenance: what is put together is as bad as its worst part, and no report is there twice."""

from __future__ import annotations

import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, MismatchError
from ldpkit.core.provenance import UNKNOWN, Provenance, Span, new_batch

ONE, TWO = "1" * 32, "2" * 32


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (Provenance("secure", "stated"), Provenance("secure", "stated"), Provenance("secure", "stated")),
        (Provenance("secure", "data"), Provenance("seeded", "stated"), Provenance("seeded", "data")),
        (Provenance("secure", "stated"), UNKNOWN, UNKNOWN),
        (Provenance("seeded", "data"), UNKNOWN, Provenance("seeded", "data")),
        (Provenance(devices="kept"), Provenance(devices="new"), Provenance(devices="new")),
        (Provenance(devices="new"), Provenance(devices="unknown"), Provenance(devices="unknown")),
        (Provenance(devices="kept"), UNKNOWN, Provenance(devices="kept")),
    ],
)
def test_the_worst_part_decides(first, second, both):
    assert first + second == second + first == Provenance.merge([first, second]) == both


def test_spans_join_and_never_overlap():
    parts = [Span(TWO, 0, 3), Span(ONE, 5, 9), Span(ONE, 0, 5), Span(TWO, 7, 8), Span(ONE, 9, 9)]
    whole = Provenance.merge(Provenance(spans=(span,)) for span in parts)
    assert whole.spans == (Span(ONE, 0, 9), Span(TWO, 0, 3), Span(TWO, 7, 8))
    assert (whole.batches, whole.known) == ((ONE, TWO), 13)
    with pytest.raises(MismatchError, match="reports 2 to 2 of batch 22222222"):
        _ = whole + Provenance(spans=(Span(TWO, 2, 5),))


def test_the_json_form_goes_back_and_forth():
    full = Provenance("seeded", "data", "new", (Span(new_batch(), 3, 9),))
    for each in (full, UNKNOWN, Provenance("secure", "stated")):
        assert Provenance.from_json(each.to_json()) == each
    assert Provenance.from_json({}) == UNKNOWN == Provenance.merge([])
    assert len(full.warnings()) == 3
    assert UNKNOWN.warnings() == Provenance("secure", "stated", "kept").warnings() == []


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {"randomness": None},
        {"domain_source": ["data"]},
        {"devices": "old"},
        {"outside": "5"},
        {"spans": 3},
        {"spans": [[ONE, 0]]},
        {"spans": [[ONE, 2, 1]]},
        {"spans": [[ONE, 0.0, 1]]},
        {"spans": [["G" * 32, 0, 1]]},
        {"spans": [[ONE, 0, 1 << 63]]},
    ],
    ids=repr,
)
def test_forged_records_are_refused(record):
    with pytest.raises(InvalidInputError):
        Provenance.from_json(record)


def test_evidence_carries_it_and_refuses_copies(tmp_path):
    oracle, rng = ldpkit.OUE(3, epsilon=1.0), ldpkit.random.seeded(1)
    with ldpkit.ReportWriter(tmp_path / "a.ldp", oracle, provenance=Provenance.of(rng)) as writer:
        writer.write(oracle.privatize([0, 1, 1] * 50, rng=rng))
    file = ldpkit.ReportFile.open(tmp_path / "a.ldp")
    evidence = ldpkit.Evidence.from_file(file)
    assert evidence.provenance == evidence.tally().provenance == file.provenance
    assert evidence.estimate().made_by["randomness"] == "seeded"
    with pytest.raises(MismatchError, match="are there twice"):
        _ = evidence + ldpkit.Evidence.from_file(file)
    bare = ldpkit.Evidence.of(oracle, oracle.privatize([0]))
    assert "randomness" not in bare.estimate("mi").made_by
    assert (evidence + bare).provenance.randomness == "seeded"
