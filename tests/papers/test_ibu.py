"""The IBU paper: its printed tables, its chains, the study in small, and the claims made of it."""

import csv
import math

import numpy as np
import pytest

import ldpkit
from ldpkit.papers import REPRODUCTIONS, Verdict, compare
from ldpkit.papers.ibu import (
    chain_claims,
    contest_claims,
    correction_claims,
    table_claims,
    text_claims,
)
from ldpkit.papers.ibu import study as ibu_study
from ldpkit.papers.ibu.chain import is_as_published, published, right
from ldpkit.papers.ibu.contest import Duel, contest
from ldpkit.papers.ibu.data import bucketise, sample
from ldpkit.papers.ibu.figures import draw
from ldpkit.papers.ibu.files import write_csv, write_table
from ldpkit.papers.ibu.paper import (
    AVERAGE,
    DISTRIBUTIONS,
    LONGITUDINAL,
    METRICS,
    ONE_TIME,
    REAL,
    TABLE_2,
    TABLE_3,
)
from ldpkit.papers.ibu.study import ESTIMATORS, StudyGrid

AS_PUBLISHED = ("published_ibu", "published_mi")
RIGHT = ("ibu_limit", "mi")


@pytest.fixture(scope="module")
def studies():
    """Both tables with two runs, at one n and two domain sizes."""
    return {
        table.number: StudyGrid(table.mechanisms, 2, 1, people=[20_000], sizes=[2, 100]).run()
        for table in (TABLE_2, TABLE_3)
    }


@pytest.mark.parametrize("table", [TABLE_2, TABLE_3], ids=lambda table: f"table {table.number}")
def test_the_printed_averages_belong_to_the_printed_cells(table):
    for metric in METRICS:
        for row in (*DISTRIBUTIONS, AVERAGE):
            cells = [table.gain(row, column, metric) for column in table.mechanisms]
            assert abs(np.mean(cells) - table.gain(row, AVERAGE, metric)) <= 1, (row, metric)
        for column in (*table.mechanisms, AVERAGE):
            cells = [table.gain(row, column, metric) for row in DISTRIBUTIONS]
            assert abs(np.mean(cells) - table.gain(AVERAGE, column, metric)) <= 1, (column, metric)


def test_buckets_are_one_more_than_k_with_the_last_two_joined():
    numbers = np.arange(30.0)
    assert bucketise(numbers, 2).tolist() == [10, 20]
    assert bucketise(numbers, 9).tolist() == [3] * 8 + [6]


@pytest.mark.parametrize(
    ("distribution", "mean", "deviation"),
    [
        ("gaussian", 1000, 10),
        ("exponential", 1, 1),
        ("uniform", 5050, 9900 / math.sqrt(12)),
        ("poisson", 5, math.sqrt(5)),
        ("triangular", 14_600 / 3, 2026),
    ],
)
def test_samples_have_the_moments_that_the_paper_names(distribution, mean, deviation):
    numbers = sample(distribution, 100_000, ldpkit.random.seeded(1).generator())
    assert abs(numbers.mean() - mean) < 5 * deviation / math.sqrt(100_000), "one time in 1.7 million"
    assert numbers.std() == pytest.approx(deviation, rel=0.03)


def test_the_substitute_for_incomes_is_as_documented():
    incomes = sample(REAL, 100_000, ldpkit.random.seeded(1).generator())
    assert incomes.min() >= 200
    assert incomes.max() <= 750_000
    assert (incomes % 100 == 0).all()
    # 65 % lognormal(43,000; 0.6) and 35 % lognormal(11,000; 1.0): the mixture's mean
    mean = 0.65 * 43_000 * math.exp(0.18) + 0.35 * 11_000 * math.exp(0.5)
    assert incomes.mean() == pytest.approx(mean, rel=0.02)


