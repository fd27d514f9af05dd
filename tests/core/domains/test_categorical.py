"""Domains: what a value is, and that nothing else gets through."""

from __future__ import annotations

import copy
import datetime
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpkit.core.domains.categorical import CategoricalDomain, as_domain
from ldpkit.core.errors import FrozenError, InvalidInputError, InvalidParameterError, OutOfDomainError

# --- making one ------------------------------------------------------------------------


def test_a_size_is_a_domain_of_indices():
    domain = CategoricalDomain(3)
    assert (domain.size, len(domain), list(domain.labels), domain.has_labels) == (3, 3, [0, 1, 2], False)
    assert CategoricalDomain(np.int64(3)) == domain
    assert str(domain) == "0..2"
    assert repr(domain) == "CategoricalDomain(3)"
    assert CategoricalDomain(2**26).size == 2**26


def test_labels_are_a_domain_in_order():
    domain = CategoricalDomain(["red", "green", "blue"])
    assert (domain.size, list(domain.labels), domain.has_labels) == (3, ["red", "green", "blue"], True)
    assert CategoricalDomain(np.array(["red", "green", "blue"])) == domain
    assert CategoricalDomain(("red", "green", "blue")) == domain
    assert CategoricalDomain(["green", "red", "blue"]) != domain
    assert str(domain) == "{red, green, blue}"
    assert str(CategoricalDomain(list("abcdefghij"))) == "{a, b, c, ... 10 labels}"


@pytest.mark.parametrize(
    "values",
    [
        *(-1, 0, 1, 2**26 + 1, True, False, np.True_, 3.0, np.float32(3), np.nan, None, object(), 3j),
        *("", "abc", b"abc", [], ["one"], ["a", "a"], [1, 1.0], [True, 1], [0, False]),
        *([1, "a"], [None, "a"], [[1], [2]], [(1,), (2,)], [np.nan, 1], [np.inf, 1], [b"a", b"b"]),
        *([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], np.zeros((2, 2)), [1j, 2j]),
    ],
)
def test_senseless_domains_are_refused(values):
    with pytest.raises(InvalidParameterError):
        CategoricalDomain(values)


def test_the_same_label_twice_is_named():
    with pytest.raises(InvalidParameterError, match="label 'b' appears twice"):
        CategoricalDomain(["a", "b", "c", "b"])


