"""The client for web pages as the service hands it out: read and compressed once, when it starts."""

from __future__ import annotations

import gzip
import importlib.resources
from dataclasses import dataclass

__all__ = ["CLIENTS", "WebFile", "web_files"]

CLIENTS = {"/client.js": "ldpkit.js", "/client-all.js": "ldpkit-all.js"}
"""The files of the client, by the path at which they are served."""


@dataclass(frozen=True)
class WebFile:
    """A file, plain and compressed.

    Parameters
    ----------
    plain, packed : bytes
        The file, and the file after gzip.
    """

    plain: bytes
    packed: bytes

    def for_request(self, accept_encoding: str | None) -> tuple[bytes, dict[str, str]]:
        """Return the bytes that a request takes, and the headers that tell which these are.

        Examples
        --------
        >>> file = WebFile(b"plain", b"packed")
        >>> file.for_request("br, gzip;q=0.8")
        (b'packed', {'vary': 'accept-encoding', 'content-encoding': 'gzip'})
        >>> file.for_request("gzip;q=0")
        (b'plain', {'vary': 'accept-encoding'})
        """
        vary = {"vary": "accept-encoding"}  # or a cache would hand packed bytes to who cannot read them
        if _takes_gzip(accept_encoding or ""):
            return self.packed, {**vary, "content-encoding": "gzip"}
        return self.plain, vary


def web_files() -> dict[str, WebFile]:
    """Return the files of the client that this installation has, by path."""
    folder = importlib.resources.files("ldpkit") / "client" / "web"
    found = {path: folder / name for path, name in CLIENTS.items()}
    read = {path: file.read_bytes() for path, file in found.items() if file.is_file()}
    return {path: WebFile(plain, gzip.compress(plain, mtime=0)) for path, plain in read.items()}


def _takes_gzip(accept_encoding: str) -> bool:
    """Whether the header names gzip with a weight that is not 0; what cannot be read names nothing."""
    for each in accept_encoding.lower().split(","):
        name, _, weight = (part.strip() for part in each.partition(";"))
        if name == "gzip":
            return weight.replace(" ", "").rstrip("0.") not in ("q=", "q")
    return False
