"""Experiments about numbers: their laws, errors, tables, figures and command."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

import ldpkit
from ldpkit.bench.numeric_data import LAWS, NumericData, draw, load_numbers
from ldpkit.bench.numeric_experiment import NumericExperiment, NumericRow, mean_variance
from ldpkit.bench.numeric_summary import NumericSummary
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from slow import slow


def summary_of(experiment, metric):
    return NumericSummary([row for made in experiment.run() for row in made.rows], metric)


class TestNumbers:
    @pytest.mark.parametrize("name", LAWS)
    def test_people_stand_in_the_interval_and_ascend(self, name):
        values = draw(name, 999).values
        assert len(values) == 999
        assert values.min() >= -1
        assert values.max() <= 1
        assert (np.diff(values) >= 0).all()

    def test_moments_are_those_of_the_law(self):
        assert draw("gaussian", 100_000).values.var() == pytest.approx(0.04, rel=1e-3)
        assert draw("exponential", 100_000).values.mean() == pytest.approx(1 / 6 - 1, rel=1e-3)
        assert draw("beta", 100_000).values.var() == pytest.approx(0.5, rel=1e-3)
        assert draw("uniform", 100_000).values.var() == pytest.approx(1 / 3, rel=1e-3)
        assert draw("bernoulli", 1000).values.var() == 1

    def test_a_spec_may_say_how_many(self):
        assert load_numbers("gaussian").n == 10_000
        assert load_numbers("gaussian:n=50").n == 50

    def test_a_file_needs_its_interval(self, tmp_path):
        path = tmp_path / "ages.csv"
        path.write_text("age,x\n40,1\n60,2\n")
        numbers = load_numbers(str(path), column="age", low=0, high=100)
        assert (numbers.name, numbers.values.tolist(), numbers.half_width) == ("ages", [40, 60], 50)
        with pytest.raises(InvalidParameterError, match="give --low and --high"):
            load_numbers(str(path), column="age")

    @pytest.mark.parametrize("spec", ["gauss", "gaussian:k=3", "gaussian:n=many", "gaussian:n=0"])
    def test_nonsense_is_refused(self, spec):
        with pytest.raises((InvalidParameterError, UnknownNameError)):
            load_numbers(spec)


class TestMean:
    def test_expected_errors_are_those_of_the_closed_forms(self):
        experiment = NumericExperiment([draw("bernoulli", 1000)], [1.0], ["duchi", "hm"], repeats=1)
        summary = summary_of(experiment, "expected")
        bound = 1 / math.tanh(0.5)
        assert 1000 * summary.mean("bernoulli", 1.0, "duchi").value == pytest.approx(bound**2 - 1, rel=1e-9)
        s, e = math.exp(0.5), math.e
        hybrid = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
        assert 1000 * summary.mean("bernoulli", 1.0, "hm").value == pytest.approx(hybrid, rel=1e-5)

    def test_the_quadratic_is_the_variance_of_every_person(self):
        numbers = draw("exponential", 40)
        for name in ("pm", "sw", "laplace", "staircase"):
            mechanism = ldpkit.get(name, (-1, 1), epsilon=1.5)
            assert mean_variance(mechanism, numbers) == pytest.approx(
                float(np.mean(mechanism.variance(numbers.values))), rel=1e-6
            )

    @pytest.mark.parametrize("name", ["sw", *slow("pm", "aaa")])
    def test_simulated_errors_are_as_expected(self, name):
        experiment = NumericExperiment([draw("gaussian", 1500)], [2.0], [name], repeats=300, seed=2, bins=8)
        rows = [row for made in experiment.run() for row in made.rows]
        seen, expected = (
            NumericSummary(rows, metric).mean("gaussian", 2.0, name) for metric in ("mse", "expected")
        )
        assert abs(seen.value - expected.value) < 5 * seen.stderr, "fails once in a million seeds"
        assert abs(seen.value - 1.6 * expected.value) > 3 * seen.stderr  # the check would notice
        coverage = NumericSummary(rows, "coverage").mean("gaussian", 2.0, name)
        assert coverage.value > 0.95 - 5 * math.sqrt(0.05 * 0.95 / 300), "fails once in a million seeds"

    def test_the_interval_does_not_matter(self):
        small = draw("beta", 400)
        large = NumericData("beta", 50 + 50 * small.values, IntervalDomain(0, 100))
        means = [
            summary_of(NumericExperiment([numbers], [1.0], ["pm"], repeats=3), "mse").mean("beta", 1.0, "pm")
            for numbers in (small, large)
        ]
        assert means[0].value == pytest.approx(means[1].value, rel=1e-6)

    def test_a_cell_has_its_own_randomness(self):
        alone = NumericExperiment([draw("uniform", 300)], [2.0], ["hm"], repeats=2)
        among = NumericExperiment(
            [draw("beta", 300), draw("uniform", 300)], [1.0, 2.0], ["pm", "hm"], repeats=2
        )
        (cell,) = alone.cells()
        assert alone.run_cell(cell).rows == among.run_cell(cell).rows

    def test_the_winner_depends_on_epsilon_and_data(self):
        data = [draw("gaussian"), draw("bernoulli")]
        experiment = NumericExperiment(data, [0.5, 4.0], ["duchi", "pm", "hm", "aaa"], repeats=4)
        summary = summary_of(experiment, "expected")
        assert summary.best("gaussian", 0.5) == "duchi"
        assert summary.best("gaussian", 4.0) == "aaa"
        assert summary.best("bernoulli", 4.0) == "duchi"
        assert summary.tied("bernoulli", 4.0) == ["duchi"]

    def test_auto_pays_less_for_its_description(self):
        experiment = NumericExperiment([draw("gaussian", 5000)], [2.0], ["pm", "aaa", "auto"], repeats=3)
        summary = summary_of(experiment, "expected")
        thrifty, pm, paper = (summary.mean("gaussian", 2.0, name).value for name in ("auto", "pm", "aaa"))
        assert thrifty < pm < 1.02 * paper
        assert thrifty < 0.96 * paper

    def test_too_few_people_for_two_phases(self):
        experiment = NumericExperiment([draw("uniform", 50)], [1.0], ["aaa"], repeats=1)
        with pytest.raises(InvalidInputError, match="50 people are too few for two phases"):
            list(experiment.run())

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"mechanisms": ["grr"]}, "grr is for categories"),
            ({"mechanisms": ["sw+magic"]}, "unknown algorithm 'magic'"),
            ({"mechanisms": ["aaa"], "task": "density"}, "aaa estimates the mean only"),
            ({"mechanisms": []}, "at least one of mechanisms"),
            ({"task": "median"}, "the task is mean or density"),
            ({"data": [draw("uniform", 9), draw("uniform", 8)]}, "the same name"),
        ],
    )
    def test_nonsense_is_refused(self, change, message):
        settings = {"data": [draw("uniform", 9)], "epsilons": [1.0], "mechanisms": ["pm"], **change}
        with pytest.raises(InvalidParameterError, match=message):
            NumericExperiment(**settings)


class TestDensity:
    def test_smoothing_beats_inversion_on_two_hills(self):
        experiment = NumericExperiment(
            [draw("bimodal", 20_000)], [1.0], ["sw", "sw+inversion"], "density", repeats=2
        )
        summary = summary_of(experiment, "wasserstein")
        smooth = summary.mean("bimodal", 1.0, "sw+ems").value
        assert smooth < 0.03
        assert 2 * smooth < summary.mean("bimodal", 1.0, "sw+inversion").value

    def test_the_density_of_a_cell_is_that_of_its_first_row(self):
        experiment = NumericExperiment([draw("bimodal", 2000)], [1.0], ["sw"], "density", repeats=1)
        (cell,) = experiment.cells()
        (row,) = experiment.run_cell(cell).rows
        found, values = experiment.density(cell), experiment.data[0].values
        truth = np.histogram(values, found.edges)[0] / len(values)
        assert row.value == pytest.approx(float(np.abs(np.cumsum(found.masses - truth)).mean()))


class TestAnswer:
    """The headline told of the first data at the first epsilon alone."""

    @staticmethod
    def answer(best, metrics=("mse",)):
        people = [draw("gaussian", 100), draw("uniform", 100)]
        experiment = NumericExperiment(people, [1.0, 2.0], ["pm", "hm"])
        rows = [
            NumericRow(data, epsilon, name, metric, run, (0.01 if name in names else 0.09) + run / 1e5)
            for (data, epsilon), names in best.items()
            for name in ("pm", "hm")
            for metric in ("mse", "coverage")
            for run in range(6)
        ]
        return ldpkit.bench.NumericBenchmark(experiment, tuple(rows), metrics).answer()

    def test_one_best_everywhere(self):
        everywhere = [(data, epsilon) for data in ("gaussian", "uniform") for epsilon in (1.0, 2.0)]
        said = self.answer(dict.fromkeys(everywhere, ("hm",)))
        assert said.startswith("hm is best on all data at every epsilon (n times the mean squared error: 1.")

    def test_it_depends(self):
        said = self.answer(
            {
                ("gaussian", 1.0): ["hm"],
                ("gaussian", 2.0): ["pm"],
                ("uniform", 1.0): ["pm", "hm"],
                ("uniform", 2.0): ["pm"],
            }
        )
        assert "hm is best on gaussian at epsilon 1 (" in said
        assert "pm is best on gaussian and uniform at epsilon 2 (" in said
        assert "On uniform at epsilon 1, pm and hm tie (" in said

    def test_a_terminal_tells_it_for_every_metric(self):
        found = ldpkit.bench.mean(
            "gaussian:n=100", ["pm", "sw"], epsilon=[1, 2], metrics=["mse", "coverage"], repeats=2
        )
        first, second = found.notes()
        assert first == found.answer()
        assert "The 95% interval contained the mean in" in second
        assert found.with_rows(()).notes() == []

    def test_no_mechanism_is_best_at_covering(self):
        everywhere = {("gaussian", 1.0): ["hm"], ("gaussian", 2.0): ["pm"]}
        assert "hm is best" in self.answer(everywhere, ("coverage", "mse"))
        said = self.answer(everywhere, ("coverage",))
        assert "is best" not in said
        assert "contained the mean in at least 1% of the collections; least often with hm on gaussian" in said


class TestCommand:
    @pytest.fixture
    def run(self, capsys, monkeypatch):
        import sys

        from ldpkit.cli.main import main

        def run(*arguments, code=0):
            capsys.readouterr()
            monkeypatch.setattr(sys, "argv", ["ldpkit", "bench", *map(str, arguments)])
            monkeypatch.setattr("ldpkit.cli.main.stop_at_signals", lambda: None)  # signals belong to pytest
            with pytest.raises(SystemExit) as caught:
                main()
            result = capsys.readouterr()
            assert (caught.value.code or 0) == code, result.err
            assert "Traceback" not in result.err
            return result

        return run

    def test_a_table_of_means(self, run, tmp_path):
        arguments = (
            "--task",
            "mean",
            "-d",
            "gaussian:n=300,uniform:n=300",
            "-e",
            "1",
            "4",
            "-p",
            "pm",
            "duchi",
        )
        out = run(*arguments, "-r", 3, "-u", "expected", "--figure", tmp_path / "f.png").out
        assert "300 people, 3 collections for each cell" in out
        lines = [line.split() for line in out.splitlines() if line.split()[:1] in (["gaussian"], ["uniform"])]
        assert [line[:2] for line in lines] == [
            ["gaussian", "1"],
            ["gaussian", "4"],
            ["uniform", "1"],
            ["uniform", "4"],
        ]
        assert lines[0][2:] == ["3.74*", "4.64"]
        assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")

    def test_rows_for_the_next_tool(self, run, tmp_path):
        arguments = ("--task", "mean", "-d", "uniform:n=200", "-p", "hm", "-r", 2)
        rows = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").out)))
        assert list(rows[0]) == ["data", "epsilon", "mechanism", "metric", "repeat", "value", "scale"]
        assert {row["scale"] for row in rows} == {"[-1, 1]"}
        assert [row["metric"] for row in rows] == ["mse", "mse"]
        run(*arguments, "-o", tmp_path / "r.json")
        assert len(json.loads((tmp_path / "r.json").read_text())["rows"]) == 2

    def test_rows_that_are_in_a_file_are_not_printed(self, run, tmp_path):
        arguments = ("--task", "mean", "-d", "uniform:n=200", "-p", "hm", "-r", 2)
        for form in ("csv", "json"):
            told = run(*arguments, "--format", form, "-o", tmp_path / f"r.{form}")
            assert told.out == ""
            assert "wrote 2 rows" in told.err

    def test_what_has_no_expected_error_is_named_and_auto_explained(self, run):
        arguments = ("--task", "mean", "-d", "uniform:n=200", "-p", "hm", "truncated_sw", "sw+ems", "-r", 1)
        told = run(*arguments, "-u", "expected").err
        assert "without a number for expected: sw+ems (a mean that is read off a density" in told
        assert "; truncated_sw (biased, and not along a line" in told
        assert "auto: " not in told
        found = ldpkit.bench.mean("uniform:n=200", ["hm", "auto"], repeats=1)
        assert [
            note for note in found.notes() if note.startswith(("auto: as ldpkit mean does", "without"))
        ] == [found.notes()[0]]

    def test_the_figure_says_the_scale(self):
        found = ldpkit.bench.mean("uniform:n=200", ["hm", "pm"], repeats=2)
        (axes,) = found.figure().axes
        assert axes.get_ylabel() == "mean squared error of the mean,\non the scale of [-1, 1]"

    def test_densities(self, run, tmp_path):
        arguments = (
            "--task",
            "density",
            "-d",
            "bimodal:n=500",
            "-p",
            "sw",
            "--estimator",
            "em",
            "inversion",
            "-r",
            1,
        )
        out = run(*arguments, "--figure", tmp_path / "f.svg").out
        assert "sw+em" in out
        assert "sw+inversion" in out
        assert "<svg" in (tmp_path / "f.svg").read_text()

    def test_own_data(self, run, tmp_path):
        path = tmp_path / "ages.csv"
        path.write_text("age\n" + "\n".join(str(age % 90) for age in range(500)))
        out = run("--task", "mean", "-d", path, "--low", 0, "--high", 100, "-p", "pm", "-r", 1).out
        assert "ages" in out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--task", "mean", "-u", "mae2"), "unknown metric 'mae2' of a mean: choose from mse"),
            (("--task", "mean", "-m", "ems"), "leave out --consistency"),
            (("--task", "mean", "--estimator", "ems"), "--estimator is for densities"),
            (("--task", "mean", "-p", "olh"), "olh is for categories"),
            (("--task", "mean", "-d", "nowhere.csv"), "need their interval"),
            (("--task", "mean", "-d", "gaussian", "--low", 0, "--high", 1), "are for files"),
            (("--low", 0), "for numbers, with --task mean or --task density: leave out --low"),
        ],
    )
    def test_mistakes_are_one_line(self, run, arguments, message):
        (line,) = run(*arguments, code=2).err.splitlines()
        assert message in line
