"""`ldpkit recommend` from the outside."""

import json

import pytest

SMALL = ["recommend", "-p", "grr", "oue", "-r", "20"]


def test_the_table_comes_with_reasons(run):
    result = run(*SMALL, "-d", "zipf:k=8,n=2000", "-e", "1")
    assert "report_bytes" in result.out
    assert "smallest expected mae" in result.err


def test_n_and_k_are_enough(run):
    result = run(*SMALL, "--n", 2000, "--k", 8, "-e", 1, "--format", "json")
    rows = json.loads(result.out)
    assert rows[0]["error"] <= rows[-1]["error"]
    assert "stands in for it" in result.err


def test_a_wanted_accuracy_gives_an_epsilon(run):
    rows = json.loads(run(*SMALL, "-d", "zipf:k=8,n=2000", "--at-most", 0.02, "--format", "json").out)
    assert rows[0]["epsilon"] == min(row["epsilon"] for row in rows)


@pytest.mark.parametrize("options", [["-e", "1"], ["--at-most", "0.02"]])
def test_a_figure(run, tmp_path, options):
    run(*SMALL, "-d", "zipf:k=8,n=2000", *options, "--figure", tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_means_of_numbers(run):
    options = ["recommend", "--n", 100_000, "--low", 0, "--high", 1, "--format", "json"]
    rows = json.loads(run(*options, "--within", 0.01).out)
    assert rows[0]["mechanism"] == "hm"
    assert rows[0]["within"] == pytest.approx(0.01, rel=1e-3)
    assert json.loads(run(*options, "-e", 4).out)[0]["epsilon"] == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-e", "1"], "give -d DATA, or --n and --k"),
        (["-d", "zipf:k=8,n=2000"], "either --epsilon"),
        (["-d", "zipf:k=8,n=2000", "-e", "1", "--at-most", "1"], "either --epsilon"),
        (["-d", "zipf:k=8,n=2000", "-u", "kendall_tau", "--at-most", "1"], "larger is better"),
        (["-d", "zipf:k=8,n=2000", "--at-most", "1", "--at-least", "1"], "not both"),
        (["--low", "0", "--n", "10"], "--low, --high and --n"),
        (["--low", "0", "--high", "1", "--n", "10", "--at-most", "1"], "--at-most is for categories"),
        (["--low", "0", "--high", "1", "-d", "ages.csv", "--within", "1"], "ldpkit plan budget"),
        (["--low", "0", "--high", "1", "--n", "10", "-e", "1", "--probability", "0"], "strictly between"),
        (["-d", "zipf:k=8,n=2000", "--at-most", "1", "--probability", "0"], "strictly between"),
        (["--low", "1", "--high", "0", "--n", "10", "-e", "1"], "low"),
    ],
)
def test_mistakes_are_refused(run, arguments, words):
    assert words in run("recommend", *arguments, code=2).error_line