def test_a_repeated_label_is_found_without_comparing_all_pairs():
    compared = 0

    class Word(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str(self) == str(other)

    words = [Word(f"label {number}") for number in range(2000)]
    with pytest.raises(InvalidParameterError, match="label 'label 1999' appears twice"):
        CategoricalDomain([*words, Word("label 1999")])
    assert compared < 100, "labels are compared in pairs: a large file with a repeated line takes for ever"


def test_numbers_that_all_have_one_hash_are_no_labels():
    """Python's hash of a whole number is its rest by 2**61 - 1; looking such labels up takes k^2 steps."""
    for wrong in (1 << 64, -(1 << 63) - 1, 10**5000):
        with pytest.raises(InvalidParameterError, match="a whole number as a label has at most 64 bits"):
            CategoricalDomain([1, wrong])
    assert CategoricalDomain([(1 << 64) - 1, -(1 << 63)]).size == 2


def test_a_long_label_is_named_in_few_characters():
    assert len(str(CategoricalDomain(["a" * 10**6, "b"]))) < 100


def test_as_domain_keeps_what_is_one():
    domain = CategoricalDomain(3)
    assert as_domain(domain) is domain
    assert as_domain(3) == domain
    assert as_domain(["a", "b"]).has_labels


def test_domains_do_not_change():
    domain = CategoricalDomain(["a", "b"])
    for name in ("_size", "_labels", "labels", "anything"):
        with pytest.raises((FrozenError, AttributeError)):
            setattr(domain, name, 3)
    assert domain.size == 2


def test_domains_do_not_lose_anything():
    with pytest.raises(FrozenError):
        del CategoricalDomain(["a", "b"])._size


def test_equal_domains_are_interchangeable():
    for values in (5, ["a", "b"], [1.5, 2.5], [True, False], [10, 20]):
        first, second = CategoricalDomain(values), CategoricalDomain(values)
        assert first == second
        assert hash(first) == hash(second)
        assert first.digest == second.digest
        assert CategoricalDomain(first.to_json()) == first
    distinct = [CategoricalDomain(v) for v in (2, 3, ["0", "1"], ["1", "0"], [1, 0], [10, 20], ["a", "b"])]
    assert len({domain.digest for domain in distinct}) == len(set(distinct)) == len(distinct)
    assert CategoricalDomain(2) != 2


@pytest.mark.parametrize("values", [5, ["a", "b"], [1.5, 2.5]])
def test_domains_travel_between_processes(values):
    domain = CategoricalDomain(values)
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert copy.deepcopy(domain) == domain


def test_equal_domains_have_equal_digests():
    """0, False and 0.0 are equal in Python, so these domains are too; their digests must follow."""
    first, second, third = (CategoricalDomain(values) for values in ([0, 1], [False, True], [0.0, 1.0]))
    assert (first == second) == (first.digest == second.digest)
    assert (first == third) == (first.digest == third.digest)


# --- encoding --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        *([2, 0, 1], (2, 0, 1), range(2, -1, -1), iter([2, 0]), [2.0, 0.0], [True, False], [-0.0]),
        *(np.array([2, 0], dtype) for dtype in ("i1", "u1", ">i8", "u8", "f4", "f8", "O", "?")),
        *([np.int8(2), 1.0, True], np.array([[1, 2]])[0], np.arange(6)[::3]),
    ],
)
def test_indices_are_taken_in_any_form(values):
    meant = values.tolist() if isinstance(values, np.ndarray) else list(values)
    values = values if hasattr(values, "__len__") else iter(meant)
    encoded = CategoricalDomain(4).encode(values)
    assert encoded.dtype == np.uint32
    assert encoded.tolist() == [int(value) for value in meant]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_narrow_types_meet_wide_domains_and_the_other_way_round(dtype):
    top = 100
    assert CategoricalDomain(300).encode(np.array([top], dtype)).tolist() == [top]
    with pytest.raises(OutOfDomainError, match="value 100"):
        CategoricalDomain(99).encode(np.array([0, top], dtype))
    if dtype[0] != "u":
        with pytest.raises(OutOfDomainError, match="position 1"):
            CategoricalDomain(300).encode(np.array([0, -1], dtype))


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([0, 3], "value 3 at position 1 is not in the domain 0..2: remove it or enlarge the domain"),
        ([1, -1, 5], "value -1 at position 1"),
        (np.array([0, 2**64 - 1], np.uint64), "position 1"),
        (np.array([0, 2**32], np.int64), "value 4294967296"),  # must not wrap to 0
        (np.array([0, -(2**32)], np.int64), "position 1"),
        ([0, 2**64], "value"),
        ([0.5], r"value 0\.5 at position 0 is not a whole number"),
        (np.array([0.0, np.nan]), "value nan at position 1"),
        ([np.inf], "value inf"),
        (["0"], "text, but the domain has indices only"),
    ],
)
def test_what_is_outside_is_named_with_its_place(values, error):
    with pytest.raises(OutOfDomainError, match=error):
        CategoricalDomain(3).encode(np.asarray(values) if not isinstance(values, list) else values)


