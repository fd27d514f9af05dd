"""Uploads over HTTP: what is confirmed, what is refused for good, and what to try again.

A report is kept until a response says what became of it. A failure of the network, a busy
collector (429) and an error of the collector (5xx) say nothing, so the same bytes are sent again
under the same ids, after a pause that doubles or that the collector names.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ldpkit.client.upload import encode_upload
from ldpkit.core.errors import InvalidParameterError, LdpkitError

if TYPE_CHECKING:
    from ldpkit.client.client import Answer

__all__ = ["ACCEPTED", "Delivery", "Sender"]

ACCEPTED = "accepted"
"""What an answer is called that the collector has counted."""

_TIMEOUT = 20.0  # seconds for one request
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
_LARGEST_RESPONSE = 1 << 22
_AGAIN = frozenset({408, 425, 429})  # and every 5xx
_REFUSED = "refused"


@dataclass(frozen=True)
class Delivery:
    """What became of the answers that waited.

    Parameters
    ----------
    accepted : int
        How many the collector has counted, now or when they were sent before.
    waiting : int
        How many are still to be sent.
    refused : dict
        How many it will never take, by the problem it named.
    """

    accepted: int
    waiting: int
    refused: dict[str, int]


class _Response(NamedTuple):
    status: int  # 0 for none
    body: bytes
    pause: float | None


class Sender:
    """The collector at an address.

    Parameters
    ----------
    url : str
        Where it is, such as "https://collect.example.org". Plain HTTP is taken for this
        machine only: on the way, others could read who answers and change what is asked.
    """

    def __init__(self, url: str) -> None:
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            raise InvalidParameterError(f"{url!r} is no address: give one such as https://example.org") from None
        is_local = host in ("localhost", "127.0.0.1", "::1")
        if not host or parts.scheme not in ("http", "https") or (parts.scheme == "http" and not is_local):
            raise InvalidParameterError(
                f"{url!r} is no address to send to: it begins with https://, or with http:// on this machine"
            )
        self.url = url.rstrip("/")

    def fetch(self, collection: str) -> bytes:
        """Return the bytes of a collection file."""
        found = self._request(self._address(collection), None)
        if found.status != 200:
            raise LdpkitError(
                f"the collector at {self.url} did not give collection {collection!r}: {_reason(found)}"
            )
        return found.body

    def send(
        self,
        collection: str,
        answers: Iterable[Answer],
        *,
        patience: float,
        settle: Callable[[Answer, str], None],
    ) -> Delivery:
        """Send answers, settle each whose fate is known, and say how many there were of each kind."""
        accepted, waiting, refused = 0, 0, dict[str, int]()
        deadline = time.monotonic() + patience
        for answer in answers:
            outcome = _outcome(self._try(collection, answer, deadline))
            if outcome is None:
                waiting += 1
                continue
            settle(answer, outcome)
            if outcome == ACCEPTED:
                accepted += 1
            else:
                refused[outcome] = refused.get(outcome, 0) + 1
        return Delivery(accepted, waiting, refused)

    def _try(self, collection: str, answer: Answer, deadline: float) -> _Response:
        data = encode_upload(answer.header, [(answer.id, answer.report)])
        pause = _FIRST_PAUSE
        while True:
            found = self._request(f"{self._address(collection)}/reports", data)
            if not _is_passing(found.status):
                return found
            # Devices that failed together must not come back together.
            wait = found.pause if found.pause is not None else pause * random.uniform(0.5, 1.5)
            if time.monotonic() + wait > deadline:
                return found
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _address(self, collection: str) -> str:
        from urllib.parse import quote

        return f"{self.url}/v1/collections/{quote(collection, safe='')}"

    def _request(self, address: str, data: bytes | None) -> _Response:
        import http.client
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        headers = {"Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream"  # else urllib claims that it is a form
        try:
            with urlopen(Request(address, data, headers), timeout=_TIMEOUT) as stream:
                return _Response(stream.status, stream.read(_LARGEST_RESPONSE), None)
        except HTTPError as error:
            with error:
                return _Response(error.code, _body(error), _pause(error.headers.get("Retry-After")))
        except (OSError, http.client.HTTPException) as error:  # no connection, or one that broke
            return _Response(0, str(error).encode(), None)


def _is_passing(status: int) -> bool:
    """Whether the same request may succeed later."""
    return status == 0 or status in _AGAIN or status >= 500


def _outcome(found: _Response) -> str | None:
    """Return what became of an answer; None if it is to be sent again."""
    if _is_passing(found.status):
        return None
    if found.status != 200:
        return _problem(found)
    form = _json(found.body)
    if form.get("accepted") == 1 or form.get("duplicate") == 1:  # one of a retry is counted already
        return ACCEPTED
    return _REFUSED if form.get("refused") == 1 else None


def _problem(found: _Response) -> str:
    kind = _json(found.body).get("type")
    return re.split("[/:]", kind)[-1][:100] if isinstance(kind, str) and kind else f"status {found.status}"


def _reason(found: _Response) -> str:
    if found.status == 0:
        return found.body.decode(errors="replace")
    detail = _json(found.body).get("detail")
    return f"status {found.status}" + (f", {detail[:200]}" if isinstance(detail, str) else "")


def _json(body: bytes) -> dict[str, Any]:
    try:
        form = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return form if isinstance(form, dict) else {}


def _body(error: Any) -> bytes:
    try:
        found: bytes = error.read(_LARGEST_RESPONSE)
    except OSError:
        return b""
    return found


def _pause(text: str | None) -> float | None:
    """Return how long a collector asks to wait, if it says so in seconds."""
    if text is None or not text.isascii() or not text.isdigit():
        return None
    return float(min(int(text[:6]), 86_400))
