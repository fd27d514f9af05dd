"""TOML to collection: what is computed, what is refused by the line, and what a check finds out."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import ldpkit
from client.collections import KEY, TOWN, envelope, town, with_question
from ldpkit.client.canonical import canonical
from ldpkit.client.collection import Collection
from ldpkit.client.epsilon import covers
from ldpkit.client.places import place_of
from ldpkit.client.promises import promised
from ldpkit.client.samplers import read_sampler
from ldpkit.core.errors import FileFormatError, InvalidInputError, LdpkitError, MismatchError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.kinds import select
from ldpkit.protocols.collection.building import check_collection, compile_toml, mechanism_of
from ldpkit.protocols.collection.charges import charges_of, series_of, totals_of
from ldpkit.protocols.collection.domains import labels_of
from ldpkit.protocols.collection.files import load_collection, seal
from ldpkit.protocols.collection.versions import compare_versions
from ldpkit.protocols.ledger import Series, micro_epsilon
from slow import slow

SCHEMA = Path(__file__).parents[2] / "spec" / "collection.schema.json"


def test_promises_are_those_of_the_mechanisms():
    found = compile_toml(TOWN)
    check_collection(found)
    assert [(each.first, each.next) for each in found.questions] == [
        (500_000, 500_000),
        (1_000_000, 1_000_000),
        (300_000, 300_000),
        (2_000_000, 0),
        (700_000, 700_000),
    ]
    # Two of five, four rounds: the dearest are age, four times 1, and commute, page and cross below it.
    assert str(found.promise) == "epsilon 2 for a report, 3 for a round, 6.8 in all"
    assert mechanism_of(found.question("cross")).size == 6


def test_ten_tenths_fit_into_one():
    """0.1 is a double a little above a tenth: what is written as 0.1 costs no more than that."""
    question = '[[questions]]\nid = "q{}"\ntext = "t"\ndomain = 3\nmechanism = "grr"\nepsilon = 0.1\n'
    head = b"[promise]\nlifetime = 1\n" + b"".join(question.format(number).encode() for number in range(9))
    found = compile_toml(with_question('domain = 3\nmechanism = "grr"\nepsilon = 0.1') + head)
    assert found.promise.lifetime == 1_000_000


SPACES = {
    "frequency": "domain = 5",
    "numeric": "low = 0\nhigh = 10",
    "circular": "period = 24",
    "spatial": "corners = [[0, 0], [10, 5]]",
}
BUDGETS = {"epsilon": "epsilon = 1", "epsilon_inf": "epsilon_inf = 2", "epsilon_1": "epsilon_1 = 1"}
FEW = ("grr", "hm", "circular_sw", "planar_window", "lsue")


def _asking(name):
    """Return the lines of a question with a mechanism."""
    kind = MECHANISMS.get(name)
    given = {each.name: f"{each.name} = {json.dumps(each.example)}" for each in kind.declared if each.example}
    given |= {each: BUDGETS[each] for each in kind.required() if each in BUDGETS}
    given |= {"cells": "cells = 5"} if "cells" in [each.name for each in kind.declared] else {}
    places = "places = [[1, 1], [2, 2], [3, 4]]" if name.startswith("place_") else ""
    return "\n".join([SPACES[kind.kind], places, f'mechanism = "{name}"', *given.values()])


@pytest.mark.parametrize("name", [*FEW, *slow(*select(None, "client").names)])
def test_every_mechanism_that_runs_on_devices_makes_a_question(name):
    if MECHANISMS.get(name).can("tabled") or MECHANISMS.get(name).can("fitted"):
        with pytest.raises(InvalidInputError, match=r"line \d+: "):  # a table is made elsewhere
            compile_toml(with_question(_asking(name)))
        return
    check_collection(Collection.read(seal(compile_toml(with_question(_asking(name))))))


LINES = [
    ("domain = 5\nmechanism = 'grr'\nepsilon = -1", 10, "epsilon must be positive"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 'much'", 10, "epsilon must be a number"),
    ("domain = 5\nmechanism = 'grrr'\nepsilon = 1", 9, "did you mean"),
    ("domain = 5\nmechanism = 'she'\nepsilon = 1", 9, "does not run on devices"),
    ("domain = 5\nmechanism = 'jrr'\nepsilon = 1", 9, "does not run on devices"),
    ("domain = ['a']\nmechanism = 'grr'\nepsilon = 1", 8, "at least 2 values"),
    ("domain = [\n'a',\n'a',\n]\nmechanism = 'grr'\nepsilon = 1", 8, "twice|same|label"),
    ("low = 5\nhigh = 1\nmechanism = 'pm'\nepsilon = 1", 8, "low"),
    ("low = 5\nmechanism = 'pm'\nepsilon = 1", 8, "low cannot say so"),
    ("mechanism = 'pm'\nepsilon = 1", 6, "answers. give domain"),
    ("low = 0\nhigh = 1\nmechanism = 'grr'\nepsilon = 1", 8, "grr is for frequency questions"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\nvalue = 'fixed'", 11, "keeps no permanent report"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\nvalue = 7", 11, "changing"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\nepsilom = 2", 11, "did you mean epsilon"),
    ("domain = 5\nmechanism = 'grr'", 9, "needs epsilon"),
    ("domain = 5", 5, "has no mechanism"),
    ("product = [3]\nmechanism = 'grr'\nepsilon = 1", 8, "2 to 8 factors"),
    ("product = [3, [1, 1]]\nmechanism = 'grr'\nepsilon = 1", 8, "1"),
    ("domain = 5\nmechanism = 7\nepsilon = 1", 9, "7"),
    ("corners = [[0, 0]]\nmechanism = 'grid_response'\nepsilon = 1", 8, "corners are two"),
    (
        "domain = 5\nmechanism = 'grr'\nepsilon = 1\n[promise]\nlifetime = 0.5",
        12,
        "is epsilon 0.5, but .* cost 1",
    ),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\n[spend]\nask = 2", 12, "how many of the 1 questions"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\n[spends]\nask = 2", 11, "did you mean spend"),
    ("domain = 5\nmechanism = 'grr'\nepsilon = 1\nparameters = 3", 10, "parameters are a table"),
]


@pytest.mark.parametrize(("text", "line", "said"), LINES)
def test_what_is_wrong_is_refused_with_its_line(text, line, said):
    with pytest.raises(InvalidInputError, match=rf"^a.toml, line {line}: .*{said}"):
        compile_toml(with_question(text), "a.toml")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('id = "town-2026"', 'id = "to wn"', 2, "id is a name"),
        ('id = "bedtime"', 'id = "age"', 1, "two questions have the id 'age'"),
        ("version = 2", "version = 0", 3, "version is a whole number"),
        ("version = 2", "", 1, "the file needs version"),
        ("start = 2026-12-01", 'start = "soon"', 9, "rounds.start is a day"),
        ("start = 2026-12-01", "start = 2026-12-01T12:00:00", 9, "start on a day"),
        ("start = 2026-12-01", "start = 2026-13-01", 9, "not TOML"),
        ("count = 4", "", 7, "rounds need count"),
        ('every = "weekly"', 'every = "often"', 10, "rounds.every is one of"),
        ("ask = 2", "ask = 0", 13, "how many of the 5 questions"),
        ("ask = 2", "ask = true", 13, "how many of the 5 questions"),
        ('text = "How old are you?"', 'text = ""', 24, r"questions\[1\].text is text"),
        ('id = "page"', 'id = "page', 38, "not TOML"),
    ],
)
def test_lines_are_found_in_a_longer_file(old, new, line, said):
    text = TOWN.replace(old.encode(), new.encode(), 1)
    with pytest.raises(LdpkitError, match=rf"^town.toml, line {line}: .*{said}"):
        compile_toml(text, "town.toml")


def test_a_cross_tabulation_counts_as_the_device_does():
    """The place of a pair on a device is the index of its label; its reports are the mechanism's."""
    question = compile_toml(TOWN).question("cross")
    pairs = list(itertools.product(*question.domain["product"]))
    places = [place_of(question.kind, question.domain, question.sampler, list(pair)) for pair in pairs]
    assert places == list(range(6))
    assert labels_of(question.domain) == [", ".join(pair) for pair in pairs]
    mechanism, sampler = mechanism_of(question), read_sampler(question.sampler)
    source = np.random.default_rng(1)
    reports = b"".join(sampler.draw(4, source.bytes) for _ in range(2000))
    found = mechanism.tally(mechanism.decode(reports)).estimate()
    assert abs(found.values[4] - 1) < 6 * found.stderr[4], "false alarm in 1 of 10^8"


