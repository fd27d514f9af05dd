"""Signals, closed streams and full ones: a command ends in order, in one line, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import ldpkit
from ldpkit.core import wholefile
from ldpkit.core.stopping import Stopped
from ldpkit.files.reportfile import ReportWriter
from slow import slow

HEARD = """
import signal  # nohup ignores SIGHUP, a shell SIGINT in the background, and children inherit that
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
SLOW_WRITE = """
import time
from ldpkit.files.reportfile import ReportWriter
write = ReportWriter.write
def slow(self, reports):
    write(self, reports)
    print("ready", flush=True)
    time.sleep(60)
ReportWriter.write = slow
from ldpkit.cli.main import main
main()
"""

SLOW_BENCH = """
import time
from ldpkit.bench.experiment import Experiment
run_cell = Experiment.run_cell
def slow(self, cell):
    if cell.protocol == "oue":
        print("ready", flush=True)
        time.sleep(60)
    return run_cell(self, cell)
Experiment.run_cell = slow
from ldpkit.cli.main import main
main()
"""

SLOW_START = """
import sys, time
class Finder:
    def find_spec(self, name, *_):
        if name == "ldpkit.cli.app":
            print("ready", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Finder())
from ldpkit.cli.main import main
main()
"""


def stopped(script, number, arguments, folder):
    """Run a command until it says that it is ready, send it a signal, and return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEARD + script, *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted"
    return process.returncode, err


@pytest.fixture
def values(tmp_path):
    (tmp_path / "values.txt").write_text("0\n1\n")
    return tmp_path / "values.txt"


@pytest.mark.parametrize("number", [signal.SIGTERM, *slow(signal.SIGHUP), signal.SIGINT])
def test_a_signal_leaves_nothing_behind(tmp_path, values, number):
    arguments = ("privatize", values, "-p", "grr", "-e", 1, "--domain", 2, "-o", "out.ldp")
    assert stopped(SLOW_WRITE, number, arguments, tmp_path)[0] == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["values.txt"]


def test_sigterm_keeps_what_ctrl_c_keeps(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [
        "bench",
        "-d",
        "zipf:k=8,n=2000",
        "-r",
        "2",
        "-p",
        "grr",
        "oue",
        "-m",
        "none",
        "-o",
        "rows.csv",
    ]
    code, err = stopped(SLOW_BENCH, signal.SIGTERM, arguments, tmp_path)
    assert code == 143
    assert "wrote 2 rows to rows.csv; go on with --resume" in err
    assert "1 of 2 cells were finished before" in run(*arguments, "--resume").err
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + 2 * 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_command_is_loaded_shows_no_traceback(tmp_path, number):
    assert stopped(SLOW_START, number, ["--help"], tmp_path) == (128 + number, "interrupted\n")


def test_ctrl_c_before_anybody_listens_shows_no_traceback():
    """A process of its own, in which each import of a module that is not of ldpkit is when Ctrl-C comes."""
    script = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if not name.startswith("ldpkit"):
            raise KeyboardInterrupt
for name in sys.modules.keys() - {"sys", "builtins"}:
    if not name.startswith(("_", "importlib")) or name in ("__future__", "importlib"):
        del sys.modules[name]
sys.meta_path.insert(0, Finder())
from ldpkit.cli.main import main
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_a_signal_that_python_drops_comes_again():
    """It comes again while the hook that sends it still runs, too, as on a busy machine."""
    script = """
import ctypes, os, signal, sys, threading, time
from ldpkit.core.stopping import Stopped, stop_at_signals, tidied
stop_at_signals()
class Late(threading.Thread):
    def start(self):
        super().start()
        time.sleep(0.1)
threading.Thread = Late
callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))
try:
    with tidied():
        callback()
        time.sleep(60)
except Stopped as stopped:
    sys.exit(stopped.exit_code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "")


def test_a_signal_between_entering_and_leaving_a_block_leaves_nothing(run, tmp_path, values, monkeypatch):
    entered = []

    def enter_only(path):
        entered.append(wholefile_of(path))
        entered[-1].__enter__()
        raise Stopped(signal.SIGTERM)

    wholefile_of = wholefile.whole_file
    monkeypatch.setattr(wholefile, "whole_file", enter_only)
    run("datasets", "prepare", "values", values, "-o", tmp_path / "out.csv", code=143)
    assert [path.name for path in tmp_path.iterdir()] == ["values.txt"]


def test_what_the_caller_ignores_stays_ignored():
    script = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from ldpkit.core.stopping import stop_at_signals
stop_at_signals()
assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def in_shell(line, folder):
    command = f"{sys.executable} -m ldpkit {line}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, env=buffered()
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    return done.returncode, done.stderr


def buffered():
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.fixture
def reports(tmp_path):
    oracle = ldpkit.GRR(3, epsilon=1.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(oracle.privatize([0, 1, 2]))


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("inspect a.ldp >&-", "error: standard output: Bad file descriptor\n"),
        ("inspect a.ldp >/dev/full", "error: standard output: No space left on device\n"),
        ("--help >/dev/full", "error: standard output: No space left on device\n"),
        (
            "privatize - -p grr -e 1 --domain 3 -o b.ldp <&-",
            "error: standard input cannot be read: Bad file descriptor\n",
        ),
    ],
)
def test_a_stream_that_cannot_be_used_is_refused_in_one_line(tmp_path, line, message):
    assert in_shell(line, tmp_path) == (2, message)
    assert [path.name for path in tmp_path.iterdir()] == ["a.ldp"]


@pytest.mark.usefixtures("reports")
def test_what_prints_nothing_needs_no_standard_output(tmp_path):
    assert in_shell("estimate a.ldp -o b.csv >&- 2>&- <&-", tmp_path) == (0, "")
    assert (tmp_path / "b.csv").read_text().startswith("value,frequency")
