"""The contract of every mechanism: frozen, exact about its input, portable."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import ldpkit
from contract import checks
from ldpkit.core.errors import FileFormatError, FrozenError, InvalidInputError, InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS, from_spec

seeded = ldpkit.random.seeded


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
    expected = mechanism.encode(mechanism.first_reports(case.values, rng=seeded(2)))
    for other in copies:
        assert other == mechanism
        assert other.exact_epsilon() == mechanism.exact_epsilon()
        assert other.encode(other.first_reports(case.values, rng=seeded(2))) == expected


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
            case.mechanism.first_reports(bad, rng=untouched)


def test_one_bad_value_among_many_good_ones_is_refused(case, untouched):
    good = case.values.tolist()
    for bad in (None, float("nan"), -7, 2**70, "text", b"bytes", [0], object()):
        with pytest.raises(InvalidInputError):
            case.mechanism.first_reports([*good, bad], rng=untouched)


@pytest.mark.parametrize("rng", [7, "secure", np.random.default_rng(1), bytes(32), ldpkit.random])
def test_a_foreign_random_source_is_refused(case, rng):
    with pytest.raises(InvalidParameterError, match=r"ldpkit\.random\.s"):
        case.mechanism.first_reports(case.values, rng=rng)


def test_input_is_left_as_it_is(case):
    values = case.values.copy()
    values.setflags(write=False)
    reports = case.mechanism.first_reports(values, rng=seeded(3))
    reports.setflags(write=False)
    case.mechanism.tally(reports)
    case.mechanism.encode(reports)
    assert (values == case.values).all()


# --- randomness ------------------------------------------------------------------------


def test_a_seed_repeats_and_another_seed_does_not(case):
    def run(rng):
        return case.mechanism.encode(case.mechanism.first_reports(case.values, rng=rng))

    assert run(seeded(5)) == run(seeded(5))
    assert run(seeded(5)) != run(seeded(6))
    source = seeded(5)
    assert run(source) != run(source), "a source that is used again goes on"


def test_default_randomness_never_repeats(case):
    runs = {case.mechanism.encode(case.mechanism.first_reports(case.values)) for _ in range(8)}
    assert len(runs) == 8, "200 secure reports came out twice alike (false-alarm rate far below 1e-9)"


def test_the_default_source_is_secure(case, monkeypatch):
    made = []
    original = ldpkit.random.secure
    monkeypatch.setattr(ldpkit.random, "secure", lambda: made.append(original()) or made[-1])
    case.mechanism.first_reports(case.values)
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