def test_the_published_chains_are_what_they_are_known_to_be():
    lgrr = published("lgrr", 16, 1.0)
    assert lgrr.oracle.exact_epsilon() == pytest.approx(0.573233, abs=1e-6)
    assert lgrr.oracle.q == pytest.approx(0.059616, abs=1e-6)
    assert lgrr.q == pytest.approx(0.026854, abs=1e-6)
    assert published("lgrr", 100, 1.0).oracle.exact_epsilon() == pytest.approx(0.165608, abs=1e-6)
    assert published("lblh", 50, 1.0).q == pytest.approx(0.57487, abs=1e-5)
    assert published("lblh", 50, 1.0).oracle == right("lblh", 50, 1.0).oracle
    assert published("lolh", 50, 1.0).oracle.buckets == 3
    for name in (*ONE_TIME, *LONGITUDINAL):
        subject = right(name, 50, 2.0)
        assert (subject.p, subject.q) == (subject.oracle.p, subject.oracle.q)
        if is_as_published(name):
            assert published(name, 50, 2.0).oracle == subject.oracle


def test_right_chains_keep_epsilon_and_published_ones_waste_it():
    for claim in chain_claims():
        assert claim.verdict is Verdict.CORRECTED
    assert right("lgrr", 100, 1.0).oracle.exact_epsilon() == pytest.approx(1, abs=1e-6)


def test_a_study_is_the_same_whatever_runs_beside_it():
    small = {"distributions": ["uniform"], "people": [1000], "sizes": [50], "epsilons": [1.0]}
    alone, among = StudyGrid(["oue"], 2, 5, **small).run(), StudyGrid(["grr", "oue"], 2, 5, **small).run()
    for name in ESTIMATORS:
        assert (alone.errors[name][..., 0, :] == among.errors[name][..., 1, :]).all()
    other = StudyGrid(["oue"], 2, 6, **small).run()
    assert (alone.errors["mi"] != other.errors["mi"]).any()


def test_what_the_study_finds(studies):
    one_time, longitudinal = studies[2], studies[3]
    # As published GRR gains nothing on flat data, and unary encoding much, by stopping early.
    assert one_time.table("uniform", "grr", "mse", *AS_PUBLISHED).value < 0.5
    assert one_time.table("uniform", "sue", "mse", *AS_PUBLISHED).value > 15
    assert one_time.table("uniform", "sue", "mae", *RIGHT).value < 12
    assert one_time.capped[:, :, 1, 0].mean() > 0.9  # k = 100, epsilon = 1
    assert one_time.capped[:, :, 0].mean() < 0.1  # k = 2
    # The channel of the published L-BLH update is not the mechanism's: its error is larger
    # than MI's, and the average of clipped gains does not show it.
    assert longitudinal.typical_ratio(AVERAGE, "lblh", "mse", *AS_PUBLISHED) > 1.5
    assert longitudinal.table(AVERAGE, "lblh", "mse", *AS_PUBLISHED).value > 5
    assert longitudinal.typical_ratio(AVERAGE, "lblh", "mse", *RIGHT) < 0.9
    # The right second round of L-GRR gives lower errors from the same promise.
    ours, theirs = (longitudinal.errors[name][0, :, 0, 1, :, 0].mean(-1) for name in ("mi", "published_mi"))
    assert np.exp(np.log(ours / theirs).mean()) < 0.8  # k = 100
    # Where both are right they are the same.
    for name in ("lsue", "loue", "lsoue", "losue"):
        assert longitudinal.typical_ratio(AVERAGE, name, "mse", "mi", "published_mi") == 1


def test_a_published_number_comes_out_with_the_notebook_s_buckets_and_not_with_k_equal_ones(monkeypatch):
    grid = StudyGrid(["sue"], 5, 1, distributions=["gaussian"])
    printed = TABLE_2.gain("gaussian", "sue", "mse")
    found = grid.run().table("gaussian", "sue", "mse", *AS_PUBLISHED)
    assert compare(printed, found.value, found.stderr * math.sqrt(1 + 5 / 20), rounding=0.5)
    monkeypatch.setattr(ibu_study, "bucketise", lambda numbers, k: np.histogram(numbers, k)[0])
    other = grid.run().table("gaussian", "sue", "mse", *AS_PUBLISHED)
    assert not compare(printed, other.value, other.stderr * math.sqrt(1 + 5 / 20), rounding=0.5)


