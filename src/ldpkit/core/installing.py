"""The command that installs an extra of this very installation.

A name such as `ldpkit[serve]` is found only where a package index has ldpkit. What was installed from a
folder is installed from that folder again.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

__all__ = ["install_command"]

_PACKAGE = Path(__file__).resolve().parents[1]


def install_command(extra: str) -> str:
    """Return what installs an extra here, with this interpreter and from where ldpkit itself came.

    Examples
    --------
    >>> install_command("plots").endswith('[plots]"')
    True
    """
    return f'{_python()} -m pip install {_source()}[{extra}]"'


def _python() -> str:
    """Return how to call this very interpreter: another one would install for itself."""
    found = shutil.which("python")
    return "python" if found is not None and found == sys.executable else sys.executable or "python"


def _source() -> str:
    """Return what pip is told to install, up to the extra."""
    checkout = _PACKAGE.parents[1]
    if _PACKAGE.parent.name == "src" and (checkout / "pyproject.toml").is_file():
        return f'-e "{checkout}'  # it runs from this folder, and shall go on doing so
    folder = _installed_from()
    return f'"{folder}' if folder is not None else '"ldpkit'


def _installed_from() -> Path | None:
    """Return the folder that pip noted as the source (PEP 610), if it is still there."""
    import importlib.metadata  # here, not above: every program imports the errors, and few make this one
    import json
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        noted = importlib.metadata.distribution("ldpkit").read_text("direct_url.json")
        url = urlsplit(json.loads(noted)["url"]) if noted else None
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError, LookupError, TypeError):
        return None
    if url is None or url.scheme != "file":
        return None
    folder = Path(url2pathname(url.path))
    return folder if (folder / "pyproject.toml").is_file() else None
