"""A collector elsewhere, for analysts: its results are the same records as everywhere in ldpkit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ldpkit.client.collection import Collection
from ldpkit.client.http import Response, check_url, request
from ldpkit.collector.labelled import labelled
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.core.wholefile import whole_file
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.from_reports import about_all
from ldpkit.estimation.over_rounds import OverRounds, change, together
from ldpkit.files.reportfile import ReportFile
from ldpkit.mechanisms.tally import Tally

__all__ = ["Collector"]

_MLE = "mle"
_LARGEST = 1 << 36  # bytes of an export
_MOST_NAMES = 12  # of questions in a message


class Collector:
    """A running collector, as an analyst sees it.

    Parameters
    ----------
    url : str
        Where it is, such as "https://collect.example.org".
    token : str, optional
        A token; that of the environment variable LDPKIT_TOKEN unless it is given. White space around it,
        such as the end of a line of a file, is not part of it.

    Examples
    --------
    >>> Collector("https://collect.example.org", token="ldpkit_...")     # sends nothing yet
    Collector('https://collect.example.org')
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = check_url(url)
        self._token = _checked(token or os.environ.get("LDPKIT_TOKEN", ""))

    def collections(self) -> list[dict[str, Any]]:
        """Return what is collected."""
        found: list[dict[str, Any]] = self._call("GET", "").json()["collections"]
        return found

    def progress(self, collection: str) -> list[dict[str, Any]]:
        """Return how many answered, by question, round and version."""
        found: list[dict[str, Any]] = self._call("GET", f"/{quote(collection, safe='')}/progress").json()[
            "progress"
        ]
        return found

    def tally(self, collection: str, question: str, *, number: int = 0, version: int | None = None) -> Tally:
        """Return the tally of a question and round."""
        path = f"/{quote(collection, safe='')}/tally"
        return Tally.from_bytes(
            self._call("GET", path, question=question, round=number, version=version).body
        )

    def estimate(
        self,
        collection: str,
        question: str | None = None,
        *,
        number: int = 0,
        version: int | None = None,
        estimator: str | None = None,
        consistency: str | None = None,
    ) -> Any:
        """Return the estimate of a question and round; without a question, of the only one that is asked.

        Where devices answer some of the questions, drawn at random, errors are about all of them.
        Everything but maximum likelihood works from the tally, which is all that is fetched; for
        `estimator="mle"` the reports are.
        """
        asked = self._asked(collection)
        question = _only_question(asked) if question is None else question
        # An older version may have had other names for the same cells.
        known = asked.questions if version in (None, asked.version) else ()
        domain = next((each.domain for each in known if each.id == question), None)
        if estimator != _MLE:
            tally = self.tally(collection, question, number=number, version=version)
            about = about_all(tally.mechanism, estimator) if asked.is_sampled else {}
            return labelled(tally.estimate(estimator, consistency=consistency, **about), domain)
        with tempfile.TemporaryDirectory(prefix="ldpkit-") as folder:
            path = self.export(
                collection, question, Path(folder) / "reports.ldp", number=number, version=version
            )
            evidence = Evidence.from_file(ReportFile.open(path))
            about = {"population": True} if asked.is_sampled else {}
            made = evidence.provenance.sign(evidence.estimate(_MLE, consistency=consistency, **about))
            return labelled(made, domain)

    def together(
        self, collection: str, question: str | None, rounds: Sequence[int], **options: Any
    ) -> OverRounds:
        """Return what several rounds tell together; the same people may have answered in each."""
        return together(
            [self.estimate(collection, question, number=each, **options) for each in rounds], rounds
        )

    def change(
        self, collection: str, question: str | None, first: int, second: int, **options: Any
    ) -> OverRounds:
        """Return the change from one round to another."""
        made = [self.estimate(collection, question, number=each, **options) for each in (first, second)]
        return change(made[0], made[1], [first, second])

    def export(
        self,
        collection: str,
        question: str | None,
        path: str | Path,
        *,
        number: int = 0,
        version: int | None = None,
    ) -> Path:
        """Write the reports of a question (None: the only one) and round to a .ldp, .csv or .parquet file."""
        question = _only_question(self._asked(collection)) if question is None else question
        target = Path(path)
        name = f"/{quote(collection, safe='')}/export.{target.suffix.removeprefix('.')}"
        found = self._call("GET", name, question=question, round=number, version=version)
        with whole_file(target) as stream:
            stream.write(found.body)
        return target

    def put_up(self, envelope: bytes) -> dict[str, Any]:
        """Put up a collection or a new version of one; needs an administrator's token."""
        return self._call("POST", "", data=envelope).json()

    def close(self, collection: str, number: int) -> dict[str, Any]:
        """Close a round for ever, unless it was `already_closed`; needs an administrator's token."""
        return self._call("PATCH", f"/{quote(collection, safe='')}", close_round=number).json()

    def retire(self, collection: str) -> dict[str, Any]:
        """Take no further answer; needs an administrator's token."""
        return self._call("PATCH", f"/{quote(collection, safe='')}", retire="true").json()

    def erase(self, collection: str) -> dict[str, Any]:
        """Delete a collection with all its reports; needs an administrator's token.

        Return, under `copies`, the older databases beside the present one, which are not touched.
        """
        return self._call("DELETE", f"/{quote(collection, safe='')}").json()

    def _asked(self, collection: str) -> Collection:
        """Return the newest version of a collection."""
        return Collection.read(self._call("GET", f"/{quote(collection, safe='')}").body)

    def _call(self, method: str, path: str, data: bytes | None = None, **query: Any) -> Response:
        told = urlencode({name: value for name, value in query.items() if value is not None})
        address = f"{self.url}/v1/collections{path}" + (f"?{told}" if told else "")
        headers = {"Authorization": f"Bearer {self._token}"}
        found = request(address, data, method=method, headers=headers, most=_LARGEST)
        if not found.status:
            raise LdpkitError(f"{found.reason}: check that the collector is running, and its address")
        if not 200 <= found.status < 300:
            raise LdpkitError(f"the collector at {self.url} refused: {found.reason}")
        return found

    def __repr__(self) -> str:
        return f"Collector({self.url!r})"


def _checked(text: str) -> str:
    r"""Return a token that a header can carry, or refuse it without telling it.

    Examples
    --------
    >>> _checked("ldpkit_abc\r\n")
    'ldpkit_abc'
    """
    token = text.strip()
    if not token:
        raise InvalidParameterError(
            "a collector asks for a token: set LDPKIT_TOKEN, or give --token (token= in Python)"
        )
    for place, character in enumerate(token, 1):
        if not "!" <= character <= "~":
            raise InvalidParameterError(
                f"character {place} of the token is {character!a}, and a token has ASCII letters, digits and "
                "signs only: copy it again, as LDPKIT_TOKEN, --token or token= in Python"
            )
    return token


def _only_question(asked: Collection) -> str:
    """Return the id of the only question of a collection, or refuse to choose among several."""
    names = [each.id for each in asked.questions]
    if len(names) > 1:
        raise InvalidParameterError(
            f"{asked.id!r} asks {len(names)} questions: choose one with --question (question= in Python), "
            f"{', '.join(names[:_MOST_NAMES])}{', ...' if len(names) > _MOST_NAMES else ''}"
        )
    return names[0]
