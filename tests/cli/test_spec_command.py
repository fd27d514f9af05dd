"""`ldpkit spec`: vectors for a program, and whether it makes of them what it must."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ldpkit.testing.vectors.files import read_files
from ldpkit.testing.vectors.lines import compare, vector_lines

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


SOURCES = ("client.c", "forms.c", "lines.c")


def compiled(folder, target):
    """Return a client in C, built from the sources in a folder."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    source = [str(folder / name) for name in SOURCES]
    subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(target), *source], check=True)
    return target


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    return compiled(ROOT / "examples" / "c", tmp_path_factory.mktemp("c") / "client")


def test_the_client_in_c_makes_every_vector_and_skips_none(run, client):
    count = len(list(vector_lines(read_files(FOLDER))))
    assert f"{count} of {count} vectors equal, 0 different, 0 skipped" in run("spec", "check", client).out


def test_a_flipped_bit_in_a_vector_is_caught_by_the_client_in_c(client):
    """In the report of every vector, and in an integer of those that have a sum."""
    rng, lines = random.Random(18), list(vector_lines(read_files(FOLDER)))

    def flipped(digits):
        place = rng.randrange(len(digits))
        return f"{digits[:place]}{int(digits[place], 16) ^ 1:x}{digits[place + 1 :]}"

    def answers(each):
        text = "".join(f"{line.text}\n" for line in each)
        return subprocess.run(
            [client], input=text, capture_output=True, text=True, check=True
        ).stdout.splitlines()

    made = answers(lines)
    wrong = [replace(line, expected=flipped(line.expected)) for line in lines if line.expected != "refused"]
    assert (
        sum(each.equal for each in compare(wrong, [line for line in made if not line.endswith("refused")]))
        == 0
    )
    # A sum of integers that must be 2**64 is not, if one of them has another last bit.
    sums = [
        line
        for line in lines
        if re.search(r"\b(keep|inside|base)=\d+", line.text) and line.mechanism != "forged"
    ]
    forged = [
        replace(
            line,
            text=re.sub(
                r"\b(keep|inside|base)=(\d+)", lambda m: f"{m[1]}={int(m[2]) ^ 1}", line.text, count=1
            ),
        )
        for line in sums
    ]
    assert len(forged) > 3000
    assert {row.split()[1] for row in answers(forged)} == {"refused"}


@pytest.mark.parametrize(
    ("file", "right", "wrong", "mechanism"),
    [
        ("client.c", "piece >= value", "piece > value", "grr"),
        ("forms.c", "zero - 1 - distance", "zero - distance", "laplace"),
    ],
)
def test_a_client_in_c_with_a_wrong_constant_fails(run, tmp_path, file, right, wrong, mechanism):
    for name in (*SOURCES, "client.h"):
        text = (ROOT / "examples" / "c" / name).read_text()
        assert name != file or right in text
        (tmp_path / name).write_text(text.replace(right, wrong) if name == file else text)
    out = run(
        "spec", "check", "--only", f"{mechanism},sue", compiled(tmp_path, tmp_path / "wrong"), code=1
    ).out
    assert f"{mechanism}-" in out
    assert "expected" in out


def test_lines_overwrite_a_file_only_if_told_to(run, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("mine\n")
    words = ("spec", "vectors", "--lines", "--only", "grr", "-o", path)
    assert "exists: choose another name or add --force" in run(*words, code=2).error_line
    assert path.read_text() == "mine\n"
    run(*words, "--force")
    assert len(path.read_text().splitlines()) == 376
    assert "JSON goes into a folder" in run("spec", "vectors", "-o", "-", code=2).error_line
