"""Whole commands on hostile files: one line of refusal and exit code 2, or an answer.

The first line of an input is the command as JSON, in which "FILE" is the file; the rest is
the file itself.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import sys
from pathlib import Path

from fuzz.mutate import HOSTILE_TEXTS, change_text
from fuzz.target import Broken, Target, refused_if, require
from fuzz.targets import reports, tables, tallies, walks
from ldpkit.cli.app import run
from ldpkit.core.errors import LdpkitError

__all__ = ["COMMANDS", "READING", "VALUES", "WALKS"]

READING = (
    ["inspect", "FILE"],
    ["estimate", "FILE"],
    ["estimate", "FILE", "--consistency", "norm_sub", "--format", "json"],
    ["estimate", "FILE", "-o", "out.csv", "--force"],
    ["estimate", "FILE", "--save-tally", "out.tally", "--force"],
    ["mean", "FILE"],
    ["mean", "FILE", "--format", "csv", "--level", "0.9999999999999999"],
    ["estimate", "FILE", "--estimator", "ibu"],
    ["density", "FILE", "--format", "json"],
    ["audit", "FILE", "--reports", "1000", "--seed", "1"],
    ["trajectory", "heatmap", "FILE", "--columns", "3", "--rows", "2", "--format", "json"],
)
VALUES = (
    ["privatize", "FILE", "--domain", "4", "-p", "grr", "-e", "1", "-o", "out.ldp", "--force"],
    ["privatize", "FILE", "--domain", "a,b", "-p", "olh", "-e", "1", "-o", "out.ldp", "--force"],
    ["privatize", "FILE", "--low", "0", "--high", "9", "-p", "pm", "-e", "1", "-o", "out.ldp", "--force"],
    ["privatize", "FILE", "--domain-from-data", "--missing", "drop", "-p", "oue", "-e", "1", "-o", "out.ldp"],
    ["mean", "FILE", "--low", "0", "--high", "9", "-p", "hm", "-e", "1"],
    ["density", "FILE", "--low", "0", "--high", "9", "-p", "sw", "-e", "1"],
    ["mean", "FILE", "--period", "9", "--wrap", "-e", "1"],
    ["density", "FILE", "--period", "9", "-e", "1"],
    ["bench", "-d", "FILE", "-p", "grr", "-e", "1", "-r", "2", "--format", "json"],
    ["risk", "-d", "FILE", "-p", "grr", "-e", "1"],
    ["datasets", "prepare", "values", "FILE"],
    ["datasets", "prepare", "transactions", "FILE", "--top", "2"],
)
WALKS = (
    ["trajectory", "privatize", "FILE", "--space", "0,0,9,9", "--clip", "-o", "out.csv", "--force"],
    ["trajectory", "privatize", "FILE", "--space", "disc:0,0,9", "--clip", "-p", "tracs_d", "-o", "out.ldp"],
    ["trajectory", "privatize", "FILE", "--space", "globe", "--per", "trajectory", "-o", "out.geojson"],
    ["trajectory", "privatize", "FILE", "--space", "0,0,9,9", "--repeat-places", "-o", "out.parquet"],
    ["trajectory", "heatmap", "FILE", "--space", "0,0,9,9", "-p", "olh", "--columns", "3", "--rows", "3"],
    ["trajectory", "evaluate", "FILE", "--space", "0,0,9,9", "-p", "tracs_c", "--clip"],
)
_SEPARATOR = b"\n"


@functools.cache
def _seeds() -> tuple[bytes, ...]:
    files = [*reports.REPORTS.seeds()[::5], *tallies.TALLIES.seeds()[::5]]
    texts = [each.partition(b"\n")[2] for each in (*tables.TEXTS.seeds(), *tables.COUNTS.seeds())]
    made = [json.dumps(words).encode() + _SEPARATOR + data for data in files for words in READING[::2]]
    lines = [each.partition(b"\n")[2] for each in walks.WALKS.seeds()]
    made += [json.dumps(words).encode() + _SEPARATOR + data for data in texts for words in VALUES]
    return (*made, *(json.dumps(words).encode() + _SEPARATOR + data for data in lines for words in WALKS))


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, content = data.partition(_SEPARATOR)
    try:
        words = [str(word) for word in json.loads(first)]
        assert words
    except (ValueError, AssertionError, TypeError, RecursionError):
        return rng.choice(_seeds())
    kind = rng.randrange(10)
    if kind == 0:
        words = list(rng.choice((*READING, *VALUES, *WALKS)))
    elif kind == 1:
        words[rng.randrange(len(words))] = rng.choice(HOSTILE_TEXTS)
    elif kind == 2:
        at = rng.randrange(len(words))
        words[at] = change_text(rng, words[at])
    elif kind == 3:
        words.insert(
            rng.randrange(len(words) + 1), rng.choice(("--help", "-e", "--domain", "--n", "-x", "--", "2"))
        )
    elif content[:4] == b"LDPR":
        content = reports.REPORTS.mutate(rng, content)
    elif content[:4] == b"LDPT":
        content = tallies.TALLIES.mutate(rng, content)
    elif words[0] == "trajectory":
        framed = walks.framed(_file_name(content), content)
        content = walks.WALKS.mutate(rng, framed).partition(b"\n")[2]
    else:
        content = tables.TEXTS.mutate(rng, tables.framed("a.txt", content)).partition(b"\n")[2]
    return json.dumps(words).encode() + _SEPARATOR + content


def _file_name(content: bytes) -> str:
    if content.startswith(b"LDPR"):
        return "a.ldp"
    known = {b"LDPT": "a.tally", b"PAR1": "a.parquet", b"<?xm": "a.gpx", b'{"ty': "a.geojson"}
    return known.get(content[:4], "a.csv" if b"," in content[:40] else "a.txt")


def _check(data: bytes, folder: Path) -> None:
    first, _, content = data.partition(_SEPARATOR)
    try:
        words = [str(word) for word in json.loads(first)]
    except (ValueError, TypeError, RecursionError):
        raise LdpkitError("not a command") from None
    refused_if(words[:1] not in [[each[0]] for each in (*READING, *VALUES, *WALKS)], "another command")
    # What a command reads and writes by name must be in the folder, or this would be no test.
    refused_if(
        any(word.startswith(("/", "-", ".", "@")) and len(word) > 2 and word[1] != "-" for word in words), ""
    )
    path = folder / _file_name(content)
    path.write_bytes(content)
    told, said = (
        io.TextIOWrapper(io.BytesIO(), "utf-8"),
        io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"),
    )
    old_input, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(content), "utf-8")
    code: object = None
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
            run([str(path) if word == "FILE" else word for word in words])
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdin = old_input
    said.flush()
    message = said.buffer.getvalue().decode("utf-8", "replace")
    require(code in (0, 1, 2, None), f"exit code {code}: {message[-300:]}")
    require("Traceback" not in message, message[-500:])
    require("\x1b" not in message, "a message steers the terminal")
    if code == 1:
        raise Broken(f"exit code 1: {message[-300:]}")
    if code == 2:
        raise LdpkitError(message)


COMMANDS = Target("commands", _seeds, _mutate, _check)
