"""Canonical JSON against the examples of RFC 8785, and what the reader refuses."""

from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpkit.client.canonical import LARGEST_INTEGER, MOST_BYTES, canonical, read_json
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError

# Appendix B of RFC 8785: the bits of a double, and how it is written.
NUMBERS = """
0000000000000000 0
8000000000000000 0
0000000000000001 5e-324
8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308
ffefffffffffffff -1.7976931348623157e+308
4340000000000000 9007199254740992
c340000000000000 -9007199254740992
4430000000000000 295147905179352830000
44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23
44b52d02c7e14af7 1.0000000000000001e+23
444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000
444b1ae4d6e2ef50 1e+21
3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001
41b3de4355555553 333333333.3333332
41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333
41b3de4355555556 333333333.3333334
41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333
43143ff3c1cb0959 1424953923781206.2
"""


def test_numbers_of_the_rfc():
    for line in NUMBERS.split("\n")[1:-1]:
        bits, text = line.split()
        number = struct.unpack(">d", bytes.fromhex(bits))[0]
        assert canonical(number) == text.encode(), bits
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(InvalidParameterError, match="finite"):
            canonical(number)


def test_the_sample_of_the_rfc():
    sample = rb"""{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}"""
    wanted = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(read_json(sample)) == wanted.encode()


def test_keys_are_sorted_by_utf_16_code_units():
    keys = {"€": 0, "\r": 1, "\ufb33": 2, "1": 3, "\U0001f600": 4, "\x80": 5, "ö": 6}
    assert list(json.loads(canonical(keys))) == ["\r", "1", "\x80", "ö", "€", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(keys))) != sorted(keys), "by code points the order is another one"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_and_are_no_longer_than_pythons(number):
    text = canonical(number).decode()
    assert float(text) == number
    assert len(text.replace("+", "")) <= max(len(repr(number)), 23)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_the_form_is_read_back_and_is_its_own_form(value):
    try:
        form = canonical(value)
    except InvalidParameterError:
        return
    assert read_json(form) == value
    assert canonical(read_json(form)) == form


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1, "b": {"c": 2, "c": 2}}', "the key 'c' twice"),
        (b"[NaN]", "NaN, which is no number"),
        (b"[-Infinity]", "-Infinity, which is no number"),
        (b"[1e400]", "1e400, which no double holds"),
        (b"[9007199254740993]", "9007199254740993, which parsers round"),
        (b"[18446744073709551557]", "18446744073709551557, which parsers round"),
        (b"[10000000000000000000000]", "10000000000000000000000, which parsers round"),
        (b"[" + b"9" * 5000 + b"]", "parsers round"),
        (b"[" * 100_000, "nested more than 32 deep"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested more than 32 deep"),
        (b'["\\ud800"]', "half of a character"),
        (b'{"\\udc00": 1}', "half of a character"),
        (b'["\xff"]', "not UTF-8"),
        (b"\xef\xbb\xbf[]", "BOM"),
        (b"[1,]", "not JSON"),
        (b"", "not JSON"),
        (b"[1] [2]", "not JSON: Extra data at line 1"),
        (b'{"a": "\x01"}', "not JSON"),
        (b" " * (MOST_BYTES + 1), "more than the"),
    ],
)
def test_what_the_reader_refuses(data, said):
    with pytest.raises(FileFormatError, match=said):
        read_json(data)


def test_large_doubles_are_read_back_as_they_are_written():
    for number in (1e20, -1e20, 2.0**53, 2.0**69, 123456789012345680000.0, 999999999999999900000.0):
        found = read_json(canonical([number]))[0]
        assert (found, type(found)) == (number, float)


def test_brackets_in_text_are_no_nesting():
    assert read_json(b'["' + b"[" * 100 + b'\\"{{\\\\", [1]]') == ["[" * 100 + '"{{\\', [1]]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1 << 53, "decimal string"),
        (10**400, "more than 40 digits"),
        ({1: 2}, "key"),
        ({"a": {1, 2}}, "no form for set"),
        ("\ud800", "half of a character"),
    ],
)
def test_what_has_no_canonical_form(value, said):
    with pytest.raises(InvalidParameterError, match=said):
        canonical(value)
    deep = []
    for _ in range(40):
        deep = [deep]
    with pytest.raises(InvalidParameterError, match="deep"):
        canonical(deep)


def test_text_is_read_like_bytes_and_nothing_else_is():
    assert read_json('{"a": "ü"}') == read_json('{"a": "ü"}'.encode()) == {"a": "ü"}
    with pytest.raises(FileFormatError, match="is not UTF-8 text"):
        read_json('"\ud800"')
    for wrong in (None, 5, {"a": 1}):
        with pytest.raises(InvalidInputError, match="must be bytes or text, got"):
            read_json(wrong)
