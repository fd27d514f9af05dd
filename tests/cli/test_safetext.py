"""Labels and names reach terminals and spreadsheets as text, never as commands."""

from __future__ import annotations

import io
import json
import sys

import pytest

from ldpkit.cli.options import Format
from ldpkit.cli.printing import note, show
from ldpkit.core.text import visible
from ldpkit.files.readers import read_counts
from ldpkit.files.spreadsheet import harmless_cell, original_cell

EVIL = "\x1b]0;owned\x07"
ROWS = [{"value": "=cmd()", "n": -1}, {"value": EVIL, "n": 2}, {"value": "-5", "n": 3}]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(output, stream, **options):
    show(ROWS, output, file=stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zürich 東京\u3000x", "Zürich 東京\u3000x"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("a\x1b[31mb\x9bc\rd", "a\\x1b[31mb\\x9bc\\rd"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("a\udcffb", "a\\udcffb"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert visible(text) == shown


def test_a_table_shows_escape_sequences_wherever_they_stand():
    text = printed(Format.table, Terminal(), title=f"title {EVIL}", caption=f"caption {EVIL}")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("\\x1b]0;owned\\x07") == 3


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_csv_is_harmless_to_spreadsheets_and_terminals_wherever_it_goes(stream):
    """A file or a pipe ends on a terminal too."""
    assert printed(Format.csv, stream()) == "value,n\n'=cmd(),-1\n\\x1b]0;owned\\x07,2\n-5,3\n"


LABELS = [
    EVIL,
    "\\x1b",
    "\\x5cx1b",
    "\\\x1b",
    "\\x1\x1b",
    "C:\\new",
    "\\x41",
    "'=\x1b",
    "\r=1",
    "\t=1",
    "a\tb\nc",
]
LABELS += [
    "\x9b",
    "\u202e",
    "\\u202e",
    "\U000e0001",
    "\\U000e0001",
    "\\Uffffffff",
    "\\u001b",
    "\udcff",
    "é 東京",
    "",
]


@pytest.mark.parametrize("label", LABELS, ids=ascii)
def test_a_cell_has_no_control_characters_and_comes_back(label):
    cell = harmless_cell(label)
    assert not set(cell) & {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\udcff"}
    assert original_cell(cell) == label
    assert cell == label or not label.isprintable() or label[0] in "'\\"


def test_json_is_exact():
    assert json.loads(printed(Format.json, io.StringIO()))["rows"] == ROWS


def test_notes_are_shown_visibly(capsys):
    note(f"wrote {EVIL}")
    assert capsys.readouterr().err == "wrote \\x1b]0;owned\\x07\n"


def test_refusals_and_wrong_usage_are_shown_visibly(run, tmp_path):
    (tmp_path / "t.csv").write_text(f"a{EVIL},b\n1,2\n")
    assert "a\\x1b]0;owned\\x07" in run("datasets", "show", tmp_path / "t.csv", code=2).error_line
    assert "\x1b" not in run("estimate", f"--{EVIL}", code=2).err
    assert "\x1b" not in run(f"x{EVIL}", code=2).err


def test_prepared_counts_come_back_with_their_labels(run, tmp_path):
    labels = ["'=a", "'s-Hertogenbosch", "+1+2", "-5", "=cmd()", "@x", "red", "\x1b[2J", "\\x1b[2J"]
    (tmp_path / "values.txt").write_text("\n".join(labels))
    run("datasets", "prepare", "values", tmp_path / "values.txt", "-o", tmp_path / "counts.csv")
    assert "\n'=cmd(),1\n" in (tmp_path / "counts.csv").read_text()
    assert sorted(read_counts(tmp_path / "counts.csv")[0]) == sorted(labels)


def test_what_looks_like_markup_in_a_file_name_is_text(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a[b].txt").write_text("x\ny\n")
    told = run("bench", "-d", "folder/a[b].txt", "-r", 2, "-p", "grr", "-m", "none").out
    assert told.startswith("a[b].txt: 2 ")  # its folder may say more than is to be shared
    (tmp_path / "c[bold].txt").write_text("1\n2\n")
    options = ("--task", "mean", "--low", 0, "--high", 4, "-r", 2, "-p", "pm")
    assert "c[bold]" in run("bench", "-d", "c[bold].txt", *options).out


def test_a_label_that_is_no_text_can_be_written(run, tmp_path):
    (tmp_path / "values.txt").write_text("b\nb\n")
    arguments = ("-p", "grr", "-e", 1, "--domain", "a\udcff,b", "-o", tmp_path / "a.ldp")
    run("privatize", tmp_path / "values.txt", *arguments)
    run("estimate", tmp_path / "a.ldp", "-o", tmp_path / "a.csv")
    assert "\na\\udcff," in (tmp_path / "a.csv").read_text()


def test_a_nul_in_an_argument_is_refused(run, monkeypatch):
    for command in (["estimate", "a\0b"], ["bench", "-d", "a\0b"], ["datasets", "show", "a\0b.csv"]):
        monkeypatch.setattr(sys, "argv", ["ldpkit", *command])
        assert "contains a NUL" in run(*command, code=2).error_line
