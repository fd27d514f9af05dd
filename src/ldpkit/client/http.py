"""One HTTP request, with the standard library: where it may go, and what came back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ldpkit.core.errors import InvalidParameterError

__all__ = ["PROBLEM", "Response", "check_url", "request"]

PROBLEM = "urn:ldpkit:problem:"
"""How the types of a collector's problems begin. Others on the way have problems of their own."""

_TIMEOUT = 20.0  # seconds
_LARGEST_BODY = 1 << 22
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Response(NamedTuple):
    """What a server answered.

    Parameters
    ----------
    status : int
        The HTTP status; 0 if there was no answer.
    body : bytes
        What it sent, or why there was no answer.
    pause : float or None
        After how many seconds it asks to be called again.
    """

    status: int
    body: bytes
    pause: float | None = None

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status == 0 or self.status in (408, 425, 429) or self.status >= 500

    def json(self) -> dict[str, Any]:
        """Return the object that was sent; an empty one if it was none."""
        try:
            form = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return form if isinstance(form, dict) else {}

    @property
    def problem(self) -> str | None:
        """The name of a collector's problem (RFC 9457), from its type; None if no collector says one."""
        kind = self.json().get("type")
        return kind[len(PROBLEM) :][:100] if isinstance(kind, str) and kind.startswith(PROBLEM) else None

    @property
    def reason(self) -> str:
        """Why it did not do what was asked, for a person."""
        if self.status == 0:
            return self.body.decode(errors="replace")
        detail = self.json().get("detail")
        return detail[:300] if isinstance(detail, str) and detail else f"status {self.status}"


def check_url(url: str) -> str:
    """Return the address of a collector without a slash at its end, or refuse it.

    Plain HTTP is taken for this machine only: on the way, others could read who answers and
    change what is asked.

    Examples
    --------
    >>> check_url("https://collect.example.org/")
    'https://collect.example.org'
    >>> check_url("http://collect.example.org")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: 'http://collect.example.org' is not the address of a \
collector: it must begin with https://, or with http:// for this machine
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port  # a ValueError if there is none such
    except ValueError:
        host, parts = "", urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOCAL)
    if not host or not is_safe or not url.isprintable() or " " in url:
        raise InvalidParameterError(
            f"{url!r} is not the address of a collector: it must begin with https://, or with http:// for "
            "this machine"
        )
    try:
        host.encode("idna")
        f"{parts.path}{parts.query}{parts.fragment}".encode("ascii")
    except UnicodeError:
        raise InvalidParameterError(
            f"{url!r} cannot be asked: the parts of a name between dots have 1 to 63 letters, and what "
            "follows it is ASCII, with %C3%A4 for a letter such as \u00e4"
        ) from None
    service, found, _ = url.partition("/v1/collections")
    if found:  # which other clients take as it is
        raise InvalidParameterError(
            f"{url!r} is the address of a collection: give that of the service, {service!r}, and the id of "
            "the collection by itself"
        )
    return url.rstrip("/")


def request(
    address: str,
    data: bytes | None = None,
    *,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
    most: int = _LARGEST_BODY,
) -> Response:
    """Return what a server answers; a connection that fails is an answer with status 0."""
    import http.client
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            """Go nowhere else: a POST would lose its body, and a token must not reach another host."""

    told = {"Accept": "*/*", **(headers or {})}
    if data is not None:
        told.setdefault("Content-Type", "application/octet-stream")  # else urllib claims that it is a form
    try:
        wanted = Request(address, data, told, method=method)
        with build_opener(Stay).open(wanted, timeout=_TIMEOUT) as stream:
            return Response(stream.status, stream.read(most))
    except HTTPError as error:
        with error:
            if 300 <= error.code < 400:
                where = error.headers.get("Location") or "nowhere"
                told_to = f"{address} is now at {where[:200]}: give that address"
                return Response(error.code, json.dumps({"detail": told_to}).encode())
            return Response(error.code, _body(error), _pause(error.headers.get("Retry-After")))
    except (OSError, http.client.HTTPException) as error:  # no connection, or one that broke
        return Response(0, f"no answer from {address} ({_cause(error)})".encode())


def _cause(error: Exception) -> str:
    """Return why there is no connection, in the words of the system: 'Connection refused'."""
    cause = getattr(error, "reason", None) or error  # of a URLError
    return str(getattr(cause, "strerror", None) or cause)


def _body(error: Any) -> bytes:
    try:
        found: bytes = error.read(_LARGEST_BODY)
    except OSError:
        return b""
    return found


def _pause(text: str | None) -> float | None:
    """Return how long a server asks to wait, if it says so in seconds."""
    if text is None or not text.isascii() or not text.isdigit():
        return None
    return float(min(int(text[:6]), 86_400))