def test_what_has_no_bound_must_be_said():
    text = with_question('domain = 8\nmechanism = "dbitflip"\nepsilon = 1').replace(
        b'"once"', b'"daily", count = 3'
    )
    with pytest.raises(InvalidInputError, match="has no bound, because a value that changes is given away"):
        compile_toml(text)
    told = text + b'[promise]\nreport = "infinite"\nround = "infinite"\nlifetime = "infinite"\n'
    assert compile_toml(told).promise.lifetime is None
    assert compile_toml(text + b'value = "fixed"\n').promise.lifetime == 1_000_000
    once = with_question('domain = 8\nmechanism = "dbitflip"\nepsilon = 1')
    assert compile_toml(once).promise.lifetime == 1_000_000


def test_a_check_finds_what_a_device_cannot_know():
    """Charges above what the integers give away, and a name that is not that of the integers."""
    changes = [
        (("questions", 0, "mechanism"), "oue", "sampler does not match OUE"),
        (("questions", 0, "charge"), {"first": 600_000, "next": 600_000}, "charge does not match GRR"),
        (("questions", 1, "parameters", "epsilon"), 0.9, "sampler does not match HM"),
        (("questions", 0, "mechanism"), "nothing", "unknown mechanism"),
        (("questions", 0, "parameters"), {}, "needs epsilon"),
        (("promise", "lifetime"), 7_000_000, "computed from its mechanisms it is epsilon 2"),
    ]
    for path, value, said in changes:
        form = town()
        inner = form
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = value
        with pytest.raises(FileFormatError, match=said):
            check_collection(Collection.from_form(form))


