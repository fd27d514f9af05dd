"""Kernels compile wherever the package stands: also where no folder can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ldpkit

# Root may write everywhere, unless it gives that up: CAP_DAC_OVERRIDE is 1, PR_CAPBSET_DROP 24.
WITHOUT_OVERRIDE = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 1); os.execv(sys.executable, sys.argv[1:])"
)
COUNT = """
from pathlib import Path
import ldpkit
try:
    (Path(ldpkit.__file__).parent / "probe").touch()
except OSError:
    print(ldpkit.GRR(3, epsilon=1.0).tally([0, 1, 1]).counts.tolist())
    from ldpkit.mechanisms.kernels.values import _count
    print(type(_count._cache).__name__)
"""


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter on Windows")
def test_a_read_only_installation_without_a_home_folder(tmp_path: Path) -> None:
    package = tmp_path / "site" / "ldpkit"
    shutil.copytree(Path(ldpkit.__file__).parent, package)  # with its compiled kernels, if there are any
    for each in (package, *package.rglob("*")):
        each.chmod(0o555 if each.is_dir() else 0o444)
    environment = {
        "PYTHONPATH": str(package.parent),
        "HOME": "/proc/nowhere",
        "XDG_CACHE_HOME": "/proc/nowhere",
    }
    command = [sys.executable, "-c", COUNT]
    if os.geteuid() == 0:
        command = [sys.executable, "-c", WITHOUT_OVERRIDE, *command]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    for each in package.rglob("*"):
        each.chmod(0o755)
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        pytest.skip("permissions do not bind this user")
    assert done.stdout.splitlines() == ["[1, 2, 0]", "NullCache"]
