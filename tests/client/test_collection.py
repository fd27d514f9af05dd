"""What a device makes of a collection file that somebody has changed: each change has its own refusal."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys

import pytest

from client.collections import KEY, envelope, town
from ldpkit.client.canonical import canonical
from ldpkit.client.collection import Collection, Schedule, signed_message
from ldpkit.client.signing import SigningKey, to_base64url
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    LdpkitError,
    MismatchError,
    UnknownNameError,
)
from ldpkit.mechanisms.lookup import get


def read(form, **options):
    return Collection.read(canonical(form), **options)


def test_a_good_file_is_read_signed_and_unsigned():
    found = read(envelope())
    assert not found.is_signed
    assert found.checked == "only the epsilon arithmetic was checked: the file is not signed"
    assert [each.id for each in found.questions] == ["commute", "age", "bedtime", "page", "cross"]
    assert (found.promise.report, found.promise.round, found.promise.lifetime) == (
        2_000_000,
        3_000_000,
        6_800_000,
    )
    for key in (KEY.public, str(KEY.public), KEY.public.point):
        signed = read(envelope(signed=True), public_key=key)
        assert signed.digest == found.digest
        assert signed.checked.startswith("signed by the expected key")
    assert "an unknown key" in read(envelope(signed=True)).checked
    assert found.question("age").first == 1_000_000
    with pytest.raises(UnknownNameError, match="did you mean age"):
        found.question("ages")


def test_spaces_and_the_order_of_keys_change_nothing():
    form = envelope(signed=True)
    shuffled = {"signature": form["signature"], "collection": dict(reversed(form["collection"].items()))}
    assert Collection.read(json.dumps(shuffled, indent=3).encode(), public_key=KEY.public).version == 2


def resigned(form, key=KEY):
    value = to_base64url(key.sign(signed_message(form["collection"])))
    form["signature"] = {"algorithm": "ES256", "key": str(key.public), "value": value}
    return form


def changed(path, value):
    """Return a collection with one value changed, or removed."""
    form = town()
    *before, last = path
    inner = form
    for part in before:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return form


STRONGER = {"epsilon": 3.0}
TAMPERED = {
    "integers of a larger epsilon": (
        ("questions", 0, "sampler"),
        get("grr", 4, **STRONGER).sampler(),
        r"questions\[0\].charge.first is epsilon 0.5, but the integers of its sampler give away about 3",
    ),
    "integers that are no law": (
        ("questions", 0, "sampler", "keep"),
        "5",
        (
            r"questions\[0\].sampler: "
            ".*'response'"
        ),
    ),
    "one integer more": (("questions", 0, "sampler", "extra"), 1, r"questions\[0\].sampler: .*extra"),
    "the integers of another number of categories": (
        ("questions", 0, "sampler"),
        get("grr", 5, epsilon=0.4).sampler(),
        "has 4 categories, and its sampler is for 5",
    ),
    "a stated epsilon": (
        ("questions", 0, "parameters", "epsilon"),
        5,
        (
            r"parameters.epsilon is 5, but an "
            "answer is"
        ),
    ),
    "a stated epsilon of a fixed value": (
        ("questions", 3, "parameters", "epsilon_inf"),
        9,
        r"questions\[3\].parameters.epsilon_inf is 9",
    ),
    "a charge": (
        ("questions", 1, "charge", "first"),
        999_000,
        (
            r"questions\[1\].charge.first is epsilon "
            "0.999, but"
        ),
    ),
    "a further charge": (
        ("questions", 1, "charge", "next"),
        0,
        (
            r"questions\[1\].charge.next is epsilon 0, "
            "but"
        ),
    ),
    "a raised charge": (
        ("questions", 1, "charge", "first"),
        3_000_000,
        "promise.report is epsilon 2, but the charges",
    ),
    "fixed to changing": (
        ("questions", 3, "value"),
        "changing",
        (
            r"questions\[3\].charge.next is epsilon 0, "
            "but"
        ),
    ),
    "changing to fixed": (("questions", 0, "value"), "fixed", "its reports remember nothing"),
    "the promise of a report": (("promise", "report"), 1_999_999, "promise.report is epsilon 1.999999, but"),
    "the promise of a round": (
        ("promise", "round"),
        2_000_000,
        "promise.round is epsilon 2, but .* add up to 3",
    ),
    "the promise of a lifetime": (("promise", "lifetime"), 3_000_000, "promise.lifetime is epsilon 3, but"),
    "more questions": (("spend", "ask"), 3, "promise.round is epsilon 3, but .* add up to 3.7"),
    "too many questions": (("spend", "ask"), 6, "spend.ask is a whole number from 1 to 5"),
    "more rounds": (("rounds", "count"), 5, "promise.lifetime is epsilon 6.8, but"),
    "once, four times": (("rounds", "every"), "once", "rounds.count is 4, but once is one round"),
    "hourly": (("rounds", "every"), "hourly", "rounds.every is one of once, daily, weekly"),
    "no end": (("rounds", "start"), "9999-12-01", "4 rounds from there have no end"),
    "no day": (("rounds", "start"), "2026-02-30", "rounds.start is a day such as 2026-12-01"),
    "no field": (("questions", 2, "charge"), ..., r"questions\[2\] has no field 'charge'"),
    "a field more": (
        ("questions", 2, "charges"),
        1,
        (
            r"questions\[2\] has a field 'charges' that no "
            "collection has"
        ),
    ),
    "no promise": (("promise",), ..., "the collection has no field 'promise'"),
    "a promise more": (("note",), "trust me", "the collection has a field 'note' that no collection has"),
    "another format": (("format",), "ldpkit-collection-2", "this is 'ldpkit-collection-2'.*update"),
    "numbers": (("questions", 1, "number"), 3, r"questions\[1\].number is '3': questions count from 0"),
    "the same id twice": (("questions", 1, "id"), "commute", "two questions have the id 'commute'"),
    "an id that is a path": (("id",), "../x", "id is a name of at most 64"),
    "an empty text": (("questions", 0, "text"), " ", r"questions\[0\].text is text"),
    "a label twice": (("questions", 0, "domain", 1), "walk", r"questions\[0\].domain has a label twice"),
    "text and numbers": (("questions", 0, "domain", 1), 7, "mixes text and numbers"),
    "an interval backwards": (("questions", 1, "domain"), [120, 0], "low below high"),
    "a circle without an end": (("questions", 2, "domain", "period"), 0, "period is positive"),
    "a kind": (("questions", 2, "kind"), "spiral", "kind is one of frequency, numeric, circular, spatial"),
    "report bytes": (("questions", 0, "report_bytes"), 2, "report_bytes is 2, and its sampler makes 1"),
    "version zero": (("version",), 0, "version is a whole number from 1 to 65535"),
    "a version that is true": (("version",), True, "version is a whole number"),
    "nothing to wait for": (("least_reports",), 0, "least_reports is a whole number from 1"),
    "randomness": (("randomness",), "none", "randomness is one of secure, seeded"),
    "an infinite charge": (
        ("questions", 0, "charge", "first"),
        "infinite",
        "promise.report is epsilon 2, but .* infinite",
    ),
    "a negative charge": (
        ("questions", 0, "charge", "first"),
        -1,
        (
            r"questions\[0\].charge.first is a whole "
            "number"
        ),
    ),
    "a charge in text": (
        ("questions", 0, "charge", "first"),
        "0",
        (
            r"questions\[0\].charge.first is a whole "
            "number"
        ),
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_collection_is_refused_with_a_message_of_its_own(what):
    path, value, said = TAMPERED[what]
    form = changed(path, value)
    with pytest.raises(FileFormatError, match=said):
        read({"collection": form})
    # A signature that is not made anew says so first; one that is made anew does not help.
    with pytest.raises(FileFormatError, match="changed after signing"):
        read({"collection": form, "signature": envelope(signed=True)["signature"]})
    with pytest.raises(FileFormatError, match=said):
        read(resigned({"collection": form}), public_key=KEY.public)


def test_every_tampering_is_told_apart():
    said = set()
    for path, value, _ in TAMPERED.values():
        with pytest.raises(FileFormatError) as caught:
            read({"collection": changed(path, value)})
        said.add(str(caught.value))
    assert len(said) == len(TAMPERED)


def without(form, name):
    return {key: value for key, value in form.items() if key != name}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda form: without(form, "signature"), "is not signed, and this device takes signed ones only"),
        (lambda form: resigned(form, SigningKey.new()), "signed with another key"),
        (lambda form: form | {"signature": form["signature"] | {"value": "A" * 86}}, "changed after signing"),
        (lambda form: form | {"signature": form["signature"] | {"value": "A" * 85}}, "64 bytes as base64url"),
        (
            lambda form: form | {"signature": form["signature"] | {"key": "B" * 87}},
            "65 bytes as base64url|another key",
        ),
        (
            lambda form: form | {"signature": form["signature"] | {"algorithm": "none"}},
            "made with 'none', not ES256",
        ),
        (lambda form: form | {"signature": without(form["signature"], "algorithm")}, "no field 'algorithm'"),
        (lambda form: form | {"signature": None}, "the signature is an object"),
        (lambda form: form | {"more": 1}, "has a field 'more'"),
        (lambda form: without(form, "collection"), "has no field 'collection'"),
        (lambda form: form["collection"], "has no envelope: put it into one"),
        (lambda form: [form], "is an object with collection"),
        (lambda form: {**form, "collection": {**form["collection"], "version": 3}}, "changed after signing"),
    ],
)
def test_a_device_that_knows_a_key_takes_nothing_else(change, said):
    with pytest.raises(LdpkitError, match=said):
        read(change(envelope(signed=True)), public_key=str(KEY.public))


def test_a_rollback_is_noticed():
    seen = read(envelope())
    older, other = changed(("version",), 1), changed(("purpose",), "Another one.")
    seen.check_newer(seen.version, seen.digest)
    with pytest.raises(MismatchError, match="is version 1, and this device has seen version 2"):
        read({"collection": older}).check_newer(seen.version, seen.digest)
    with pytest.raises(MismatchError, match="changed without a new version"):
        read({"collection": other}).check_newer(seen.version, seen.digest)
    read({"collection": changed(("version",), 3)}).check_newer(seen.version, seen.digest)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"collection": {"id": "a", "id": "b"}}', "the key 'id' twice"),
        (b'{"collection": {"version": NaN}}', "NaN"),
        (b'{"collection": {"version": 1e999}}', "no double holds"),
        (b'{"collection": {"version": 18446744073709551557}}', "write it as a decimal string"),
        (b'{"collection": ' + b"[" * 5000, "nested more than"),
        (b'{"collection": 1', "not JSON"),
        (b"\x00", "not JSON"),
    ],
)
def test_bytes_that_are_no_file_are_refused(data, said):
    with pytest.raises(FileFormatError, match=said):
        Collection.read(data)


def test_a_mended_text_changes_the_fingerprint_and_nothing_that_labels_know():
    before, after = read(envelope()), read({"collection": changed(("questions", 3, "text"), "Which page?")})
    assert before.question("page").fingerprint != after.question("page").fingerprint
    assert before.question("age").fingerprint == after.question("age").fingerprint
    assert before.question("page").sampler == after.question("page").sampler
    assert len({each.fingerprint for each in before.questions}) == 5


def test_rounds_have_numbers_and_ends():
    weekly = Schedule("weekly", datetime.date(2026, 12, 1), 2)
    at = {day: datetime.datetime(2026, 12, day, 23, 59, tzinfo=datetime.UTC) for day in (1, 7, 8, 14, 15)}
    assert [weekly.number(at[day]) for day in (1, 7, 8, 14)] == [0, 0, 1, 1]
    with pytest.raises(InvalidInputError, match="ended with 2026-12-14"):
        weekly.number(at[15])
    east = datetime.timezone(datetime.timedelta(hours=9))
    with pytest.raises(InvalidInputError, match="starts on 2026-12-01"):
        weekly.number(datetime.datetime(2026, 12, 1, 8, 59, tzinfo=east))
    assert Schedule("once", datetime.date(2026, 12, 1), 1).number(at[15]) == 0


def test_reading_loads_no_numerical_library(tmp_path):
    """A process of its own: only there is it seen what is loaded."""
    (tmp_path / "a.json").write_bytes(canonical(envelope(signed=True)))
    code = (
        "import sys; from ldpkit.client.collection import Collection\n"
        "Collection.read(open(sys.argv[1], 'rb').read(), public_key=sys.argv[2])\n"
        "print(sorted({'numpy', 'scipy', 'numba'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "a.json"), str(KEY.public)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"