# --- promises by brute force ---------------------------------------------------------------


def _worst(laws, ask):
    """Return the worst ratio over what any person answers, from the exact laws of all reports."""
    worst = Fraction(0)
    for asked in itertools.combinations(laws, ask):
        ratio = Fraction(1)
        for law in asked:
            ratio *= max(max(column) / min(column) for column in zip(*law, strict=True))
        worst = max(worst, ratio)
    return worst


def _law(mechanism):
    return [
        [Fraction(each) for each in row] for row in mechanism.channel(ldpkit.random.seeded(1)).probabilities
    ]


@pytest.mark.parametrize("ask", [1, 2, 3])
def test_the_promise_of_a_small_collection_is_its_worst_ratio(ask):
    """Every set of questions, every pair of values and every report, from the exact channels."""
    mechanisms = [ldpkit.GRR(3, epsilon=0.5), ldpkit.SUE(3, epsilon=0.25), ldpkit.SS(4, epsilon=0.75)]
    worst = _worst([_law(each) for each in mechanisms], ask)
    totals = totals_of([series_of(each, fixed=False) for each in mechanisms], ask, 1)
    exact = math.log(worst)
    assert exact <= totals.round / 1e6 <= exact + (ask + 1) / 1e6
    assert totals.round == totals.lifetime


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_repeated_question_costs_what_every_history_says_at_most(rounds):
    """All reports of all histories of a device that keeps a permanent report, against all others, exactly."""
    mechanism = ldpkit.get("lgrr", 3, epsilon_inf=2, epsilon_1=1)
    first, second = mechanism._chain.first, mechanism._chain.second
    one, two = (
        [[Fraction(each.keep if i == j else each.width, 2**64) for j in range(3)] for i in range(3)]
        for each in (first, second)
    )

    def law(history):
        states = sorted(set(history))
        found = {}
        for kept in itertools.product(range(3), repeat=len(states)):
            chance = math.prod(
                (one[state][report] for state, report in zip(states, kept, strict=True)), start=Fraction(1)
            )
            at = dict(zip(states, kept, strict=True))
            for reports in itertools.product(range(3), repeat=rounds):
                part = math.prod((two[at[v]][y] for v, y in zip(history, reports, strict=True)), start=chance)
                found[reports] = found.get(reports, 0) + part
        return found

    laws = [law(history) for history in itertools.product(range(3), repeat=rounds)]
    worst = max(max(a[y] / b[y] for y in a) for a in laws for b in laws)
    changing = totals_of([series_of(mechanism, fixed=False)], 1, rounds).lifetime
    assert math.log(worst) <= changing / 1e6
    if rounds == 1:
        assert changing / 1e6 <= math.log(worst) + 2e-6
    same = [law((value,) * rounds) for value in range(3)]
    worst_fixed = max(max(a[y] / b[y] for y in a) for a in same for b in same)
    assert math.log(worst_fixed) <= totals_of([series_of(mechanism, fixed=True)], 1, rounds).lifetime / 1e6


def test_the_ledger_and_the_device_add_alike():
    draw = np.random.default_rng(7)
    for _ in range(200):
        costs = [
            Series(float(first), float(further)) if draw.random() < 0.9 else Series(float(first), math.inf)
            for first, further in draw.choice([0.1, 0.25, 1 / 3, 0.7, 2.0, 0.0], (draw.integers(1, 6), 2))
        ]
        ask, rounds = int(draw.integers(1, len(costs) + 1)), int(draw.integers(1, 5))
        assert totals_of(costs, ask, rounds) == promised(map(charges_of, costs), ask, rounds)


