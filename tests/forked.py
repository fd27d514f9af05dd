"""The command line in a forked child, which has imported everything already.

Most of a new process is imports: more than half a second of CPU before it does anything. A
child is a process of its own all the same: plugins, files and exit codes stay with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["run_forked"]


def run_forked(
    words: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None, output: int = -1
) -> subprocess.CompletedProcess[str]:
    """Run `ldpkit` with some words in a folder; `output` is where its standard output goes, if not here."""
    import numba  # noqa: F401

    from ldpkit.cli.main import main

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads beside a fork do not matter here
        child = os.fork()
        if not child:
            code = 70
            try:
                os.environ.update(environment or {})
                os.chdir(folder)
                null = os.open(os.devnull, os.O_RDONLY)
                for number, file in enumerate((null, out.fileno() if output < 0 else output, err.fileno())):
                    os.dup2(file, number)
                sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
                sys.argv = ["ldpkit", *map(str, words)]
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(words), code, out.read().decode(), err.read().decode())
