"""The contract of every frequency oracle: what is a report, what is a value, and what never changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from contract import golden
from contract.subjects import UNLISTED, every_oracle, is_of_the_house, oracle
from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.mechanisms.base import from_spec

seeded = ldpkit.random.seeded


# --- wire ------------------------------------------------------------------------------


def _patterns(size):
    for pattern in (b"\xff", b"\xff\x7f", b"\x7f", b"\x00"):
        yield (pattern * size)[:size]


def _decodes(mechanism, record):
    try:
        mechanism.decode(record)
    except FileFormatError:
        return False
    return True


@every_oracle
def test_what_the_mechanism_cannot_have_made_is_refused_with_its_offset(name):
    mechanism = oracle(name, 5)
    size = mechanism.report_bytes
    good = mechanism.encode(mechanism.first_reports([0, 1, 2, 3, 4], rng=seeded(1)))
    bad = next(record for record in _patterns(size) if not _decodes(mechanism, record))
    with pytest.raises(FileFormatError, match="report 5 is none") as caught:
        mechanism.decode(good + bad + good)
    assert caught.value.offset == 5 * size
    base, shape = mechanism.report_dtype.subdtype or (mechanism.report_dtype, ())
    with pytest.raises(InvalidInputError, match="report 5 is none"):
        mechanism.tally(np.frombuffer(good + bad, base).reshape(-1, *shape))


@every_oracle
@given(data=st.binary(max_size=40))
def test_any_bytes_are_reports_or_refused(name, data):
    mechanism = oracle(name, 5, 2.0)
    if not _decodes(mechanism, data):
        with pytest.raises(FileFormatError) as caught:
            mechanism.decode(data)
        assert caught.value.offset in range(len(data) + 1)
        return
    reports = mechanism.decode(data)
    assert mechanism.encode(reports) == data
    assert mechanism.tally(reports).n == len(data) // mechanism.report_bytes


@every_oracle
def test_the_channel_lists_all_valid_reports(name):
    """Where a report is one byte, try all 256: valid is what the channel holds, and no more."""
    mechanism = oracle(name, 5, 1.0)
    if mechanism.report_bytes > 1 or name in UNLISTED:
        pytest.skip("reports are too many to try")
    listed = mechanism.encode(mechanism.channel().reports)
    for number in range(256):
        if number in listed:
            mechanism.decode(bytes([number]))
        else:
            with pytest.raises(FileFormatError):
                mechanism.decode(bytes([number]))


# --- input -----------------------------------------------------------------------------


@every_oracle
def test_labels_and_indices_make_the_same_reports(name):
    labels = ["walk", "bike", "bus", "car"]
    mechanism = oracle(name, labels)
    indices = np.array([3, 0, 2, 2, 1] * 20)
    texts = [labels[index] for index in indices]
    expected = mechanism.encode(mechanism.first_reports(indices, rng=seeded(3)))
    for values in (texts, np.array(texts), np.array(texts, object), tuple(texts), iter(texts)):
        assert mechanism.encode(mechanism.first_reports(values, rng=seeded(3))) == expected
    unlabelled = oracle(name, 4)
    for dtype in (np.uint8, np.int16, np.int64, np.uint64, np.float32, float, object, ">i4"):
        assert unlabelled.encode(unlabelled.first_reports(indices.astype(dtype), rng=seeded(3))) == expected


@every_oracle
def test_label_domains_refuse_what_is_no_label(name, untouched):
    mechanism = oracle(name, ["no", "yes"])
    for bad in (["maybe"], ["NO"], ["no "], [""], [True], [0.0], [2], [-1], ["no", None], ["no", 1], [b"no"]):
        with pytest.raises(InvalidInputError):
            mechanism.first_reports(bad, rng=untouched)
    numbers = oracle(name, [10, 20, 30])
    for bad in ([0], [11], ["10"], [10.5], [np.nan], [10, None]):
        with pytest.raises(InvalidInputError):
            numbers.first_reports(bad, rng=untouched)


@every_oracle
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_values(name, library, untouched):
    module = pytest.importorskip(library)
    column = module.array if library == "pyarrow" else module.Series
    mechanism = oracle(name, 4)
    labelled = oracle(name, ["a", "b", "c"])
    for each, values in ((mechanism, [3, 0, 2]), (labelled, ["b", "c", "a"]), (mechanism, [True, False])):
        from_column = each.first_reports(column(values), rng=seeded(2))
        assert each.encode(from_column) == each.encode(each.first_reports(values, rng=seeded(2)))
    for each, values in (
        (mechanism, [3, None]),
        (mechanism, [0.0, float("nan")]),
        (mechanism, [0, 4]),
        (mechanism, ["a"]),
        (labelled, ["a", None]),
        (labelled, ["d"]),
        (labelled, [3]),
    ):
        with pytest.raises(InvalidInputError):
            each.first_reports(column(values), rng=untouched)


items = st.one_of(
    st.integers(),
    st.integers(-2, 7),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.lists(st.integers(), max_size=2),
    st.dates(),
)


@given(values=st.lists(items, max_size=6) | items)
def test_any_input_is_used_as_meant_or_refused(values):
    """Whatever comes in: the indices meant by it, or an InvalidInputError; never another exception."""
    mechanism = ldpkit.GRR(5, 1.0)
    try:
        reports = mechanism.first_reports(values, rng=seeded(1))
    except InvalidInputError:
        good = isinstance(values, list) and values and all(type(v) is int and 0 <= v < 5 for v in values)
        assert not good, "good values were refused"
        return
    assert len(reports) == len(values)
    assert all(value in range(5) for value in values), "a value outside the domain was accepted"


# --- golden ----------------------------------------------------------------------------


def _golden(name):
    if not is_of_the_house(name):
        pytest.skip("a plugin keeps its own golden vectors")
    known = golden.load()
    assert name in known, f"{name} has no golden vectors: run python tests/contract/golden.py to add them"
    return known[name]


@every_oracle
def test_golden_vectors(name):
    assert golden.observe(name) == _golden(name)


@every_oracle
def test_golden_reports_are_read_as_ever(name):
    known = _golden(name)
    mechanism = from_spec(known["spec"])
    reports = mechanism.decode(bytes.fromhex(known["reports"]))
    assert mechanism.tally(reports).counts.tolist() == known["counts"]
    assert ldpkit.Tally.from_bytes(bytes.fromhex(known["tally"])) == mechanism.tally(reports)
