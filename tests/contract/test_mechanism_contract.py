"""The contract of every mechanism: frozen, exact about its input, portable, additive."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import operator
import pickle
import struct
import zlib

import numpy as np
import pytest

import ldpkit
from contract import checks
from contract.subjects import MECHANISM_NAMES, ORACLE_NAMES, Subject, subject
from ldpkit.core.errors import (
    FileFormatError,
    FrozenError,
    InvalidInputError,
    InvalidParameterError,
    MismatchError,
)
from ldpkit.mechanisms.base import MECHANISMS, from_spec

seeded = ldpkit.random.seeded


@pytest.fixture(params=MECHANISM_NAMES)
def case(request: pytest.FixtureRequest) -> Subject:
    return subject(request.param)


@pytest.fixture
def mechanism(case):
    return case.mechanism


@pytest.fixture
def reports(case):
    return case.mechanism.privatize(case.values, rng=seeded(1))


# --- identity --------------------------------------------------------------------------


def test_it_says_what_it_is(mechanism):
    kind = type(mechanism)
    assert MECHANISMS.get(mechanism.name) is kind
    for alias in kind.aliases:
        assert MECHANISMS.get(alias) is kind
    assert mechanism.title
    assert mechanism.citation
    assert kind.__doc__
    assert repr(mechanism).startswith(kind.__name__ + "(")
    for name, value in mechanism.parameters().items():
        assert f"{name}={value:g}" in repr(mechanism)


def test_its_epsilon_holds(mechanism):
    checks.check_epsilon(mechanism)


def test_it_never_changes(mechanism):
    before = mechanism.spec()
    for name in ("epsilon", "domain", "p", "name", "anything"):
        with pytest.raises(FrozenError, match="make a new"):
            setattr(mechanism, name, 3.0)
        with pytest.raises(FrozenError, match="does not change"):
            delattr(mechanism, name)
    mechanism.exact_epsilon()  # what is computed late and kept does not count as a change
    assert mechanism.spec() == before
    assert not hasattr(mechanism, "anything")


def test_equal_means_same_kind_domain_and_parameters(case):
    twin = from_spec(case.mechanism.spec())
    assert twin == case.mechanism
    assert hash(twin) == hash(case.mechanism)
    assert repr(twin) == repr(case.mechanism)
    for relative in case.relatives:
        assert relative != case.mechanism
    assert case.mechanism != case.mechanism.spec()
    assert len({case.mechanism, twin, *case.relatives}) == 1 + len(case.relatives)


def test_copies_are_equal_and_report_alike(case):
    mechanism = case.mechanism
    mechanism.exact_epsilon()
    spec = json.loads(json.dumps(mechanism.spec()))
    copies = [
        pickle.loads(pickle.dumps(mechanism, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    copies += [copy.copy(mechanism), copy.deepcopy(mechanism), from_spec(spec)]
    expected = mechanism.encode(mechanism.privatize(case.values, rng=seeded(2)))
    for other in copies:
        assert other == mechanism
        assert other.exact_epsilon() == mechanism.exact_epsilon()
        assert other.encode(other.privatize(case.values, rng=seeded(2))) == expected


@pytest.mark.parametrize(
    "spec",
    [
        {},
        None,
        [],
        "grr",
        {"mechanism": "grr"},
        {"mechanism": "nothing like it", "parameters": {}, "domain": 3},
    ],
)
def test_a_description_of_nothing_is_refused(spec):
    with pytest.raises(ldpkit.LdpkitError):
        from_spec(spec)


def test_a_spec_with_other_parameters_is_refused(mechanism):
    spec = mechanism.spec()
    good = spec["parameters"]
    refused = [{}, 3, None, {**good, "nonsense": 1.0}]
    refused += [
        {**good, name: bad} for name in good if "epsilon" in name for bad in (-1.0, "much", float("nan"))
    ]
    for parameters in refused:
        with pytest.raises(InvalidParameterError):
            from_spec({**spec, "parameters": parameters})


# --- input -----------------------------------------------------------------------------


def test_bad_values_are_refused_before_randomness_is_drawn(case, untouched):
    for bad in case.refused:
        with pytest.raises(InvalidInputError):
            case.mechanism.privatize(bad, rng=untouched)


def test_one_bad_value_among_many_good_ones_is_refused(case, untouched):
    good = case.values.tolist()
    for bad in (None, float("nan"), -7, 2**70, "text", b"bytes", [0], object()):
        with pytest.raises(InvalidInputError):
            case.mechanism.privatize([*good, bad], rng=untouched)


@pytest.mark.parametrize("rng", [7, "secure", np.random.default_rng(1), bytes(32), ldpkit.random])
def test_a_foreign_random_source_is_refused(case, rng):
    with pytest.raises(InvalidParameterError, match=r"ldpkit\.random\.s"):
        case.mechanism.privatize(case.values, rng=rng)


def test_input_is_left_as_it_is(case):
    values = case.values.copy()
    values.setflags(write=False)
    reports = case.mechanism.privatize(values, rng=seeded(3))
    reports.setflags(write=False)
    case.mechanism.tally(reports)
    case.mechanism.encode(reports)
    assert (values == case.values).all()


# --- randomness ------------------------------------------------------------------------


def test_a_seed_repeats_and_another_seed_does_not(case):
    def run(rng):
        return case.mechanism.encode(case.mechanism.privatize(case.values, rng=rng))

    assert run(seeded(5)) == run(seeded(5))
    assert run(seeded(5)) != run(seeded(6))
    source = seeded(5)
    assert run(source) != run(source), "a source that is used again goes on"


def test_default_randomness_never_repeats(case):
    runs = {case.mechanism.encode(case.mechanism.privatize(case.values)) for _ in range(8)}
    assert len(runs) == 8, "200 secure reports came out twice alike (false-alarm rate far below 1e-9)"


def test_the_default_source_is_secure(case, monkeypatch):
    made = []
    original = ldpkit.random.secure
    monkeypatch.setattr(ldpkit.random, "secure", lambda: made.append(original()) or made[-1])
    case.mechanism.privatize(case.values)
    assert [source.is_secure for source in made] == [True]


# --- wire form -------------------------------------------------------------------------


def test_the_wire_form_has_fixed_length_and_goes_back(case, reports):
    mechanism = case.mechanism
    data = mechanism.encode(reports)
    assert isinstance(data, bytes)
    assert len(data) == len(reports) * mechanism.report_bytes
    back = mechanism.decode(data)
    assert back.dtype == np.asarray(reports).dtype
    assert back.shape == reports.shape
    assert (back == reports).all()
    assert mechanism.encode(back) == data
    assert mechanism.tally(back) == mechanism.tally(reports)


def test_records_stand_on_their_own(case, reports):
    mechanism, size = case.mechanism, case.mechanism.report_bytes
    data = mechanism.encode(reports)
    singles = [mechanism.encode(reports[i : i + 1]) for i in range(len(reports))]
    assert b"".join(singles) == data
    assert all(len(single) == size for single in singles)
    shuffled = b"".join(reversed(singles))
    assert mechanism.tally(mechanism.decode(shuffled)) == mechanism.tally(reports)


def test_no_reports_are_a_wire_form_too(mechanism):
    nothing = mechanism.decode(b"")
    assert len(nothing) == 0
    assert mechanism.encode(nothing) == b""
    assert mechanism.tally(nothing).n == 0


def test_a_broken_last_record_is_refused_with_its_offset(case, reports):
    size = case.mechanism.report_bytes
    data = case.mechanism.encode(reports[:5])
    for extra in range(1, size):
        with pytest.raises(FileFormatError, match="whole number") as caught:
            case.mechanism.decode(data + bytes(extra))
        assert caught.value.offset == 5 * size


def test_big_endian_and_strided_reports_are_understood(case, reports):
    swapped = reports.astype(reports.dtype.newbyteorder(">"))
    if reports.dtype.names is None:
        assert case.mechanism.encode(swapped) == case.mechanism.encode(reports)
    assert case.mechanism.encode(reports[::2]) == case.mechanism.encode(reports[::2].copy())
    assert case.mechanism.tally(reports[::-1]) == case.mechanism.tally(reports)


@pytest.mark.parametrize(
    "foreign",
    [None, 3, "reports", [0.5], [[[0]]], ["a"], [None], np.zeros((2, 999), np.uint8), np.array([1j])],
)
def test_foreign_reports_are_refused(mechanism, foreign):
    for use in (mechanism.tally, mechanism.encode):
        with pytest.raises(InvalidInputError):
            use(foreign)


# --- tallies ---------------------------------------------------------------------------


def test_tallies_add_in_any_order_and_grouping(case, reports):
    whole = case.mechanism.tally(reports)
    cuts = [0, 1, 7, 50, 50, len(reports)]
    parts = [case.mechanism.tally(reports[start:end]) for start, end in itertools.pairwise(cuts)]
    for order in itertools.permutations(parts):
        assert functools.reduce(operator.add, order) == whole
    a, b, c, d, e = parts
    assert (a + b) + (c + (d + e)) == a + (b + (c + d)) + e == whole
    assert sum(parts) == ldpkit.Tally.merge(iter(parts)) == whole
    assert hash(sum(parts)) == hash(whole)
    assert whole.n == len(reports)
    assert ldpkit.Tally.merge([whole]) == whole


def test_an_empty_tally_is_the_zero(case, reports):
    whole = case.mechanism.tally(reports)
    assert whole + case.mechanism.tally(reports[:0]) == whole
    with pytest.raises(InvalidInputError, match="at least one"):
        ldpkit.Tally.merge([])


def test_tallies_of_different_mechanisms_do_not_mix(case, reports):
    tally = case.mechanism.tally(reports)
    for relative in case.relatives:
        other = ldpkit.Tally(relative, 0, np.zeros(relative.tally_size, int))
        with pytest.raises(MismatchError, match="do not mix"):
            tally + other
        with pytest.raises(MismatchError):
            ldpkit.Tally.merge([tally, other])
        assert tally != other
    for other in (1, 0.0, None, "tally", tally.counts.tolist()):
        with pytest.raises(TypeError):
            tally + other


def test_tallies_do_not_change(case, reports):
    tally = case.mechanism.tally(reports)
    for name in ("n", "counts", "mechanism", "anything"):
        with pytest.raises(FrozenError):
            setattr(tally, name, 0)
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0] = 5


def test_a_tally_keeps_its_own_counts(case):
    counts = case.mechanism.tally(case.mechanism.privatize(case.values[:3])).counts.copy()
    before = counts[0]
    tally = ldpkit.Tally(case.mechanism, 3, counts)
    counts[0] += 1
    assert tally.counts[0] == before


def test_impossible_counts_are_refused(case):
    mechanism, size = case.mechanism, case.mechanism.tally_size
    good = mechanism.tally(mechanism.privatize(case.values[:3])).counts
    huge = np.iinfo(np.int64).max
    for n, counts in [
        (3, np.append(good, 0)),
        (3, good[:, None]),
        (3, good[:-1]),
        (3, np.full(size, huge)),
        (3, np.full(size, -huge)),
        (-1, np.zeros(size, int)),
        (0, np.full(size, 1)),
    ]:
        with pytest.raises(InvalidInputError):
            ldpkit.Tally(mechanism, n, counts)
    if mechanism.name in ORACLE_NAMES:
        least, greatest = mechanism.count_range(3)
        for count in (least - 1, greatest + 1):
            with pytest.raises(InvalidInputError):
                ldpkit.Tally(mechanism, 3, np.full(size, count))


def test_a_tally_goes_into_bytes_and_back(case, reports):
    tally = case.mechanism.tally(reports)
    for back in (
        ldpkit.Tally.from_bytes(tally.to_bytes()),
        pickle.loads(pickle.dumps(tally)),
        copy.deepcopy(tally),
    ):
        assert back == tally
        assert back.mechanism == tally.mechanism
        assert back.to_bytes() == tally.to_bytes()
        assert not back.counts.flags.writeable


def test_every_damage_to_a_tally_is_noticed(case, reports):
    data = case.mechanism.tally(reports).to_bytes()
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            with pytest.raises(FileFormatError):
                ldpkit.Tally.from_bytes(bytes(damaged))


def test_truncated_and_lengthened_tallies_are_refused(case, reports):
    data = case.mechanism.tally(reports).to_bytes()
    for length in range(len(data)):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data[:length])
    for more in (data + b"\0", data + data, b"\0" + data):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(more)


def _sealed(header: bytes, counts: bytes, version: int = 1, magic: bytes = b"LDPT") -> bytes:
    body = struct.pack("<4sHI", magic, version, len(header)) + header + counts
    return body + struct.pack("<I", zlib.crc32(body))


def test_well_sealed_nonsense_is_refused(case, reports):
    """The checksum is no seal against a hostile sender: what is inside is checked as well."""
    tally = case.mechanism.tally(reports)
    spec = {**tally.mechanism.spec(), "n": tally.n}
    counts = tally.counts.astype("<i8").tobytes()
    good = json.dumps(spec).encode()
    assert ldpkit.Tally.from_bytes(_sealed(good, counts)) == tally

    def with_fields(**fields):
        return json.dumps({**spec, **fields}).encode()

    for data in (
        _sealed(good, counts, version=2),
        _sealed(good, counts, version=0),
        _sealed(good, counts, magic=b"LDPR"),
        _sealed(good, counts[:-8]),
        _sealed(good, counts + bytes(8)),
        _sealed(good, counts[:-1]),
        _sealed(good, b"\x7f" * len(counts)),
        _sealed(b"", counts),
        _sealed(b"null", counts),
        _sealed(b"[1]", counts),
        _sealed(b"\xff\xff", counts),
        _sealed(with_fields(n=0), counts),
        _sealed(with_fields(n=-5), counts),
        _sealed(with_fields(mechanism="none such"), counts),
        _sealed(with_fields(parameters={}), counts),
        _sealed(with_fields(parameters=dict.fromkeys(spec["parameters"], float("nan"))), counts),
        _sealed(with_fields(domain=1), counts),
        _sealed(with_fields(domain=2**31), counts),
    ):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data)


def test_other_files_are_no_tallies():
    for data in (b"", b"L", b"LDPT", b"PK\x03\x04" * 20, bytes(100), b"LDPT" + bytes(200)):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data)
