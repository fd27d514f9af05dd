"""The command line in a forked child, which has imported everything already.

Most of a new process is imports: more than a second of CPU with Numba, SciPy and Matplotlib. A
child is a process of its own all the same: plugins, files and exit codes stay with it.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import pkgutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import ldpkit

__all__ = ["run_forked"]


@functools.cache
def _import_what_children_need() -> None:
    """Import once, here, what each child would import again, and let Numba load its own parts."""
    own = [module.name for module in pkgutil.walk_packages(ldpkit.__path__, "ldpkit.")]
    others = (
        "pydantic.type_adapter",
        "rich.table",
        "scipy.stats",
        "matplotlib.backends.backend_agg",
        "matplotlib.pyplot",
    )
    for name in (*own, *others):
        if name != "ldpkit.__main__" and importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)
    ldpkit.GRR(2, epsilon=1.0).privatize([0, 1])  # Numba loads most of itself when it first runs a kernel
    gc.freeze()  # a collection in a child would copy every page of what it has in common with this process


def run_forked(
    words: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None, output: int = -1
) -> subprocess.CompletedProcess[str]:
    """Run `ldpkit` with some words in a folder; `output` is where its standard output goes, if not here."""
    _import_what_children_need()
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
                sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - to the end
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
