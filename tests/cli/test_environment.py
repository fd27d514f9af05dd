"""Variables of the environment that have nothing to do with the command, and requests for too much."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError

SURVEY = """
[[questions]]
id = "age"
text = "How old are you?"
low = 0
high = 120
"""


@pytest.mark.parametrize("moment", ["abc", "1.5", "-1", "9" * 17, "²"])
def test_every_command_refuses_a_moment_that_is_none(run, monkeypatch, moment):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
    line = run("mechanisms", code=2).error_line
    assert "SOURCE_DATE_EPOCH is a number of whole seconds since 1970 until the year 9999" in line
    assert f"got {moment!r}: mend or unset it" in line


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_moment_is_unset_for_the_libraries_too(run, monkeypatch, empty):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", empty)
    run("--version")
    assert "SOURCE_DATE_EPOCH" not in os.environ


def test_libraries_are_imported_whatever_the_environment_says():
    script = (
        "import sys; sys.argv = ['ldpkit', '--version']\n"
        "from ldpkit.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import numpy.f2py, matplotlib\nprint(matplotlib.get_backend())"
    )
    odd = {"SOURCE_DATE_EPOCH": "", "MPLBACKEND": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **odd}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].lower() == "agg"


@pytest.mark.parametrize(
    "token", ["secret\ntoken", "secret\u2028token", "secrét", "secret token", "\ufeffsecret"]
)
def test_a_token_that_no_header_carries_is_refused_and_not_told(run, monkeypatch, token):
    monkeypatch.setenv("LDPKIT_TOKEN", token)
    line = run("collector", "estimates", "town", "--url", "http://127.0.0.1:1", code=2).error_line
    assert "of the token is" in line
    assert "copy it again" in line
    assert "secr" not in line
    with pytest.raises(InvalidParameterError, match="of the token is") as refused:
        ldpkit.Collector("http://127.0.0.1:1", token=token)
    assert "secr" not in str(refused.value)


def test_white_space_around_a_token_is_no_part_of_it(run, monkeypatch):
    monkeypatch.setenv("LDPKIT_TOKEN", " abc\r\n")
    line = run("collector", "estimates", "town", "--url", "http://127.0.0.1:1", code=2).error_line
    assert "Connection refused" in line
    monkeypatch.setenv("LDPKIT_TOKEN", "\r\n")
    assert "a collector asks for a token" in run("collector", "estimates", "town", code=2).error_line


@pytest.mark.parametrize(
    "url", ["https://a..example.org", "https://127.0.0.1:1/ä", "https://127.0.0.1:99999"]
)
def test_an_address_that_cannot_be_asked_is_refused(url):
    with pytest.raises(InvalidParameterError, match=r"cannot be asked|is not the address"):
        ldpkit.Collector(url, token="t")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", 'purpose is missing in {file}: add purpose = "..."'),
        ('purpose = ""\n', 'purpose is missing in {file}: add purpose = "..."'),
        ('purpose = "To see."\nid = "a b"\n', "{file}, line 2: id is a name"),
        ('purpose = "To see."\nrounds = {every = "daily", count = "x"}\n', "{file}, line 2: rounds.count is"),
    ],
)
def test_what_a_planned_collection_lacks_is_said_before_the_plan(run, tmp_path, head, message):
    file, target = tmp_path / "town.toml", tmp_path / "planned.toml"
    file.write_text(head + SURVEY)
    line = run("plan", "survey", file, "--n", 20_000, "-e", 2, "-o", target, code=2).error_line
    assert message.format(file=file) in line
    assert not target.exists()


def test_a_data_set_of_one_value_is_mended_with_a_count_of_0(run, tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("value\na\na\n")
    assert "columns value and count, with the count 0" in run("datasets", "show", file, code=2).error_line
    file.write_text("value,count\na,2\nb,0\n")
    assert "2 most common of 2 values" in run("datasets", "show", file).out


@pytest.mark.parametrize(
    "words",
    [("recommend", "--n", 1000, "--domain", 4, "-e", 1), ("bench",), ("collection", "simulate", "a.toml")],
)
def test_more_repeats_than_anybody_needs_are_refused_once(run, words):
    line = run(*words, "-r", 10**18, code=2).error_line
    assert "less than or equal to 1000000" in line
    assert "more than a memory holds" not in line


@pytest.mark.parametrize(
    ("estimator", "bins"), [("ems", 100_000), ("ems", 6_000), ("em", 1_000_000), ("inversion", 6_000)]
)
def test_a_density_is_refused_before_its_memory_is_taken(run, tmp_path, estimator, bins):
    file = tmp_path / "ages.csv"
    file.write_text("age\n" + "".join(f"{age}\n" for age in range(100)))
    asked = ("density", file, "--low", 0, "--high", 120, "-e", 1, "--estimator", estimator, "--bins", bins)
    line = run(*asked, code=2).error_line
    assert f"a density in {bins:,} bins takes" in line
    assert "ask for fewer, or set LDPKIT_MEMORY=" in line


def test_repeats_are_compared_with_the_limit(run, tmp_path, monkeypatch):
    file = tmp_path / "answers.csv"
    file.write_text("v\n" + "a\nb\nc\n" * 7)
    line = run("bench", "-d", file, "-e", 1, "-r", 1_000_000, code=2).error_line
    assert "a benchmark of 1,000,000 repeats with 54,000,000 numbers takes" in line
    line = run("recommend", "-d", file, "-e", 1, "-r", 1_000_000, code=2).err
    assert "simulating 1,000,000 collections of each of 9 protocols takes" in line
    monkeypatch.setenv("LDPKIT_MEMORY", "1M")  # what is run where nobody says how often is not refused
    run("bench", "-d", file, "-e", 1, "-p", "grr", "-m", "none")
