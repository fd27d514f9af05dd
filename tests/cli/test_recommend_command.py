"""`ldpkit recommend` from the outside."""

import json

import pytest

from ldpkit.mechanisms.base import MECHANISMS

SMALL = ["recommend", "-p", "grr", "oue", "-r", "20"]


def test_the_table_comes_with_reasons(run):
    result = run(*SMALL, "-d", "zipf:k=8,n=2000", "-e", "1")
    assert "report_bytes" in result.out
    assert "smallest expected mean absolute error" in result.err


def test_n_and_k_are_enough(run):
    result = run(*SMALL, "--n", 2000, "--domain", 8, "-e", 1, "--format", "json")
    rows = json.loads(result.out)["rows"]
    assert rows[0]["error"] <= rows[-1]["error"]
    assert "stands in for it" in result.err


def test_a_wanted_accuracy_gives_an_epsilon(run):
    rows = json.loads(run(*SMALL, "-d", "zipf:k=8,n=2000", "--at-most", 0.02, "--format", "json").out)["rows"]
    asked = [row["epsilon"] for row in rows if row["protocol"] != "nothing"]
    assert asked == sorted(asked)


@pytest.mark.parametrize("options", [["-e", "1"], ["--at-most", "0.02"]])
def test_a_figure(run, tmp_path, options):
    run(*SMALL, "-d", "zipf:k=8,n=2000", *options, "--figure", tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_means_of_numbers(run):
    options = ["recommend", "--n", 100_000, "--low", 0, "--high", 1, "--format", "json"]
    rows = json.loads(run(*options, "--within", 0.01).out)["rows"]
    assert rows[0]["mechanism"] == "hm"
    assert rows[0]["within"] == pytest.approx(0.01, rel=1e-3)
    assert json.loads(run(*options, "-e", 4).out)["rows"][0]["epsilon"] == 4


# --- useless and dangerous answers ---------------------------------------------------------


def test_a_collection_that_teaches_nothing_is_called_that(run):
    result = run("recommend", "--n", 200, "--domain", 100, "-e", 0.1, "-r", 20, "-p", "grr", "ss")
    assert result.out.splitlines()[3].split()[:2] == ["nothing", "zeros"]  # above every collection
    assert (
        "cannot teach anything: publishing zeros without asking anybody has mean absolute error 0.01"
        in result.err
    )
    assert "you would need about" in result.err
    assert "people at this epsilon, or about epsilon" in result.err


def test_json_says_so_too_and_a_good_collection_is_not_accused(run):
    options = ("recommend", "-r", 20, "-p", "grr", "--format", "json")
    bad = json.loads(run(*options, "--n", 200, "--domain", 100, "-e", 0.1).out)
    bad |= bad["about"]
    assert bad["teaches"] is False
    assert bad["rows"][0]["protocol"] == "nothing"
    good = json.loads(run(*options, "--n", 100_000, "--domain", 8, "-e", 1).out)
    good |= good["about"]
    assert good["teaches"] is True
    assert good["warnings"] == []
    assert good["rows"][-1]["protocol"] == "nothing"


def test_learning_nothing_is_in_the_table_wherever_it_stands(run):
    result = run("recommend", "--n", 100_000, "--domain", 8, "-e", 1, "-r", 20, "-p", "grr", "--top", 2)
    assert [line.split()[0] for line in result.out.splitlines()[3:7]] == ["grr", "nothing", "grr", "grr"]


def test_a_bound_that_nobody_need_be_asked_for(run):
    result = run(*SMALL, "--n", 2000, "--domain", 8, "--at-most", 0.2)
    assert "Ask nobody: publishing" in result.err


@pytest.mark.parametrize(
    ("epsilon", "words"), [(4, None), (5, "is large."), (9, "promises almost nothing. Guessing from")]
)
def test_a_large_epsilon_is_said_to_be_large(run, epsilon, words):
    result = run(*SMALL, "--n", 2000, "--domain", 8, "-e", epsilon, "--format", "json")
    told = json.loads(result.out)["warnings"]
    assert told == [] if words is None else (len(told) == 1 and words in told[0])
    assert ("warning: " in result.err) == (words is not None)


def test_ties_are_named_and_nothing_is_worse_by_rounding(run):
    result = run("recommend", "--n", 100_000, "--domain", 4, "-e", 3, "-r", 40, "-p", "grr")
    assert "are tied: not significantly different at the 5% level" in result.out
    assert "e-1" not in result.err, "a percentage of rounding errors"
    first = result.err.splitlines()[1]
    assert " combinations tie for the smallest " in first
    assert ": grr + " in first


def test_a_mean_that_teaches_nothing_and_one_that_ties(run):
    result = run("recommend", "--n", 100, "--low", 0, "--high", 100, "-e", 0.05)
    assert "cannot teach anything" in result.err
    assert "You would need about" in result.err
    assert "duchi and hm tie for the smallest error" in result.err
    large = run("recommend", "--n", 100, "--low", 0, "--high", 100, "--within", 1, "--format", "json")
    assert "promises almost nothing" in json.loads(large.out)["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-e", "1"], "give -d DATA, or --n and --domain"),
        (["-d", "zipf:k=8,n=2000"], "either --epsilon"),
        (["-d", "zipf:k=8,n=2000", "-e", "1", "--at-most", "1"], "either --epsilon"),
        (["-d", "zipf:k=8,n=2000", "-u", "kendall_tau", "--at-most", "1"], "larger is better"),
        (["-d", "zipf:k=8,n=2000", "--at-most", "1", "--at-least", "1"], "cannot be given together"),
        (["--low", "0", "--n", "10"], "--low, --high and --n"),
        (["--low", "0", "--high", "1", "--n", "10", "--at-most", "1"], "leave out --at-most"),
        (["--low", "0", "--high", "1", "-d", "ages.csv", "--within", "1"], "ldpkit plan budget"),
        (["--low", "0", "--high", "1", "--n", "10", "-e", "1", "--probability", "0"], "strictly between"),
        (["-d", "zipf:k=8,n=2000", "--at-most", "1", "--probability", "0"], "strictly between"),
        (["--low", "1", "--high", "0", "--n", "10", "-e", "1"], "low"),
    ],
)
def test_mistakes_are_refused(run, arguments, words):
    assert words in run("recommend", *arguments, code=2).error_line


