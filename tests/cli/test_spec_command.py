"""`ldpkit spec`: vectors for a program, and whether it makes of them what it must."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ldpkit.testing.vectors.files import read_files
from ldpkit.testing.vectors.lines import vector_lines

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "spec" / "vectors"


@pytest.fixture(scope="module")
def answers():
    return [
        f"{line.id} {line.expected}" for line in vector_lines(read_files(FOLDER)) if line.mechanism == "grr"
    ]


def test_the_right_answers_pass(run, tmp_path, answers):
    path = tmp_path / "reports.txt"
    path.write_text("\n".join(answers) + "\n")
    result = run("spec", "check", "--only", "grr", "--reports", path)
    assert "376 of 376 vectors equal, 0 different, 0 skipped" in result.out
    told = json.loads(run("spec", "check", "--only", "grr", "--reports", path, "--format", "json").out)
    assert told["rows"] == [{"mechanism": "grr", "vectors": 376, "equal": 376, "different": 0, "skipped": 0}]


def test_one_wrong_answer_fails_and_is_shown(run, tmp_path, answers):
    path = tmp_path / "reports.txt"
    key, report = answers[5].split()
    wrong = f"{int(report, 16) ^ 1:02x}"
    path.write_text("\n".join([*answers[:5], f"{key} {wrong}", *answers[6:-1]]))
    out = run("spec", "check", "--only", "grr", "--reports", path, code=1).out
    assert "374 of 376 vectors equal, 2 different" in out
    assert f"{key}: expected {report}, got {wrong}" in out


def test_answers_of_a_pipe_are_read(run, monkeypatch, answers):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(answers)))
    assert "376 of 376" in run("spec", "check", "--only", "grr", "--reports", "-").out


def test_a_program_that_skips_everything_does_not_pass(run, tmp_path, answers):
    path = tmp_path / "reports.txt"
    path.write_text("\n".join(f"{each.split()[0]} -" for each in answers))
    assert (
        "0 of 376 vectors equal, 0 different, 376 skipped"
        in run("spec", "check", "--only", "grr", "--reports", path, code=1).out
    )


def test_refusals(run, tmp_path):
    assert "give a program to run, or --reports" in run("spec", "check", code=2).error_line
    assert "there is no program './nothing'" in run("spec", "check", "./nothing", code=2).error_line
    assert "did you mean grr" in run("spec", "check", "--only", "grrr", "x", code=2).error_line
    path = tmp_path / "bad.txt"
    path.write_text("hello\n")
    assert "line 1 of the program's output" in run("spec", "check", "--reports", path, code=2).error_line
    assert (
        "there are no vectors in"
        in run("spec", "check", "--vectors", tmp_path, "--reports", path, code=2).error_line
    )
    assert "give -o DIR, or --lines" in run("spec", "vectors", code=2).error_line


def test_lines_are_printed_and_written(run, tmp_path):
    out = run("spec", "vectors", "--lines", "--only", "grr").out.splitlines()
    assert len(out) == 376
    assert out[0].startswith("grr-2-1/0 response size=2 keep=")
    run("spec", "vectors", "--lines", "--only", "grr", "-o", tmp_path / "lines.txt")
    assert (tmp_path / "lines.txt").read_text().splitlines() == out


@pytest.mark.slow
def test_vectors_that_are_there_never_change_silently(run, tmp_path):
    """All vectors are made anew: some two seconds."""
    (tmp_path / "ids.json").write_text((FOLDER / "ids.json").read_text().replace('"round":0', '"round":5', 1))
    line = run("spec", "vectors", "-o", tmp_path, code=2).error_line
    assert "1 groups of" in line
    assert "would change, the first is ids:" in line


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    path = tmp_path_factory.mktemp("c") / "client"
    source = [str(ROOT / "examples" / "c" / name) for name in ("client.c", "lines.c")]
    subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(path), *source], check=True)
    return path


def test_the_client_in_c_passes(run, client):
    out = run("spec", "check", client).out
    assert ", 0 different," in out
    equal = {line.split()[0]: line.split()[2:] for line in out.splitlines() if line.count(" ") > 4}
    for name in (
        "grr",
        "blh",
        "olh",
        "sue",
        "oue",
        "the",
        "ss",
        "pm",
        "sw",
        "ogpm",
        "duchi",
        "hm",
        "circular_ogpm",
    ):
        assert equal[name][1:] == ["0", "0"], name
    for name in ("lgrr", "lblh", "lolh", "lsue", "loue", "lsoue", "losue", "grid_response", "place_response"):
        assert equal[name][1:] == ["0", "0"], name
    assert int(equal["forged"][0]) > 450


def test_a_client_in_c_with_a_wrong_constant_fails(run, client, tmp_path):
    source = (ROOT / "examples" / "c" / "client.c").read_text()
    for name in ("lines.c", "client.h"):
        (tmp_path / name).write_text((ROOT / "examples" / "c" / name).read_text())
    assert "piece >= value" in source
    (tmp_path / "client.c").write_text(source.replace("piece >= value", "piece > value"))
    wrong = tmp_path / "wrong"
    subprocess.run(
        ["cc", "-o", str(wrong), str(tmp_path / "client.c"), str(tmp_path / "lines.c")], check=True
    )
    out = run("spec", "check", "--only", "grr,sue", wrong, code=1).out
    assert "grr" in out
    assert "expected" in out