def test_standard_errors_are_those_of_an_average_of_cells(studies):
    study = studies[2]
    gains = study.gains(*AS_PUBLISHED)[0, :, :, :, :, 1]
    cell = study.table(AVERAGE, "sue", "mse", *AS_PUBLISHED)
    assert cell.value == pytest.approx(gains.mean())
    variances = gains.var(axis=-1, ddof=1) / 2
    assert cell.stderr == pytest.approx(math.sqrt(variances.sum()) / variances.size)


@pytest.mark.parametrize("table", [TABLE_2, TABLE_3], ids=lambda table: f"table {table.number}")
def test_every_number_of_a_table_has_its_claim(studies, table):
    claims = list(table_claims(studies[table.number], table))
    assert len(claims) == len({claim.claim for claim in claims}) == 2 * 7 * 8
    for claim in claims:
        of_incomes = ", real, " in claim.claim
        assert (claim.verdict is Verdict.NO_DATA) == of_incomes
        assert claim.note.startswith("right: ")
        assert 0 <= claim.ours <= 100


@pytest.mark.parametrize("table", [TABLE_2, TABLE_3], ids=lambda table: f"table {table.number}")
def test_text_and_corrections_have_their_claims(studies, table):
    said = {claim.claim: claim for claim in text_claims(studies[table.number], table)}
    figure = table.number + 1
    for start in (f"table {table.number}", f"figure {figure}", f"figure {figure - 2}"):
        assert any(name.startswith(start) for name in said)
    corrected = {claim.claim: claim for claim in correction_claims(studies[table.number], table)}
    assert all(claim.verdict is Verdict.CORRECTED for claim in corrected.values())
    name = f"table {table.number}: average gain in MSE (%), uniform, when the update is not stopped early"
    assert corrected[name].ours < corrected[name].published
    two_values = corrected[f"table {table.number}: gain in MSE (%) with two values, from mean errors"]
    assert two_values.ours < float(two_values.note.split()[0])


def test_files_and_figures_are_written(studies, tmp_path):
    draw(studies[3], TABLE_3, tmp_path)
    write_table(studies[3], TABLE_3, tmp_path)
    names = {"figure-2.png", "figure-4.png", "table-3.png", "table-3.csv", "table-3.md"}
    assert {file.name for file in tmp_path.iterdir()} == names
    with (tmp_path / "table-3.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 6 * 1 * 2 * 3 * 7
    assert {*ESTIMATORS, "capped"} <= rows[0].keys()
    assert "| gaussian | " in (tmp_path / "table-3.md").read_text()


def test_maximum_likelihood_against_the_rest(tmp_path):
    held = contest(3, 1, [2, 50], ["grr", "oue"], n=5000)
    for duel in held.duels("ibu_limit", "mse"):
        if duel.mechanism == "grr":  # one and the same estimate
            assert abs(duel.difference) < 1e-4
            assert not duel.is_clearly_better
    claims = list(contest_claims(held))
    assert len(claims) == 2 * 3
    assert all(claim.ours.endswith("of 72") for claim in claims)
    write_csv(held.rows(), tmp_path / "mle.csv")
    assert len((tmp_path / "mle.csv").read_text().splitlines()) == 1 + 2 * 3 * 72


@pytest.mark.parametrize(
    ("difference", "no_worse", "better", "worse"),
    [
        (-0.5, True, True, False),
        (-0.1, True, False, False),
        (0.1, False, False, False),
        (0.5, False, False, True),
    ],
)
def test_a_difference_is_clear_beyond_its_error(difference, no_worse, better, worse):
    duel = Duel("uniform", "oue", 50, 1.0, difference, 0.1, 2.26)
    assert (duel.is_no_worse, duel.is_clearly_better, duel.is_clearly_worse) == (no_worse, better, worse)


def test_the_reproduction_is_registered():
    assert "fourteen" in REPRODUCTIONS.get("ibu").title
