"""What an installed ldpkit must do, away from any checkout: run in an empty folder by `script/package`."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import ldpkit
from ldpkit.client import web


def main() -> None:
    """Try what people try first."""
    home = Path(ldpkit.__file__).parent
    assert home.parent.name == "site-packages", f"this is not an installed package: {home}"
    assert importlib.metadata.version("ldpkit") == ldpkit.__version__
    assert (home / "py.typed").is_file()
    for bundle in ("ldpkit.js", "ldpkit-all.js"):
        script = Path(next(iter(web.__path__)), bundle)
        assert script.stat().st_size > 10_000, f"{script} is empty"

    report = ldpkit.testing.check_mechanism("olh", only=("epsilons", "channels", "samplers", "wire_form"))
    print(report)

    Path("values.txt").write_text("\n".join(str(number % 4) for number in range(10_000)))
    _ldpkit("privatize", "values.txt", "-p", "olh", "-e", "1", "--domain", "4", "-o", "reports.ldp")
    table = _ldpkit("estimate", "reports.ldp")
    assert "from n=10000 reports" in table, table
    print(table.splitlines()[0])
    assert _ldpkit("--version").strip() == f"ldpkit {ldpkit.__version__}"
    assert (home / "spec" / "vectors" / "grr.json").is_file()
    assert "olh" in _ldpkit("mechanisms")


def _ldpkit(*words: str) -> str:
    command = Path(sys.executable).with_name("ldpkit")
    return subprocess.run([command, *words], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