def test_labels_are_found_whatever_their_order():
    domain = CategoricalDomain(["walk", "bike", "bus"])
    assert domain.encode(["bus", "walk", "bus", "bike"]).tolist() == [2, 0, 2, 1]
    assert domain.encode(np.array(["bike"])).tolist() == [1]
    assert domain.encode([2, 0]).tolist() == [2, 0], "indices do as well"
    numbers = CategoricalDomain([30, 10, 20])
    assert numbers.encode([10, 20, 30]).tolist() == [1, 2, 0], "labels win over indices"
    assert numbers.encode([10.0, 30.0]).tolist() == [1, 0]
    assert CategoricalDomain([False, True]).encode([True, False, 1]).tolist() == [1, 0, 1]
    assert CategoricalDomain([0.5, 1.5]).encode(np.array([1.5, 0.5])).tolist() == [1, 0]
    assert CategoricalDomain(["é", "e\u0301", "🚲", ""]).encode(["🚲", "", "e\u0301", "é"]).tolist() == [
        2,
        3,
        1,
        0,
    ]


@pytest.mark.parametrize(
    "values", [["Walk"], ["walk "], [""], ["bike", "tram"], [3], [-1], [0.0], [True], [b"walk"], ["walk", 0]]
)
def test_what_is_no_label_is_refused(values):
    with pytest.raises(InvalidInputError):
        CategoricalDomain(["walk", "bike", "bus"]).encode(values)


@pytest.mark.parametrize("values", [[0], [1], [11], ["10"], [10.5], [np.nan], [True]])
def test_indices_are_no_labels_where_labels_are_numbers(values):
    with pytest.raises(InvalidInputError):
        CategoricalDomain([10, 20]).encode(values)


def test_trailing_nul_characters_are_refused():
    """NumPy's text drops them: 'a' and 'a\\0' must not be taken for one another."""
    with pytest.raises(InvalidParameterError, match="NUL"):
        CategoricalDomain(["a", "a\0"])
    with pytest.raises(OutOfDomainError):
        CategoricalDomain(["a", "b"]).encode(["a\0"])


# --- anything --------------------------------------------------------------------------

scalars = st.one_of(
    st.integers(-3, 6),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=2),
    st.binary(max_size=1),
)


@given(st.lists(scalars, min_size=1, max_size=5))
def test_indices_mean_themselves(values):
    domain = CategoricalDomain(4)
    meant = all(isinstance(v, (bool, int, float)) and v in range(4) for v in values)
    try:
        encoded = domain.encode(values)
    except InvalidInputError:
        assert not meant, "values of the domain were refused"
    else:
        assert meant, "values outside the domain were accepted"
        assert encoded.tolist() == [int(value) for value in values]


plain_text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3)


@given(labels=st.lists(plain_text, min_size=2, max_size=6, unique=True), data=st.data())
def test_text_labels_mean_themselves(labels, data):
    domain = CategoricalDomain(labels)
    values = data.draw(st.lists(st.one_of(st.sampled_from(labels), plain_text), min_size=1, max_size=6))
    try:
        encoded = domain.encode(values)
    except OutOfDomainError:
        assert not set(values) <= set(labels)
    else:
        assert [labels[index] for index in encoded] == values


@given(labels=st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=6, unique=True), data=st.data())
def test_number_labels_mean_themselves(labels, data):
    domain = CategoricalDomain(labels)
    values = data.draw(st.lists(st.sampled_from(labels), min_size=1, max_size=6))
    assert [labels[index] for index in domain.encode(values)] == values
    assert CategoricalDomain(domain.to_json()) == domain


@pytest.mark.parametrize(
    ("labels", "values", "places"),
    [
        ([2**63, 2**63 + 1, 1], [2**63 + 1, 1, 2**63 + 1], [1, 2, 1]),
        ([2**64 - 1, 1, 2], [2**64 - 1, 1, 2], [0, 1, 2]),
        ([2**63 - 1, float(2**63)], [2**63 - 1, float(2**63)], [0, 1]),
        ([float(2**53), 2**53 + 1], [2**53 + 1, 2.0**53, 2**53 + 1], [1, 0, 1]),
    ],
)
def test_whole_numbers_beside_larger_ones_or_decimals_are_not_rounded(labels, values, places):
    assert CategoricalDomain(labels).encode(values).tolist() == places
    assert CategoricalDomain(labels).encode(np.array(values, object)).tolist() == places
