"""The grid: the same numbers however it is run, and two engines that agree."""

import numpy as np
import pytest

import ldpkit
from ldpkit.bench.experiment import NO_METHOD, Cell, Experiment
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.kinds import FREQUENCY, select
from ldpkit.simulation import engines

COUNTS = np.array([400, 250, 120, 80, 60, 40, 30, 20])


def make(**changes):
    settings = {
        "counts": COUNTS,
        "epsilons": [0.5, 2.0],
        "protocols": ["grr", "oue"],
        "methods": [NO_METHOD, "norm_sub"],
        "metrics": ["mae", "kendall_tau"],
        "repeats": 4,
        "seed": 3,
    }
    return Experiment(**{**settings, **changes})


def rows_of(experiment, skip=()):
    return [row for result in experiment.run(skip) for row in result.rows]


def test_every_combination_has_one_row():
    rows = rows_of(make())
    assert len(rows) == len({row[:5] for row in rows}) == 2 * 2 * 2 * 2 * 4


@pytest.mark.parametrize("engine", ["aggregate", "users"])
def test_threads_do_not_change_a_number(engine):
    one, two = (rows_of(make(engine=engine, threads=threads)) for threads in (1, 2))
    assert one == two


def test_a_cell_has_the_same_numbers_whichever_others_are_run():
    alone = rows_of(make(protocols=["oue"], epsilons=[2.0]))
    together = [row for row in rows_of(make()) if (row.epsilon, row.protocol) == (2.0, "oue")]
    assert alone == together


def test_seeds_matter():
    assert rows_of(make()) != rows_of(make(seed=4))


def test_finished_cells_are_skipped():
    experiment = make()
    done = [Cell(0.5, "grr")]
    assert {(row.epsilon, row.protocol) for row in rows_of(experiment, done)} == set(
        experiment.cells()
    ) - set(done)


def test_names_are_brought_to_one_form():
    assert make(protocols=["RAPPOR", "sue"], methods=["Norm-Sub"]).protocols == ("sue",)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"protocols": ["olg"]}, UnknownNameError, "did you mean olh"),
        ({"methods": ["normsub"]}, UnknownNameError, "did you mean norm_sub"),
        ({"metrics": ["mea"]}, UnknownNameError, "did you mean"),
        ({"engine": "user"}, UnknownNameError, "did you mean users"),
        ({"epsilons": [-1]}, InvalidParameterError, "epsilon must be positive"),
        ({"epsilons": []}, InvalidParameterError, "at least one of epsilons"),
        ({"repeats": 0}, InvalidParameterError, "repeats must be at least 1"),
        ({"counts": [5, -1]}, InvalidInputError, "negative"),
        ({"protocols": ["lgrr"]}, InvalidParameterError, "lgrr needs epsilon_inf and epsilon_1: choose from"),
    ],
)
def test_senseless_settings_are_refused(changes, error, words):
    with pytest.raises(error, match=words):
        make(**changes)


def largest_z(oracle, first, second):
    """Return the largest difference of mean supports in standard errors."""
    spread = first.var(axis=0, ddof=1) / len(first) + second.var(axis=0, ddof=1) / len(second)
    return float(np.abs((first.mean(axis=0) - second.mean(axis=0)) / np.sqrt(spread)).max())


@pytest.mark.parametrize("name", select(FREQUENCY, single_epsilon=True).names)
def test_the_engines_agree(name):
    oracle = Experiment(COUNTS, [1.0], [name], [NO_METHOD], ["mae"]).oracle(Cell(1.0, name))
    drawn = engines.aggregate(oracle, COUNTS, ldpkit.random.seeded(1), 400)
    made = engines.users(oracle, COUNTS, ldpkit.random.seeded(2), 400, 2)
    z = largest_z(oracle, drawn, made)
    assert z < 6, f"{name}: z={z:.1f}; a false alarm has probability below 2e-8"


def test_the_check_of_the_engines_catches_a_wrong_engine():
    oracle, wrong = GRR(8, epsilon=1.0), GRR(8, epsilon=1.2)
    drawn = engines.aggregate(wrong, COUNTS, ldpkit.random.seeded(1), 400)
    made = engines.users(oracle, COUNTS, ldpkit.random.seeded(2), 400, 1)
    assert largest_z(oracle, drawn, made) > 6
