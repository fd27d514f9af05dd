"""Every refusal is one line with the value and the remedy, exit code 2, and no output file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import ldpkit
from forked import run_forked
from ldpkit.files.reportfile import ReportWriter

PLUGIN = """
import ldpkit

@ldpkit.register
class Plugged(ldpkit.GRR):
    name, aliases, title, citation = "plugged", (), "Plugged", "None"
"""


@pytest.fixture
def values(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("value,other\n" + "0,a\n1,b\n4,c\n")
    return path


@pytest.fixture
def impatient():
    """Fail a test that waits for somebody to write into a pipe."""

    def fail(*_):
        raise AssertionError("the command waits")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_description_is_a_file_and_neither_a_pipe_nor_a_device(
    run, tmp_path, monkeypatch, values, impatient
):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.mkfifo("pipe.toml")
    device = "/dev/zero"
    for words in (
        ("collection", "check", "pipe"),
        ("collection", "show", device),
        ("collection", "diff", "pipe", device),
        ("collection", "keygen", "pipe", "--public"),
        ("collection", "sign", "pipe.toml", "--unsigned", "-o", "a.json"),
        (
            *("collection", "new", "pipe.toml", "--add", "--question", "q", "--text", "Yes?"),
            *("--domain", "a,b", "-p", "grr", "-e", 1),
        ),
        ("plan", "survey", "pipe.toml", "-e", 1),
        ("serve", "pipe"),
        ("serve", "--config", "pipe"),
        ("serve", "--config", device),
        ("privatize", values, "-p", "@pipe", "-o", "a.ldp"),
        ("privatize", values, "-p", f"@{device}", "-o", "a.ldp"),
        ("trajectory", "recommend", "--space", "@pipe"),
        ("--plugin", "pipe", "mechanisms"),
        ("--plugin", device, "mechanisms"),
    ):
        assert "is not a file on a disk: save" in run(*words, code=2).error_line
    assert (
        "'.' is a directory: give the file with the collection" in run("collection", "check", ".", code=2).err
    )
    assert "'.' is a directory: give a Python file" in run("--plugin", ".", "mechanisms", code=2).err
    assert "'pipe' is not a folder" in run("serve", "--data", "pipe", code=2).error_line


def ldpkit_process(*arguments, **options):
    command = [sys.executable, "-c", "from ldpkit.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


GOOD = {"--mechanism": "olh", "--epsilon": "1", "--domain": "5", "--column": "value"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--epsilon": "0"}, "epsilon must be positive and finite, got 0.0"),
        ({"--epsilon": "-1"}, "epsilon must be positive and finite, got -1.0"),
        ({"--epsilon": "nan"}, "epsilon must be positive and finite, got nan"),
        ({"--epsilon": "inf"}, "epsilon must be positive and finite, got inf"),
        ({"--epsilon": "99"}, "epsilon must be between 0.001 and 20, got 99.0"),
        ({"--epsilon": None}, "olh needs epsilon: give it with --epsilon"),
        (
            {"--domain": "4"},
            "line 4: value 4 is not in the domain 0..3: remove it or enlarge the domain",
        ),
        ({"--domain": "red,blue"}, "line 2: value '0' is not in the domain {red, blue}"),
        ({"--domain": "0,1,0"}, "label 0 appears twice"),
        ({"--domain": "@none.txt"}, "'none.txt' does not exist"),
        ({"--mechanism": "ohl"}, "unknown mechanism 'ohl': did you mean olh"),
        ({"--column": "valeu"}, "has no column 'valeu': did you mean 'value'?"),
        ({"--column": None}, "has several columns: choose one of value, other"),
        ({"--seed": "-1"}, "a seed must be a non-negative integer, got -1"),
        ({"--parameter": "g=3"}, "olh has no parameter 'g': it takes epsilon"),
    ],
)
def test_privatize_refuses(run, values, tmp_path, changes, message):
    options = [
        part for name, value in (GOOD | changes).items() if value is not None for part in (name, value)
    ]
    before = sorted(tmp_path.iterdir())
    assert message in run("privatize", values, *options, "-o", tmp_path / "out.ldp", code=2).error_line
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"value\n", "no values"), (b"\xff\xfe\x00", "UTF-8"), (None, "exist")],
)
def test_privatize_refuses_files_without_values(run, tmp_path, content, message):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content)
    options = ("-p", "grr", "-e", 1, "--domain", 2, "-o", tmp_path / "out.ldp")
    line = run("privatize", path, *options, code=2).error_line
    assert message in line
    assert "bad.csv" in line
    assert not (tmp_path / "out.ldp").exists()


def test_a_single_label_cannot_be_a_domain(run, tmp_path):
    (tmp_path / "same.txt").write_text("x\nx\n")
    line = run(
        *("privatize", tmp_path / "same.txt", "-p", "grr", "-e", 1, "--domain-from-data"),
        *("-o", tmp_path / "o"),
        code=2,
    ).error_line
    assert "all values are 'x'" in line
    assert "--domain" in line


def test_an_existing_output_stays(run, values, tmp_path):
    (tmp_path / "out.ldp").write_text("precious")
    options = ("--column", "value", "-p", "grr", "-e", 1, "--domain", 5)
    line = run("privatize", values, *options, "-o", tmp_path / "out.ldp", code=2).error_line
    assert "out.ldp' exists: choose another name or add --force" in line
    assert (tmp_path / "out.ldp").read_text() == "precious"
    assert (
        "is also the input" in run("privatize", values, *options, "-o", values, "--force", code=2).error_line
    )
    missing = run("privatize", values, *options, "-o", tmp_path / "no" / "out.ldp", code=2).error_line
    assert "choose a folder that exists" in missing


@pytest.mark.parametrize("command", ["estimate", "inspect"])
def test_report_files_that_cannot_be_read(run, tmp_path, command):
    oracle = ldpkit.GRR(3, epsilon=1.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(oracle.privatize([0, 1, 2]))
    data = (tmp_path / "a.ldp").read_bytes()
    for content, message in [
        (data[:-5], f"is truncated: write or copy it again (at byte {len(data) - 5})"),
        (data[:20], "is truncated"),
        (b"", "is empty"),
        (b"hello", "does not begin with LDPR"),
    ]:
        (tmp_path / "a.ldp").write_bytes(content)
        line = run(command, tmp_path / "a.ldp", code=2).error_line
        assert message in line
        assert "a.ldp" in line
    assert "No such file" in run(command, tmp_path / "none.ldp", code=2).error_line
    assert "error" in run(command, tmp_path, code=2).error_line
    for name in ("way.csv", "way.json"):
        (tmp_path / name).write_text("value,frequency\nwalk,0.3\n")
        line = run(command, tmp_path / name, code=2).error_line
        assert f"{name}' is not a report file: give the .ldp that 'ldpkit privatize' or" in line
        assert "LDPR" not in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["privatize"],
        ["nonsense"],
        ["estimate"],
        ["estimate", "x", "--top", "0"],
        ["estimate", "x", "--format", "xml"],
        ["privatize", "x", "-p", "olh", "-e", "one", "-o", "y"],
    ],
)
def test_wrong_usage_exits_with_2_too(run, arguments):
    assert "--help" in run(*arguments, code=2).error_line


def test_reports_of_a_plugin_name_the_plugin_that_is_missing(tmp_path):
    (tmp_path / "plug.py").write_text(PLUGIN)
    (tmp_path / "values.txt").write_text("0\n1\n")
    plugin = ("--plugin", tmp_path / "plug.py")
    arguments = ("-p", "plugged", "-e", 1, "--domain", 3, "-o", tmp_path / "a.ldp")
    assert run_forked([*plugin, "privatize", "values.txt", *arguments], tmp_path).returncode == 0
    refused = run_forked(["estimate", "a.ldp"], tmp_path)
    assert refused.returncode == 2
    assert "'plugged', which is not known here: load its plugin with --plugin" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert run_forked([*plugin, "estimate", "a.ldp"], tmp_path).returncode == 0


def test_a_real_process_refuses_in_one_line(values, tmp_path):
    options = ("--column", "value", "-p", "olh", "-e", "0", "--domain", "5", "-o", tmp_path / "out.ldp")
    done = ldpkit_process("privatize", values, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: epsilon must be positive and finite, got 0.0\n"
    assert not (tmp_path / "out.ldp").exists()
    done = ldpkit_process(
        "privatize", tmp_path / "none.csv", *options[2:4], "-e", 1, "-o", tmp_path / "out.ldp"
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_leaves_early_is_no_accident(tmp_path):
    oracle = ldpkit.GRR(5000, epsilon=1.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(oracle.privatize([0, 1, 2]))
    for size in (3, 5000):  # within and beyond the buffer of a pipe
        read, write = os.pipe()
        os.close(read)
        done = run_forked(["estimate", "a.ldp", "--top", size, "--format", "json"], tmp_path, output=write)
        os.close(write)
        assert done.returncode == 1
        assert done.stderr == ""


def test_a_full_disk_is_refused_in_one_line(run, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    (tmp_path / "values.txt").write_text("0\n1\n")
    options = ("-p", "grr", "-e", 1, "--domain", 2, "-o", tmp_path / "out.ldp")
    assert "No space left" in run("privatize", tmp_path / "values.txt", *options, code=2).error_line
    assert [path.name for path in tmp_path.iterdir()] == ["values.txt"]


def test_too_little_memory_is_refused_in_one_line(run, tmp_path, monkeypatch):
    def too_much(*_: object) -> None:
        raise MemoryError

    (tmp_path / "a.ldp").write_bytes(b"LDPR")
    monkeypatch.setattr("ldpkit.files.reportfile.ReportFile.open", too_much)
    assert "does not fit into the memory" in run("inspect", tmp_path / "a.ldp", code=2).error_line


@pytest.mark.parametrize(
    "words",
    [
        ("mechanisms", "--n"),
        ("recommend", "--epsilon", "1", "--domain", "8", "--n"),
        ("plan", "pairs", "--epsilon-alone", "1", "--n"),
        ("plan", "cluster", "-e", "1", "-p", "grr", "--domain", "8", "--people"),
    ],
)
def test_more_people_than_integers_hold_are_refused(run, words):
    told = run(*words, "9" * 400, code=2).err
    assert "must be below 2**62" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("words", [("bench", "-r", "2", "-d"), ("risk", "-p", "oue", "-e", "1", "-d")])
def test_a_population_whose_text_is_too_long_for_a_file_is_told_what_is_wrong(run, words):
    told = run(*words, f"zipf:k=4,n={'9' * 400}", code=2).error_line
    assert told.endswith("n of the population 'zipf' has 400 digits: give a smaller number")
