"""Sending: what is confirmed, what is refused for good, and what to try again.

A report is kept until a collector says what became of it. A failure of the network, a busy
collector (429), an error of the collector (5xx) and the word of somebody in between say nothing, so
the same bytes are sent again under the same id, after a pause that doubles or that the collector names.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.client.http import Response, check_url, request
from ldpkit.client.upload import encode_upload
from ldpkit.core.errors import LdpkitError

if TYPE_CHECKING:
    from ldpkit.client.client import Answer

__all__ = ["ACCEPTED", "Delivery", "Sender"]

ACCEPTED = "accepted"
"""What an answer is called that the collector has counted."""

_REFUSED = "refused"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds


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


class Sender:
    """The collector at an address.

    Parameters
    ----------
    url : str
        Where it is, such as "https://collect.example.org".
    """

    def __init__(self, url: str) -> None:
        self.url = check_url(url)

    def fetch(self, collection: str) -> bytes:
        """Return the bytes of a collection file."""
        found = request(self._address(collection))
        if found.status != 200:
            raise LdpkitError(f"collection {collection!r} cannot be fetched: {found.reason}")
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

    def _try(self, collection: str, answer: Answer, deadline: float) -> Response:
        data = encode_upload(answer.header, [(answer.id, answer.report)])
        pause = _FIRST_PAUSE
        while True:
            found = request(f"{self._address(collection)}/reports", data)
            if not found.is_passing:
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


def _outcome(found: Response) -> str | None:
    """Return what became of an answer; None if it is to be sent again."""
    if found.is_passing:
        return None
    if found.status != 200:
        return found.problem  # None if it is not a collector's: a proxy, or the portal of a hotel
    form = found.json()
    if form.get("accepted") == 1 or form.get("duplicate") == 1:  # a retry is counted already
        return ACCEPTED
    return _REFUSED if form.get("refused") == 1 else None
