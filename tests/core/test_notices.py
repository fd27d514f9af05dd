"""Who waits while code is compiled is told so, once a process."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from ldpkit.core.watching import listen
from ldpkit.core.compiled import compiled

@compiled()
def same(number):
    return number

listen(print)
same(1)
same(1.5)
"""


def test_compiling_is_told_once():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == "compiling once; this takes a few seconds\n"