def test_the_device_refuses_one_millionth_less_than_the_ledger_says():
    for name, domain, options in (
        ("grr", 7, {"epsilon": 0.37}),
        ("olh", 50, {"epsilon": 1.3}),
        ("pm", (0, 1), {"epsilon": 0.9}),
        ("loue", 5, {"epsilon_inf": 2.5, "epsilon_1": 1.2}),
    ):
        mechanism = ldpkit.get(name, domain, **options)
        needed = micro_epsilon(mechanism.exact_epsilon())
        sampler = read_sampler(mechanism.sampler())
        assert covers(needed, *sampler.ratio())
        assert not covers(needed - 2, *sampler.ratio())


# --- files, versions and the schema --------------------------------------------------------


def test_files_come_back_and_keys_are_asked_for(tmp_path):
    (tmp_path / "a.toml").write_bytes(TOWN)
    made = load_collection(tmp_path / "a.toml")
    (tmp_path / "a.json").write_bytes(seal(made, KEY))
    again = load_collection(tmp_path / "a.json", public_key=str(KEY.public))
    assert (again.digest, again.is_signed) == (made.digest, True)
    with pytest.raises(InvalidInputError, match="is not signed"):
        load_collection(tmp_path / "a.toml", public_key=str(KEY.public))


def _version(*changes):
    text = TOWN
    for old, new in (("version = 2", "version = 3"), *changes):
        assert old.encode() in text
        text = text.replace(old.encode(), new.encode(), 1)
    return compile_toml(text)


def test_a_new_version_says_what_changes_and_whether_the_promise_weakens():
    old = compile_toml(TOWN)
    nothing = compare_versions(old, old)
    assert (nothing.changes, nothing.needs_version, nothing.weakens) == ((), False, False)
    typo = compare_versions(old, _version(("Which page do you read?", "Which page do you like?")))
    assert [row["where"] for row in typo.rows()] == ["page.text"]
    assert not typo.redrawn
    assert not typo.weakens
    weaker = compare_versions(
        old, _version(('"hm"\nepsilon = 1', '"hm"\nepsilon = 1.5'), ("count = 4", "count = 6"))
    )
    assert weaker.weakens
    assert weaker.redrawn == ("age",)
    effects = {row["where"]: row["effect"] for row in weaker.rows()}
    assert effects["promise.lifetime"] == "the promise is weaker"
    assert effects["age.charge.first"] == "an answer costs more"
    assert "pays up to epsilon 20" in " ".join(weaker.notes())
    stronger = compare_versions(old, _version(("ask = 2", "ask = 1")))
    assert not stronger.weakens
    same = compare_versions(old, compile_toml(TOWN.replace(b"live.", b"sleep.")))
    assert same.needs_version
    assert "devices that saw the old one refuse it" in same.warnings[0]
    with pytest.raises(MismatchError, match="two collections"):
        compare_versions(old, compile_toml(TOWN.replace(b"town-2026", b"city-2026")))


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_takes_what_is_written(validator):
    for signed in (False, True):
        assert list(validator.iter_errors(envelope(signed=signed))) == []
    for name in ("planar_window", "tracs_d", "losue", "dbitflip", "truncated_pm"):
        made = seal(compile_toml(with_question(_asking(name))))
        assert list(validator.iter_errors(json.loads(made))) == []


def test_the_schema_refuses_what_is_damaged(validator):
    """Whatever field is removed, added or of another type, the schema and the device say no."""
    checked = 0

    def walk(value, path):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield (*path, key)
                yield from walk(inner, (*path, key))

    form = envelope(signed=True)
    form["collection"]["questions"] = form["collection"]["questions"][:1]
    form["collection"]["spend"]["ask"] = 1
    paths = [*walk(form, ()), *walk(form["collection"]["questions"][0], ("collection", "questions", 0))]
    for path in paths:
        if "parameters" in path or ("sampler" in path and path[-1] not in ("sampler", "form")):
            continue  # what these hold depends on the mechanism: clients check it
        for change in (None, "remove", "add"):
            damaged = json.loads(json.dumps(form))
            inner = damaged
            for part in path[:-1]:
                inner = inner[part]
            if change == "remove":
                del inner[path[-1]]
            elif change == "add":
                inner["extra"] = None
            else:
                inner[path[-1]] = None
            if path == ("signature",) and change == "remove":
                continue
            assert list(validator.iter_errors(damaged)), (path, change)
            with pytest.raises(LdpkitError):
                Collection.read(canonical(damaged))
            checked += 1
    assert checked > 80
