"""What the service answers when it does not do what was asked: RFC 9457 problems, by name.

A client acts on the name at the end of `type`: it fetches the collection again, waits, or gives
up. The words beside it are for people.
"""

from __future__ import annotations

import json
from typing import Any

from ldpkit.client.http import PROBLEM
from ldpkit.core.errors import LdpkitError

__all__ = ["PROBLEMS", "HttpProblem"]

PROBLEMS = {
    "malformed-upload": (400, "The upload is damaged, or not an upload"),
    "foreign-reports": (400, "The reports answer another question, version or mechanism"),
    "malformed-request": (400, "The request cannot be understood"),
    "not-signed-in": (401, "A bearer token is needed"),
    "not-allowed": (403, "The token does not allow this"),
    "unknown-collection": (404, "There is no such collection"),
    "not-found": (404, "There is nothing here"),
    "wrong-method": (405, "This cannot be done to it"),
    "outdated-collection": (409, "The collection has a newer version: fetch it again"),
    "too-few-reports": (409, "There are too few reports to show anything"),
    "frozen-collection": (409, "The collection has reports: a change needs a new version"),
    "round-closed": (410, "The round is closed"),
    "too-large": (413, "The request is larger than the limit"),
    "round-not-open": (425, "The round has not begun"),
    "too-many-requests": (429, "Too many requests: wait"),
    "too-slow": (408, "The request took too long to arrive"),
    "internal-error": (500, "Something went wrong in the service"),
    "busy": (503, "The service cannot take it now: wait"),
}
"""The problems that a client can meet: status and title by the end of their type."""

_WAIT = {"too-many-requests": 5, "busy": 2, "round-not-open": 3600}


class HttpProblem(LdpkitError):  # noqa: N818 - what RFC 9457 calls it
    """A refusal on its way to a client.

    Parameters
    ----------
    name : str
        One of `PROBLEMS`.
    detail : str
        What is wrong in this case, and what to do.

    Examples
    --------
    >>> problem = HttpProblem("round-closed", "round 3 closed on 2026-12-24")
    >>> problem.status, problem.to_dict()["type"]
    (410, 'urn:ldpkit:problem:round-closed')
    """

    def __init__(self, name: str, detail: str = "") -> None:
        super().__init__(name, detail)
        self.name, self.detail = name, detail

    @property
    def status(self) -> int:
        """The HTTP status."""
        return PROBLEMS[self.name][0]

    @property
    def retry_after(self) -> int | None:
        """After how many seconds the same request may succeed; None if it never will."""
        return _WAIT.get(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        status, title = PROBLEMS[self.name]
        form: dict[str, Any] = {"type": PROBLEM + self.name, "title": title, "status": status}
        return {**form, "detail": self.detail} if self.detail else form

    @property
    def body(self) -> bytes:
        """The bytes of the JSON form."""
        return json.dumps(self.to_dict()).encode()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of the response."""
        found = [(b"content-type", b"application/problem+json")]
        if self.retry_after is not None:
            found.append((b"retry-after", b"%d" % self.retry_after))
            # A page of another origin cannot read it unless it is told that it may.
            found.append((b"access-control-expose-headers", b"retry-after"))
        return found

    def __str__(self) -> str:
        return self.detail or PROBLEMS[self.name][1]
