"""The two mechanisms of the guide, each one file: in commands, bench, plan, audit, contract and files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ldpkit
from ldpkit.mechanisms.base import MECHANISMS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "add-protocol.md"


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Write the guide's files, and forget what they register afterwards."""
    list(MECHANISMS)
    monkeypatch.setattr(MECHANISMS, "_members", dict(MECHANISMS._members))
    monkeypatch.setattr(MECHANISMS, "_aliases", dict(MECHANISMS._aliases))
    files = {}
    for source in re.findall(r">>> source = '''\n(.*?)\.\.\. '''", GUIDE.read_text(), re.DOTALL):
        text = "\n".join(line.removeprefix("...").removeprefix(" ") for line in source.splitlines())
        name = re.search(r'name(?:, title, citation)? = "(\w+)"', text).group(1)
        files[name] = tmp_path / f"{name}.py"
        files[name].write_text(text)
        ldpkit.load_plugin(files[name])
    return files


@pytest.fixture
def column(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("value\n" + "\n".join(str(value % 6) for value in range(3000)) + "\n")
    return path


def test_the_matrix_of_the_guide_is_everywhere(run, plugins, column, tmp_path):
    clock, target = plugins["clock"], tmp_path / "clock.ldp"
    assert len([line for line in clock.read_text().splitlines() if line.strip()]) <= 12
    listed = run("--plugin", clock, "mechanisms", "--domain", 6, "--kind", "frequency").out
    assert "clock" in listed
    run("--plugin", clock, "privatize", column, "--mechanism", "clock", "-e", 2, "--domain", 6, "-o", target)
    assert "clock" in run("inspect", target).out
    assert "3000 people" in run("estimate", target).out
    assert ldpkit.ReportFile.open(target).mechanism == ldpkit.get("clock", 6, epsilon=2.0)
    run("--plugin", clock, "bench", "-p", "clock", "grr", "-e", 1, "-d", "zipf:k=6,n=2000", "-r", 3)
    run("--plugin", clock, "audit", "-p", "clock", "--domain", 6, "-e", 1, "--reports", 20_000, "--seed", 1)
    run("--plugin", clock, "risk", "--mechanism", "clock", "-e", 1, "-d", "zipf:k=6,n=2000", "--seed", 1)
    wanted = ("--metric", "mae", "--at-most", 0.05, "--seed", 1)
    run("--plugin", clock, "plan", "budget", "-p", "clock", "-d", "zipf:k=6,n=5000", *wanted)


def test_the_number_of_the_guide_is_everywhere(run, plugins, column, tmp_path):
    halving, target = plugins["halving"], tmp_path / "halving.ldp"
    interval = ("--low", 0, "--high", 5)
    assert "halving" in run("--plugin", halving, "mechanisms", "--kind", "numeric").out
    run("--plugin", halving, "privatize", column, "--mechanism", "halving", "-e", 2, *interval, "-o", target)
    assert "Halving" in run("mean", target).out
    assert ldpkit.ReportFile.open(target).mechanism == ldpkit.get("halving", (0, 5), epsilon=2.0)
    run("--plugin", halving, "bench", "--task", "mean", "-p", "halving", "-e", 1, "-d", "beta:n=500", "-r", 3)
    run("--plugin", halving, "audit", "-p", "halving", *interval, "-e", 1, "--reports", 20_000, "--seed", 1)
    run("--plugin", halving, "plan", "budget", "-p", "halving", *interval, "--n", 5000, "--within", 0.1)


def test_they_pass_the_contract(plugins):
    assert len(ldpkit.testing.check_mechanism("clock").passed) > 30
    assert len(ldpkit.testing.check_mechanism("halving").passed) > 20
    number = ldpkit.get("halving", (-1, 1), epsilon=1.0, grid=8)
    assert number.channel().epsilon() == number.exact_epsilon() <= 1
    values = np.linspace(-1, 1, 9)
    assert number.bias(values) == pytest.approx(np.zeros(9), abs=1e-12)


def test_one_that_cannot_have_this_domain_is_listed_without_numbers_and_left_out_of_all(
    run, plugins, tmp_path
):
    six = tmp_path / "six.py"
    six.write_text(
        "import ldpkit\nimport numpy as np\n\n\n@ldpkit.register\nclass Six(ldpkit.MatrixMechanism):\n"
        '    """Six."""\n\n    name, title, citation = "six", "For six values", "none"\n\n'
        "    def matrix(self):\n        return np.where(np.eye(6), np.exp(self.epsilon), 1.0)\n"
    )
    options = ("--kind", "frequency", "--domain", 5, "--format", "csv")
    listed = run("--plugin", six, "mechanisms", *options).out.splitlines()
    (row,) = (line for line in listed if line.startswith("frequency,six,"))
    assert row == "frequency,six,For six values,,,,,,,none"
    found = run("--plugin", six, "bench", "-p", "all", "-d", "zipf:k=5,n=100", "-r", 2, "-m", "none")
    assert "six: the matrix of Six(5, epsilon=1) must have 5 rows" in found.err
    assert "\nsix " not in found.out