def test_every_mechanism_has_a_row_before_any_has_two(run):
    table = run("recommend", "-d", "zipf:k=8,n=2000", "-e", 1, "-r", 20, "-p", "grr", "oue", "ss").out
    shown = [line.split()[0] for line in table.splitlines()[3:7]]
    assert sorted(shown) == ["grr", "nothing", "oue", "ss"]
    assert table.splitlines()[7].startswith("*")


def test_the_number_of_values_explains_grr(run):
    few = run(*SMALL, "-d", "zipf:k=3,n=20000", "-e", 2)
    assert "With 3 values, fewer than 3e^epsilon + 2 = 24.2, grr has a smaller variance" in few.err
    many = run(*SMALL, "-d", "zipf:k=64,n=20000", "-e", 1)
    assert "With 64 values" not in many.err
    same = run("recommend", "-r", 20, "-d", "zipf:k=3,n=20000", "-e", 2, "-p", "ss")
    assert "ss with omega = 1, as here, is grr under another name" in same.err


def test_an_own_mechanism_may_be_named_behind_the_command(run, tmp_path):
    file = tmp_path / "behind.py"
    file.write_text(
        "import ldpkit\n@ldpkit.register\nclass Behind(ldpkit.GRR):\n"
        "    name, aliases = 'behind_the_command', ()\n"
    )
    asked = ("recommend", "-d", "zipf:k=8,n=2000", "-e", 1, "-r", 5, "-p", "behind_the_command")
    refused = run(*asked, code=2).error_line
    assert "the nearest of" in refused or "did you mean" in refused
    assert "one of your own needs --plugin FILE" in refused
    try:
        assert "behind_the_command" in run(*asked, "--plugin", file).out
    finally:
        if "behind_the_command" in MECHANISMS:
            MECHANISMS.forget("behind_the_command")
