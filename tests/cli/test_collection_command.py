"""`ldpkit collection` and `ldpkit plan survey`, from an idea to a signed file."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import stat
import tomllib

import pytest

from cli.moving import moving_away
from client.collections import TOWN
from ldpkit.core import locks
from ldpkit.core.locks import held

NEW = ("--question", "commute", "--text", "How do you travel to work?", "--domain", "walk,bike,bus,car")


@pytest.fixture
def town(tmp_path):
    (tmp_path / "town.toml").write_bytes(TOWN)
    return tmp_path / "town.toml"


def test_from_an_idea_to_a_signed_file(run, tmp_path):
    file, pem, signed = (tmp_path / name for name in ("commute.toml", "town.pem", "commute.json"))
    told = run(
        *("collection", "new", file, "--purpose", "How people travel.", *NEW, "--n", 20000, "--within", 0.02),
        *("--start", "2026-12-01"),
    ).err
    assert "This is the smallest epsilon that achieves it" in told
    assert "# grr at epsilon" in file.read_text()
    age = (
        "--question",
        "age",
        "--text",
        "How old are you?",
        "--low",
        0,
        "--high",
        120,
        "--n",
        20000,
        "-e",
        0.5,
    )
    run("collection", "new", file, "--add", *age)
    assert "the file states no promise; it costs epsilon" in run("collection", "check", file).out
    key = run("collection", "keygen", pem).out.strip()
    assert len(key) == 87
    assert stat.S_IMODE(pem.stat().st_mode) == 0o600
    assert "exists: a key that is overwritten is lost" in run("collection", "keygen", pem, code=2).error_line
    run("collection", "sign", file, "--private-key", pem, "-o", signed)
    assert "signed by the expected key" in run("collection", "check", signed, "--key", key).out.replace(
        "\n", " "
    )
    other = run("collection", "keygen", tmp_path / "other.pem").out.strip()
    assert "signed with another key" in run("collection", "check", signed, "--key", other, code=2).error_line
    shown = run("collection", "show", signed).out
    assert "How do you travel to work?" in shown
    assert "Guessing from the report succeeds in" in shown
    changed = json.loads(signed.read_text())
    changed["collection"]["questions"][1]["parameters"]["epsilon"] = 0.4
    (tmp_path / "forged.json").write_text(json.dumps({"collection": changed["collection"]}))
    assert "does not match Duchi" in run("collection", "check", tmp_path / "forged.json", code=2).error_line


def test_new_asks_for_what_it_was_not_told(run, tmp_path, monkeypatch):
    answers = iter(["To see.", "age", "How old are you?", "0..120", "20000", "2"])
    monkeypatch.setattr("typer.prompt", lambda question, err, **_: next(answers))
    file = tmp_path / "a.toml"
    run("collection", "new", file)
    text = file.read_text()
    assert 'purpose = "To see."' in text
    assert "low = 0.0\nhigh = 120.0\nwithin = 2.0" in text
    answers = iter(["To see.", "bed", "When do you go to bed?", "circle 24", "20000", "0.5"])
    run("collection", "new", file, "--force")
    assert "period = 24.0" in file.read_text()
    answers = iter(["To see.", "way", "How do you travel?", "walk,bike", "300", "", "0.5"])
    given = run("collection", "new", tmp_path / "e.toml")
    assert "epsilon = 0.5" in (tmp_path / "e.toml").read_text()
    assert "warning" not in given.err


def test_new_asks_again_for_what_it_cannot_read(run, tmp_path, monkeypatch):
    said = [
        *("To see.", "how often", "often", "How often?"),
        *("0-180", "often", "never,sometimes", "many", "2.5", "300"),
        *("10 percent", "1e-9", "2", "10%"),
    ]
    answers = iter(said)
    monkeypatch.setattr("typer.prompt", lambda question, err, **_: next(answers))
    file = tmp_path / "a.toml"
    told = run("collection", "new", file).err
    for message in (
        "the answer is a name of at most 64 letters, digits, dots, dashes and underscores, got 'how often'",
        "'0-180' cannot be read: for numbers write 0..180",
        "'often' is one label: give several, separated by commas; for numbers write LOW..HIGH",
        "'many' is not a number",
        "'2.5' is not a whole number of people",
        "'10 percent' is not a number",
        "accept a larger error",
        "two points are 0.02",
    ):
        assert message in told, message
    assert "within = 0.1\n" in file.read_text()
    answers = iter(["To see.", "age", "How old?", "0..120", "300", "10%", "12"])
    assert "say how far off in it" in run("collection", "new", tmp_path / "b.toml").err
    answers = iter(["To see.", "a", "b", "c,d", "300", "", "0", "inf", "0.5"])
    assert "epsilon must be positive and finite, got 0" in run("collection", "new", tmp_path / "c.toml").err


def test_new_ends_where_there_are_no_more_answers(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("To see.\nbad name\n"))
    told = run("collection", "new", tmp_path / "a.toml", code=2).err
    assert "There was no answer: nothing was written" in told
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_offered_a_question_more(run, tmp_path):
    file = tmp_path / "a.toml"
    words = ("collection", "new", file, "--purpose", "p", *NEW, "--n", 300, "-e", 1)
    run(*words)
    said = "a.toml' exists: --add adds the question to it, and --force replaces the file"
    assert said in run(*words, code=2).error_line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--question", "bad name", "--text", "t"), "error: --question is a name of at most 64 letters"),
        (("--question", "q", "--text", " "), "error: --text is text of at most"),
        (("--question", "q", "--text", "t", "--fixed"), "error: grr keeps no permanent report"),
    ],
)
def test_new_names_no_line_of_a_file_that_is_not_there(run, tmp_path, words, said):
    words = (*words, "--purpose", "p", "--domain", "a,b", "-p", "grr", "-e", 1)
    line = run("collection", "new", tmp_path / "a.toml", *words, code=2).error_line
    assert line.startswith(said)
    assert ", line " not in line
    line = run("collection", "new", tmp_path / "my club.toml", *words, code=2).error_line
    assert "error: FILE without .toml is a name of at most 64 letters" in line
    assert "got 'my club'" in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*NEW, "--n", 100), "Give --purpose"),
        (("--purpose", "p", *NEW, "--n", 100), "give either --within"),
        (("--purpose", "p", *NEW, "--within", 0.1), "how many people will answer"),
        (("--purpose", "p", *NEW, "--n", 100, "--within", 1e-6), "ask more people or accept a larger error"),
        (
            ("--purpose", "p", "--question", "q", "--text", "t", "--n", 9, "-e", 1),
            "what are the possible answers",
        ),
        (("--purpose", "p", *NEW, "--n", 9, "-e", 0), "error: epsilon must be positive and finite, got 0"),
        (("--purpose", "p", *NEW, "--n", 9, "--within", 2), "two points are 0.02"),
        (("--purpose", "p", *NEW, "--n", 9, "-e", 1, "--start", "soon"), "--start is a day"),
        (("--purpose", "p", *NEW, "--n", 9, "-e", 1, "--count", 3), "--every daily or weekly"),
        (("--purpose", "p", *NEW, "-p", "grr", "--parameter", "d=3"), "grr has no parameter 'd'"),
        (("--purpose", "p", *NEW, "-p", "she", "-e", 1), "does not run on devices"),
        (("--purpose", "p", *NEW, "--n", 9, "-e", 1, "--parameter", "d=3"), "name it with -p"),
        (("--add", *NEW, "--n", 9, "-e", 1), "does not exist"),
    ],
)
def test_what_new_refuses(run, tmp_path, words, said):
    line = run("collection", "new", tmp_path / "a.toml", *words, code=2).error_line
    assert said in line
    assert not (tmp_path / "a.toml").exists()


def test_a_mechanism_can_be_named(run, tmp_path):
    file = tmp_path / "a.toml"
    words = (
        "--every",
        "daily",
        "--count",
        5,
        "-p",
        "lgrr",
        "--parameter",
        "epsilon_inf=2",
        "--parameter",
        "epsilon_1=1",
    )
    run("collection", "new", file, "--purpose", "p", *NEW, *words)
    assert "7.292692 in all" in run("collection", "check", file).out
    run("collection", "new", file, "--force", "--fixed", "--purpose", "p", *NEW, *words)
    assert "2 for a round, 2 in all" in run("collection", "check", file).out
    assert "exists" in run("collection", "new", file, "--purpose", "p", *NEW, *words, code=2).error_line
    large = run("collection", "new", file, "--force", "--purpose", "p", *NEW, "--n", 100, "--within", 0.001)
    assert "warning: epsilon" in large.err
    assert "# Warning: " in file.read_text()


def test_an_epsilon_that_is_large_for_people_is_told(run, tmp_path):
    file = tmp_path / "club.toml"
    words = ("--purpose", "p", *NEW, "--n", 300)
    for accuracy, is_told in ((("-e", 2), False), (("--within", 0.05), True), (("-e", 2.001), True)):
        told = run("collection", "new", file, "--force", *words, *accuracy).err
        assert ("Which epsilon?" in told) is is_told, accuracy
        assert ("# Warning: " in file.read_text()) is is_told
        assert ("Which epsilon?" in run("collection", "check", file).err) is is_told
        about = json.loads(run("collection", "check", file, "--format", "json").out)
        assert bool(about["warnings"]) is is_told
    # Two questions that are small each, and large together.
    run("collection", "new", file, "--force", *words, "-e", 1.5)
    more = ("--add", "--question", "age", "--text", "Age?", "--low", 0, "--high", 9, "--n", 300, "-e", 1)
    assert "warning: epsilon 2.5 is large" in run("collection", "new", file, *more).err


def test_diff_says_whether_the_promise_weakens(run, tmp_path, town):
    later = tmp_path / "later.toml"
    later.write_bytes(TOWN.replace(b"version = 2", b"version = 3").replace(b"ask = 2", b"ask = 1"))
    assert "no weaker" in run("collection", "diff", town, later).err
    result = run("collection", "diff", later, town, code=1)
    assert "the promise is weaker" in result.out
    assert "is not above 3" in result.err
    assert (
        json.loads(run("collection", "diff", town, later, "--format", "json").out)["about"]["weakens"]
        is False
    )


def test_simulate_draws_a_page_that_needs_nothing_else(run, tmp_path, town):
    page = tmp_path / "page.html"
    out = run("collection", "simulate", town, "--n", 3000, "-r", 2, "--report", page).out
    assert "2 rehearsals with 3,000 people, 2 of 5 questions each" in out
    assert "a person spends at most epsilon 3 for a round, 6.8 in all" in " ".join(out.split())
    text = page.read_text()
    assert "http:" not in text
    assert "https:" not in text
    assert "<script" not in text
    assert "How do you travel to work?" in text
    assert "their answers mean nothing. How accurate the estimates are is what to expect" in text
    assert "What is guessed is which of 16 equal parts of the range the number is in." in text
    scales = re.findall(r'class="scale">(.*?)</div>', text)
    assert scales[0] == "<span>0%</span><span>50%</span><span>100%</span>"
    assert "<span>0</span><span>60</span><span>120</span>" in scales  # of the ages
    assert text.count('class="scroll"') == text.count('class="scroll" tabindex="0"')  # by keyboard as well
    assert '<p class="digest">' in text  # which breaks, as no phone is as wide as it
    few = run("collection", "simulate", town, "--n", 150, "-r", 1, "--report", page, "--force")
    assert "Results appear from" in page.read_text()
    assert "150 people" in few.out


def test_hostile_texts_are_text_on_the_page(run, tmp_path):
    file, page = tmp_path / "a.toml", tmp_path / "page.html"
    text = TOWN.replace(b"How old are you?", b"<script>alert(1)</script>").replace(
        b'"walk", "bike"', b'"<b>", "bike"'
    )
    file.write_bytes(text)
    run("collection", "simulate", file, "--n", 900, "-r", 1, "--report", page)
    assert "<script" not in page.read_text()
    assert "&lt;b&gt;" in page.read_text()


def test_formats_and_refusals(run, tmp_path, town):
    rows = json.loads(run("collection", "check", town, "--format", "json").out)
    assert rows["about"]["promise"] == {"report": 2000000, "round": 3000000, "lifetime": 6800000}
    assert run("collection", "show", town, "--format", "csv").out.startswith("question,text,answers,")
    assert "who signs?" in run("collection", "sign", town, "-o", tmp_path / "a.json", code=2).error_line
    assert "where to?" in run("collection", "sign", town, "--unsigned", code=2).error_line
    assert run("collection", "sign", town, "--unsigned", "-o", "-").out.startswith('{"collection":{"format"')
    town.write_bytes(TOWN.replace(b"epsilon = 0.3", b"epsilon = -3"))
    assert (
        "town.toml, line 35: epsilon must be positive" in run("collection", "check", town, code=2).error_line
    )
    assert "No such file" in run("collection", "check", tmp_path / "none.toml", code=2).error_line


def test_plan_survey_completes_a_file(run, tmp_path):
    draft, planned = tmp_path / "draft.toml", tmp_path / "planned.toml"
    draft.write_text(
        'id = "town"\npurpose = "p"\n'
        '[[questions]]\nid = "commute"\ntext = "How?"\ndomain = ["walk", "bike", "car"]\nwithin = 0.02\n'
        '[[questions]]\nid = "job"\ntext = "What?"\ndomain = 9\n'
    )
    assert "of 2 questions" in run("plan", "survey", draft, "--n", 20000, "-e", 4).err
    out = run("plan", "survey", draft, "--n", 20000, "-e", 1, "-o", planned).out
    assert "Survey of 2 questions, 20,000 people, epsilon 1 each" in out
    assert "in all" in run("collection", "check", planned).out
    assert "Chosen by 'ldpkit plan survey' for epsilon 1: split by error" in planned.read_text()
    assert "give --epsilon" in run("plan", "survey", draft, "--n", 20000, code=2).error_line
    assert "give --n" in run("plan", "survey", draft, "-e", 1, code=2).error_line
    draft.write_text('[[questions]]\nid = "a"\nlow = 3\n')
    assert (
        "line 3: what are the possible answers?"
        in run("plan", "survey", draft, "--n", 9, "-e", 1, code=2).error_line
    )


def test_a_plan_is_written_for_people_to_read(run, tmp_path):
    draft, planned = tmp_path / "draft.toml", tmp_path / "planned.toml"
    questions = "".join(
        f'[[questions]]\nid = "q{size}"\ntext = "?"\ndomain = {size}\nwithin = 0.5\n' for size in (2, 5, 9)
    )
    draft.write_text(f'id = "a"\nversion = 3\nleast_reports = 40\npurpose = "p"\n{questions}')
    shown = run("plan", "survey", draft, "--n", 300, "-e", 1.5, "-o", planned).out
    assert "*: the best" in shown
    written = tomllib.loads(planned.read_text())
    assert (written["version"], written["least_reports"]) == (3, 40)
    assert all(round(each["epsilon"], 6) == each["epsilon"] for each in written["questions"])
    assert written.get("spend") or sum(each["epsilon"] for each in written["questions"]) <= 1.5


def test_check_says_which_question_is_less_exact_than_wanted(run, tmp_path):
    file = tmp_path / "a.toml"
    run("collection", "new", file, "--purpose", "p", *NEW, "--n", 5000, "--within", 0.03)
    assert "is expected" not in run("collection", "check", file).err
    file.write_text(re.sub(r"^epsilon = .*", "epsilon = 0.5", file.read_text(), flags=re.MULTILINE))
    told = run("collection", "check", file).err
    words = (
        r"warning: commute is expected within 0\.0\d+ of the truth for 5,000 people, but the file wants 0\.03"
    )
    assert re.search(words, told)
    assert json.loads(run("collection", "check", file, "--format", "json").out)["warnings"]


def test_rounds_that_do_not_exist_are_named_before_their_count(run, tmp_path):
    file = tmp_path / "a.toml"
    run("collection", "new", file, "--purpose", "p", *NEW, "--n", 5000, "-e", 1)
    file.write_text(file.read_text().replace('"once"', '"monthly"'))
    assert "one of once, daily, weekly, got 'monthly'" in run("collection", "check", file, code=2).error_line


def test_new_says_that_a_mean_is_within(run, tmp_path):
    words = ("--question", "age", "--text", "How old?", "--low", 0, "--high", 120, "--n", 500, "-e", 1)
    told = run("collection", "new", tmp_path / "a.toml", "--purpose", "p", *words).err
    assert "half of a 95% interval of the mean, whatever the numbers are." in told


def test_a_key_is_there_whole_or_not_at_all(run, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # as on a full disk
    try:
        assert "make room" in run("collection", "keygen", tmp_path / "town.pem", code=2).error_line
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_a_question_whose_labels_are_numbers_is_rehearsed(run, tmp_path):
    file = tmp_path / "stars.toml"
    asked = (
        "--purpose",
        "How good it was.",
        "--question",
        "stars",
        "--text",
        "How many?",
        "-p",
        "grr",
        "-e",
        6,
    )
    run("collection", "new", file, *asked, "--domain", "1,2,5")
    assert "domain = [1, 2, 5]" in file.read_text()
    told = run("collection", "simulate", file, "--n", 2000, "-r", 2, "--format", "json").out
    assert json.loads(told)["rows"][0]["rmse"] < 0.05


@pytest.mark.parametrize(
    ("data", "kind"), [(b"LDPR\x01", "a report file, not a collection"), (b"\xff", "not a collection")]
)
def test_another_file_is_not_read_as_a_collection(run, tmp_path, data, kind):
    file = tmp_path / "town.ldp"
    file.write_bytes(data)
    assert (
        f"{str(file)!r} is {kind}: give a .toml file" in run("collection", "check", file, code=2).error_line
    )


def test_too_few_people_for_any_result_are_told(run, tmp_path):
    file = tmp_path / "club.toml"
    few = "60 people are expected, but results of fewer than 100 answers are not shown: lower least_reports"
    assert few in run("collection", "new", file, "--purpose", "p", *NEW, "--n", 60, "-e", 1).err
    assert few in run("collection", "check", file).err
    assert json.loads(run("collection", "check", file, "--format", "json").out)["warnings"]
    assert few in run("collection", "simulate", file, "-r", 1).err
    assert few in run("plan", "survey", file, "-e", 1).err
    file.write_text(file.read_text().replace("least_reports = 100", "least_reports = 60"))
    for words in (("collection", "check", file), ("plan", "survey", file, "-e", 1)):
        assert "not shown" not in run(*words).err


def test_questions_that_may_fall_short_of_answers_are_told(run, tmp_path):
    file, planned = tmp_path / "club.toml", tmp_path / "planned.toml"
    run("collection", "new", file, "--purpose", "p", *NEW, "--n", 200, "-e", 1)
    other = ("--question", "age", "--text", "Age?", "--low", 0, "--high", 120, "--n", 200, "-e", 1)
    assert "not shown" not in run("collection", "new", file, "--add", *other).err
    short = "about 100 answers to each from 200 people; results of fewer than 100 are not shown"
    assert short in run("plan", "survey", file, "-e", 2, "-o", planned).err
    assert "ask = 1" in planned.read_text()
    assert "has no result with probability 0.47" in run("collection", "check", planned).err
    assert short in run("collection", "simulate", planned, "-r", 1).err
    assert "not shown" not in run("collection", "simulate", planned, "--n", 300, "-r", 1).err


def test_the_probability_of_too_few_answers_is_that_of_the_binomial():
    from fractions import Fraction
    from math import comb

    from ldpkit.protocols.collection.few_answers import few_answers_warnings

    def short(people):
        share = Fraction(1, 3)
        return sum(comb(people, k) * share**k * (1 - share) ** (people - k) for k in range(20))

    safe = next(people for people in range(60, 120) if short(people) <= Fraction(1, 100))
    assert few_answers_warnings(safe, 20, 1, 3) == ()
    (told,) = few_answers_warnings(safe - 1, 20, 1, 3)
    assert f"with probability {float(short(safe - 1)):.2g}:" in told


def test_the_public_half_of_a_key_is_printed_again(run, tmp_path):
    pem = tmp_path / "town.pem"
    key = run("collection", "keygen", pem).out
    kept = pem.read_bytes()
    assert "the public half of this one with --public" in run("collection", "keygen", pem, code=2).error_line
    assert run("collection", "keygen", pem, "--public").out == key
    assert pem.read_bytes() == kept
    missing = tmp_path / "none.pem"
    assert "No such file" in run("collection", "keygen", missing, "--public", code=2).error_line
    assert not missing.exists()
    pem.write_text(key)
    assert "not a private key" in run("collection", "keygen", pem, "--public", code=2).error_line


def test_a_file_is_held_to_the_limit_of_a_notice(run, town):
    words = ("collection", "check", town)
    lifetime = json.loads(run(*words, "--format", "json").out)["about"]["promise"]["lifetime"] / 1e6
    first = run(*words).out.splitlines()[0]
    assert first == f"town-2026, version 2: the file states no promise; it costs epsilon {lifetime:g} in all"
    assert run(*words, "--at-most", lifetime).out.startswith(f"{first}, within the limit of {lifetime:g}\n")
    above = f"FAILED: its epsilon in all, {lifetime:g}, is above the limit of 0.1"
    assert above in run(*words, "--at-most", 0.1, code=1).out
    found = json.loads(run(*words, "--at-most", 0.1, "--format", "json", code=1).out)
    assert above in found["title"]
    assert (found["about"]["passed"], found["about"]["limit"], found["about"]["stated"]) == (False, 0.1, [])
    town.write_bytes(TOWN + b"[promise]\nround = 9\nlifetime = 9\n")
    assert "the promise for a round and a lifetime holds" in run(*words).out


def test_no_limit_admits_a_cost_without_a_bound(run, tmp_path):
    file = tmp_path / "app.toml"
    file.write_text(
        'id = "app"\nversion = 1\npurpose = "To see."\npromise = {round = "infinite", report = "infinite", '
        'lifetime = "infinite"}\nrounds = {every = "daily", start = 2026-12-01, count = 9}\n[[questions]]\n'
        'id = "use"\ntext = "How long?"\ndomain = ["a", "b"]\nmechanism = "dbitflip"\nepsilon = 1\n'
    )
    told = run("collection", "check", file, "--at-most", 1000, code=1).out
    assert "FAILED: its epsilon in all, infinite, is above the limit of 1000" in told
    assert "positive and finite, got 0" in run("collection", "check", file, "--at-most", 0, code=2).error_line


AGE = ("--question", "age", "--text", "How old are you?", "--low", 0, "--high", 120, "-e", 1)
BEGIN = ("--purpose", "How people travel.", *NEW, "--n", 900, "-e", 1, "--start", "2026-12-01")


def test_of_two_that_add_at_once_one_is_told_to_try_again(run, tmp_path):
    file = tmp_path / "a.toml"
    run("collection", "new", file, *BEGIN)
    before = file.read_bytes()
    with held(file):
        line = run("collection", "new", file, "--add", *AGE, "-p", "pm", code=2).error_line
    assert f"another command is adding to '{file}': try again" in line
    assert file.read_bytes() == before
    run("collection", "new", file, "--add", *AGE, "-p", "pm")
    assert b'id = "age"' in file.read_bytes()


def test_a_file_that_was_replaced_before_the_lock_is_held_anew(tmp_path, monkeypatch):
    file = tmp_path / "a.toml"
    file.write_text("old")
    usual, turns = locks.lock, []

    def lock(handle):
        if not turns:  # somebody else was faster
            (tmp_path / "new").write_text("new")
            (tmp_path / "new").replace(file)
        turns.append(os.fstat(handle).st_ino)
        return usual(handle)

    monkeypatch.setattr(locks, "lock", lock)
    with held(file) as is_ours:
        assert is_ours
    assert turns[-1] == file.stat().st_ino
    assert len(turns) == 2


def test_a_collection_that_somebody_moves_at_once_was_written(run, tmp_path, monkeypatch):
    moved = moving_away(monkeypatch, tmp_path)
    assert "wrote" in run("collection", "new", tmp_path / "a.toml", *BEGIN).err
    assert moved() == ["a.toml"]
