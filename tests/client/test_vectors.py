"""Golden vectors: what they say never changes, and kernels and reference samplers both say it."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from ldpkit.client.epsilon import covers
from ldpkit.client.labels import derive
from ldpkit.client.randomness import fixed_bytes, key_stream
from ldpkit.client.samplers import FORMS, MemorySampler, read_sampler
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.protocols.permanent import PermanentReports
from ldpkit.testing.device import GivenBytes, kernel_stage
from ldpkit.testing.vectors.files import changed_files, make_files, read_files, text_of, wrong_vectors
from ldpkit.testing.vectors.forged import BASES, forgeries
from ldpkit.testing.vectors.lines import compare, vector_lines
from ldpkit.testing.vectors.reports import group_of, made_again
from ldpkit.testing.vectors.rules import rules
from ldpkit.testing.vectors.subjects import subjects
from slow import slow

FOLDER = Path(__file__).parents[2] / "spec" / "vectors"
FILES = read_files(FOLDER)
GROUPS = {group["name"]: group for content in FILES.values() for group in content if "vectors" in group}
# Their integers come out of floating-point functions or solvers, which may differ elsewhere.
FLOATS = {
    "aaa",
    "optimal",
    "laplace",
    "truncated_laplace",
    "place_exponential",
    "srr",
    "grid_exponential",
    "planar_laplace",
}


def test_there_are_thousands_for_every_mechanism_and_they_are_small_enough():
    told = {group["mechanism"] for group in GROUPS.values()}
    ours = {
        name
        for name in MECHANISMS
        if MECHANISMS.get(name).can("client") and MECHANISMS.get(name).__module__.startswith("ldpkit.")
    }
    assert told == ours
    assert {group["sampler"]["form"] for group in GROUPS.values()} == FORMS.keys()
    assert sum(len(group["vectors"]) for group in GROUPS.values()) > 8000
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 2_000_000


def test_the_table_of_the_specification_counts_what_is_there():
    told = (FOLDER.parent / "README.md").read_text()
    rows = dict(re.findall(r"^\| (\w+) \| ([\d,]+) \|", told, re.M))
    for name in {group["mechanism"] for group in GROUPS.values()}:
        count = sum(len(group["vectors"]) for group in FILES[name])
        assert rows[name] == str(count), "run script/vectors --write"
    assert f"| forged, refused | {len(FILES['forged']):,} |" in told


def test_the_reference_samplers_make_every_vector():
    assert [wrong for group in GROUPS.values() for wrong in wrong_vectors([group])] == []


def test_the_compiled_kernels_make_every_vector():
    """All of 8,800 vectors one by one, with the mechanisms that they are of: some two seconds."""
    compared = 0
    for name, make in subjects():
        group, mechanism = GROUPS[name], make()
        if mechanism.sampler() != group["sampler"]:
            assert mechanism.name in FLOATS, name
            continue
        for stage, place, kept, data, made in group["vectors"]:
            source = GivenBytes(bytes.fromhex(data))
            assert kernel_stage(mechanism, stage, place, bytes.fromhex(kept), source).hex() == made, name
            compared += 1
        for device in group.get("devices", []):
            permanent = PermanentReports(
                mechanism, device["question"], device["collection"], bytes.fromhex(device["secret"])
            )
            with permanent.records.transaction() as records:
                state, report = permanent.recall(records, device["place"])
            assert (state, report.tobytes().hex()) == (device["state"], device["permanent"])
            assert permanent.coins().tobytes().hex() == device["coins"]
    assert compared > 8000


@pytest.mark.parametrize("names", [("grr", "ss", "lolh", "tracs_d", "von_mises"), *slow(None)])
def test_vectors_are_not_out_of_date(names):
    if names is None:
        assert changed_files(FILES, new := make_files(FILES)) == [] == changed_files(new, FILES)
        assert all(text_of(content) == (FOLDER / f"{name}.json").read_text() for name, content in new.items())
    for group in GROUPS.values():
        if names is not None and group["mechanism"] in names and len(group["vectors"]) < 70:
            told = [group[name] for name in ("name", "mechanism", "kind", "domain", "sampler")]
            assert group_of(*told) == group, "run 'ldpkit spec vectors -o spec/vectors'"
    for name, content in rules().items():
        assert json.loads(json.dumps(content)) == FILES[name], "run 'ldpkit spec vectors -o spec/vectors'"


def test_every_subject_has_its_vectors():
    assert [name for name, _ in subjects()] == [name for name, _ in subjects() if name in GROUPS], (
        "run 'ldpkit spec vectors -o spec/vectors'"
    )
    assert len(GROUPS) == len(list(subjects()))


def test_a_flipped_bit_in_the_report_of_any_vector_is_caught():
    lines = list(vector_lines(FILES))
    right = [f"{line.id} {line.expected}" for line in lines]
    assert sum(each.equal for each in compare(lines, right)) == len(lines)
    rng, flipped = np.random.default_rng(18), []
    for line in lines:
        if line.expected == "refused":
            flipped.append(f"{line.id} 00")
            continue
        report = bytearray(bytes.fromhex(line.expected))
        bit = int(rng.integers(8 * len(report)))
        report[bit // 8] ^= 1 << bit % 8
        flipped.append(f"{line.id} {report.hex()}")
    outcomes = compare(lines, flipped)
    assert sum(each.different for each in outcomes) == len(lines)
    assert sum(each.equal for each in outcomes) == 0


def test_a_flipped_bit_in_the_integers_or_the_bytes_of_a_vector_is_caught():
    rng, seen = np.random.default_rng(19), 0
    for group in list(GROUPS.values())[::7]:
        forged = copy.deepcopy(group)
        vector = forged["vectors"][int(rng.integers(len(forged["vectors"])))]
        place = int(rng.integers(len(vector[3]))) if vector[3] else 0
        vector[3] = (
            vector[3][:place]
            + format(int(vector[3][place : place + 1] or "0", 16) ^ 1, "x")
            + vector[3][place + 1 :]
        )
        told = [forged[name] for name in ("name", "mechanism", "kind", "domain", "sampler")]
        assert changed_files({"x": [forged]}, {"x": [group_of(*told)]}) != []
        seen += 1
    assert seen > 15


def test_what_is_left_over_or_missing_of_the_bytes_is_caught():
    group = GROUPS["grr-2-1"]
    sampler, vector = read_sampler(group["sampler"]), group["vectors"][0]
    assert made_again(sampler, vector) == vector[4]
    longer = [*vector[:3], vector[3] + "00", vector[4]]
    assert made_again(sampler, longer) == "00 with 8 of 9 bytes"
    with pytest.raises(InvalidInputError, match="8 more random bytes are needed where 7 are left of 7"):
        sampler.draw(0, fixed_bytes(bytes(7)))


def test_the_edges_are_among_them():
    def of(form, stage="draw"):
        for group in GROUPS.values():
            if group["sampler"]["form"] == form:
                yield from (
                    (group["sampler"], *vector[1:]) for vector in group["vectors"] if vector[0] == stage
                )

    ties = [len(data) // 2 > form["size"] for form, _, _, data, _ in of("unary")]
    assert sum(ties) > 100  # a byte for each bit, and more where it ties
    rejected = [len(data) // 2 > 8 + 4 * form["omega"] for form, _, _, data, _ in of("subset")]
    assert sum(rejected) > 50
    assert {form["word"] for form, *_ in of("hashing")} == {32, 64}
    assert {len(made) // 2 for _, _, _, _, made in of("response")} == {1, 2, 4}
    atoms = {
        int.from_bytes(bytes.fromhex(made), "little") - form["kept"][1]
        for form, _, _, _, made in of("window")
        if "kept" in form
    }
    assert {0, 1} <= atoms  # below and above all that is kept
    ends = [
        (
            form["reach"],
            int.from_bytes(bytes.fromhex(made), "little") - form["grid"] * (1 + 2 * form["reach"]),
        )
        for form, _, _, _, made in of("noise")
    ]
    assert {0, 1} <= {end for reach, end in ends if reach == 0}
    assert {0, 1} <= {end for reach, end in ends if reach > 0}
    wrapped = [
        int.from_bytes(bytes.fromhex(made), "little")
        for form, place, _, _, made in of("window")
        if form["stand"] == "wrap" and place == 0
    ]
    assert max(wrapped) > min(wrapped) + 8
    sides = {form["stand"] for form, *_ in of("window")}
    assert sides == {"slide", "clamp", "wrap"}
    assert {len(made) // 2 for _, _, _, _, made in of("pair")} == {2, 8}


def test_charges_of_vectors_are_the_least_that_cover():
    for group in GROUPS.values():
        sampler = read_sampler(group["sampler"])
        ratios = sampler.ratios() if isinstance(sampler, MemorySampler) else (sampler.ratio(),)
        for ratio, told in zip(ratios, group["charges"], strict=True):
            if ratio is None:
                assert told["least"] == "infinite"
                continue
            assert (str(ratio.num), str(ratio.den), ratio.times) == (told["num"], told["den"], told["times"])
            assert covers(told["least"], *ratio)
            assert not covers(told["least"] - 1, *ratio)


def test_streams_and_keys_are_what_the_library_says():
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    from cryptography.hazmat.primitives.hmac import HMAC

    for case in FILES["labels"]:
        code = HMAC(bytes.fromhex(case["secret"]), hashes.SHA256())
        code.update(bytes.fromhex(case["packed"]))
        assert (
            code.finalize().hex()
            == case["key"]
            == derive(bytes.fromhex(case["secret"]), bytes.fromhex(case["packed"])).hex()
        )
    for case in FILES["streams"]:
        from ldpkit.core.random import RandomSource

        assert (
            RandomSource(bytes.fromhex(case["key"]), is_secure=False).bytes(100).tobytes().hex()
            == case["bytes"]
        )
        take = key_stream(bytes.fromhex(case["key"]))
        assert (take(3) + take(97)).hex() == case["bytes"]


# --- what must be refused ---------------------------------------------------------------------


def test_forged_forms_are_refused_in_one_line():
    for base in BASES:
        read_sampler(base)
    count = 0
    for why, form in forgeries():
        with pytest.raises(InvalidParameterError) as caught:
            read_sampler(form)
        message = str(caught.value)
        assert "\n" not in message, why
        assert len(message) < 320, why
        count += 1
    assert count > 1000


@pytest.mark.parametrize(
    "form", [None, [], "response", 7, {}, {"form": None}, {"form": ["response"]}, {1: 2}]
)
def test_what_is_no_form_is_refused(form):
    with pytest.raises(InvalidParameterError, match="is not known here"):
        read_sampler(form)


def test_places_that_there_are_not_are_refused_before_a_byte_is_taken():
    def never(count):
        raise AssertionError(f"{count} bytes were taken")

    for name in (
        "grr-13-2",
        "pm-8-1",
        "circular_sw-8-1",
        "planar_window-square-8",
        "lgrr-2-2-1",
        "lolh-13-2-1",
    ):
        sampler = read_sampler(GROUPS[name]["sampler"])
        beyond = tuple(sampler.places)
        for bad in (
            beyond,
            tuple(-1 for _ in beyond),
            (*beyond, 0),
            (),
            (True,) * len(beyond),
            (0.0,) * len(beyond),
        ):
            with pytest.raises(OutOfDomainError, match="has the places"):
                sampler.check_place(bad)
            if not sampler.has_memory:
                with pytest.raises(OutOfDomainError):
                    sampler.draw(bad, never)
        if isinstance(sampler, MemorySampler):
            with pytest.raises(OutOfDomainError, match="has the states"):
                sampler.permanent(bytes(sampler.report_bytes), sampler.states, never)
            with pytest.raises(OutOfDomainError, match="the store is damaged"):
                sampler.instant(bytes(sampler.report_bytes + 1), never)
            with pytest.raises(OutOfDomainError, match=r"answers 0\.\.\d+, got 255: the store is damaged"):
                sampler.instant(b"\xff" * sampler.report_bytes, never)


def _mutated(value, rng):
    """Return something like a value, or nothing like it."""
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        return {**value, key: _mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        return [*value[:place], _mutated(value[place], rng), *value[place + 1 :]]
    whole = (
        int(value) if isinstance(value, str) and value.isdigit() else value if isinstance(value, int) else 3
    )
    near = rng.choice(
        [0, 1, 2, 3, 7, 8, 255, 2**26, 2**32, 2**53, 2**63, 2**64 - 1, 2**64, whole - 1, whole + 1, -1]
    )
    return rng.choice([str(near), near, float(near), [near], [str(near)] * 3, None, True, "", {}, value])


def test_whatever_is_accepted_makes_reports():
    rng, accepted = random.Random(1818), 0
    for base in BASES * 60:
        form = base
        for _ in range(rng.choice([1, 1, 2])):
            form = _mutated(form, rng)
        try:
            sampler = read_sampler(form)
        except InvalidParameterError:
            continue
        accepted += 1
        if sampler.report_bytes > 10_000:
            continue
        for place in (tuple(0 for _ in sampler.places), tuple(size - 1 for size in sampler.places)):
            assert len(sampler.draw(place, rng.randbytes)) == sampler.report_bytes
        ratio = sampler.ratio()
        assert ratio.num >= ratio.den >= 1
    assert 30 < accepted < 600
