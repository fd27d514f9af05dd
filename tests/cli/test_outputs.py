"""Every command that writes: nothing is overwritten unasked, never an input, and nothing is half there."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from cli.moving import moving_away

SMALL = ("bench", "-d", "zipf:k=8,n=2000", "-r", 2, "-p", "grr", "-m", "none")
PLAN = ("plan", "budget", "-d", "zipf:k=8,n=20000", "-p", "grr", "-u", "mae", "--at-most", 0.05)
CASES = {
    "bench --output": (*SMALL, "-o", "out.csv"),
    "bench --report": (*SMALL, "--report", "out.html"),
    "bench --figure": (*SMALL, "--figure", "out.png"),
    "bench mean": ("bench", "--task", "mean", "-d", "gaussian:n=50", "-p", "pm", "-r", 2, "-o", "out.csv"),
    "prepare": ("datasets", "prepare", "values", "values.txt", "-o", "out.csv"),
    "plan": (*PLAN, "--figure", "out.png"),
    "recommend": ("recommend", "-d", "zipf:k=8,n=900", "-e", 1, "-p", "grr", "-r", 2, "--figure", "out.png"),
    "longitudinal": ("longitudinal", "--reports", 5, "--devices", 20, "--figure", "out.png"),
    "risk": ("risk", "-p", "grr", "-e", 1, "--domain", 4, "--figure", "out.png"),
    "density": ("density", "ages.txt", "--low", 0, "--high", 99, "-e", 1, "--seed", 1, "--figure", "out.png"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.txt").write_text("a\nb\n")
    (tmp_path / "ages.txt").write_text("3\n70\n")
    return tmp_path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("case", CASES)
def test_a_file_that_exists_is_refused_before_any_work(run, folder, case):
    *words, name = CASES[case]
    (folder / name).write_text("precious")
    before = files(folder)
    line = run(*words, name, code=2).error_line
    assert f"'{name}' exists: choose another name or add --force" in line
    assert "No such file" in run(*words, f"no/{name}", code=2).error_line
    assert files(folder) == before


@pytest.mark.parametrize("case", ["bench --report", "bench --figure", "prepare"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(run, folder, case):
    words = CASES[case]
    (folder / words[-1]).write_text("precious")
    before = files(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        err = run(*words, "--force", code=2).err
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert err.splitlines()[-1].startswith(f"error: cannot write '{words[-1]}': ")
    assert files(folder) == before


def test_an_input_is_never_overwritten(run, folder):
    (folder / "link.csv").hardlink_to(folder / "values.txt")
    (folder / "link.html").hardlink_to(folder / "values.txt")
    for words in (
        ("datasets", "prepare", "values", "values.txt", "-o", "link.csv"),
        ("bench", "-d", "values.txt", "--report", "link.html"),
        ("bench", "-d", "values.txt", "-o", "link.csv"),
    ):
        assert "is also the input" in run(*words, "--force", code=2).error_line
    assert (folder / "values.txt").read_text() == "a\nb\n"


def test_what_else_a_plugin_raises_ends_a_command_in_one_line(run, folder, monkeypatch):
    class Bare(BaseException):
        pass

    def raises(*_):
        raise Bare("\x1b[31m")

    monkeypatch.setattr("ldpkit.bench.experiment.Experiment.run_cell", raises)
    line = run(*SMALL, code=2).err.splitlines()[-1]
    assert line.startswith("error: a plugin ended the command with Bare('\\x1b[31m')")


def test_a_plugin_that_ends_the_process_is_refused(run, folder):
    (folder / "ends.py").write_text("import sys\nsys.exit(0)\n")
    assert "it calls sys.exit(0)" in run("--plugin", "ends.py", *SMALL, code=2).error_line
    (folder / "later.py").write_text(
        "import sys\n"
        "from ldpkit.estimation.consistency import consistency\n"
        "@consistency('ends_all')\n"
        "def ends_all(estimates, noise):\n"
        "    sys.exit(0)\n"
    )
    bare = "class Bare(BaseException): pass\nraise Bare('\\x1b[31m')\n"
    for text, told in (("raise GeneratorExit\n", "GeneratorExit"), (bare, "Bare: \\x1b[31m")):
        (folder / "bare.py").write_text(text)
        assert run("--plugin", "bare.py", *SMALL, code=2).error_line.endswith(f"does not load: {told}")
    (folder / "stops.py").write_text("raise KeyboardInterrupt\n")
    run("--plugin", "stops.py", *SMALL, code=130)
    words = ("bench", "--plugin", "later.py", *SMALL[1:-1], "ends_all", "-o", "out.csv")
    # A process of its own: a method that is registered stays for all tests that follow.
    command = [sys.executable, "-m", "ldpkit", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "a plugin ended the command with sys.exit(0)" in done.stderr
    assert not list(folder.glob("out*"))


def test_reports_that_somebody_moves_at_once_were_written(run, folder, monkeypatch):
    moved = moving_away(monkeypatch, folder)
    told = run("privatize", "values.txt", "-p", "grr", "-e", 1, "--domain", "a,b", "-o", "x.ldp").err
    assert moved() == ["x.ldp"]
    assert f", {(folder / 'taken' / 'x.ldp').stat().st_size} bytes" in told


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("estimate", "x.ldp", "--save-tally"), "--save-tally"),
        (("trajectory", "privatize", "x.csv", "--space", "0,0,1,1", "-o", "x.csv", "--memo"), "--memo"),
        (("trajectory", "privatize", "x.csv", "--space", "0,0,1,1", "-o"), "--output"),
        (("collection", "keygen"), "FILE"),
        (("collection", "new"), "FILE"),
        (("collector", "backup"), "TARGET"),
    ],
)
def test_a_dash_is_no_name_of_a_file(run, folder, words, name):
    before = files(folder)
    assert f"{name} goes to a file, not to standard output: give it a name" in run(*words, "-", code=2).err
    assert files(folder) == before


def test_the_secret_is_no_standard_input(run, folder):
    (folder / "-").write_text("0123456789abcdef")
    (folder / "who.csv").write_text("id,page\n1,a\n2,b\n")
    words = ("--column", "page", "--ids", "id", "--secret-file", "-", "--question", "page")
    more = ("-p", "lolh", "--domain", "a,b", "--parameter", "epsilon_inf=2", "--parameter", "epsilon_1=1")
    line = run("privatize", "who.csv", *words, *more, "-o", "out.ldp", code=2).error_line
    assert "--secret-file is a file, not standard input: give it a name" in line


def test_an_empty_name_is_called_that(run):
    words = ("privatize", "values.txt", "-p", "grr", "-e", 1, "--domain", "a,b", "-o", "")
    assert "for which an empty name stands too: choose another name" in run(*words, code=2).error_line


@pytest.mark.parametrize("key", ["n", "k", "s", "seed"])
def test_a_population_with_hundreds_of_digits_is_refused(run, key):
    numbers = {"k": "8", "n": "90", key: "9" * 400}
    spec = "zipf:" + ",".join(f"{name}={number}" for name, number in numbers.items())
    assert (
        f"{key} of the population 'zipf' has 400 digits" in run("datasets", "show", spec, code=2).error_line
    )
    assert "n=1000" in run("bench", "--task", "mean", "-d", f"gaussian:n={'9' * 400}", code=2).error_line
