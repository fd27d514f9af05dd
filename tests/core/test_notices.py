"""Who waits while code is compiled is told so, once a process, and not where the code was kept."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from ldpkit.core.notices import listen
from ldpkit.mechanisms.kernels.compiled import compiled

@compiled()
def same(number):
    return number

listen(print)
same(1)
same(1.5)
"""


def test_compiling_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py")]
    told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert told == ["compiling once; this takes a few seconds\n", ""]
