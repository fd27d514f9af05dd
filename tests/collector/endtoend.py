"""From devices to published numbers: every client, a network that loses connections, one service.

`script/end-to-end` runs it with tens of thousands of answers; a test with a few.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clients.node import CLIENT, prepare
from collector.proxy import lossy_proxy
from collector.serving import serving
from ldpkit.client.client import Client
from ldpkit.client.collection import Collection
from ldpkit.collector.database import open_database
from ldpkit.collector.remote import Collector
from ldpkit.collector.verify import verify
from ldpkit.core.errors import LdpkitError
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from questions import age, commute

__all__ = ["CLIENTS", "Outcome", "run_end_to_end"]

CLIENTS = ("chromium", "node", "python")
_THREADS = 8  # of devices that answer at the same time
_LOST = 0.1  # of all requests
_PERIOD = 24.0
_TOML = """
id = "town"
version = 1
purpose = "How people in town travel, read, live and sleep."
least_reports = {least}
rounds = {{every = "once", start = 2026-11-01}}
{commute}[[questions]]
id = "paper"
text = "Which paper do you read?"
domain = ["none", "Courier", "Gazette", "Herald", "Mirror", "Post", "Times", "Neighbourhood Weekly News"]
mechanism = "oue"
epsilon = 1
[[questions]]
id = "district"
text = "In which district do you live?"
domain = 16
mechanism = "olh"
epsilon = 1
{age}[[questions]]
id = "hours"
text = "How many hours do you sleep?"
low = 0
high = 24
mechanism = "hm"
epsilon = 1
[[questions]]
id = "bed"
text = "When do you go to bed?"
period = 24
mechanism = "circular_ogpm"
epsilon = 1
"""


@dataclass
class Outcome:
    """What became of all answers."""

    given: int = 0
    """Answers that devices gave and heard to be counted."""
    counted: dict[str, int] = field(default_factory=dict)
    """Reports by question, as the collector tells."""
    held: int = 0
    """Intervals that have the truth in them."""
    intervals: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    """Requests, and connections that were lost."""
    duplicates: int = 0
    """Answers that arrived again, because their confirmation was lost."""
    problems: list[str] = field(default_factory=list)


def run_end_to_end(devices: dict[str, int], seed: int, shots: Path | None = None) -> Outcome:
    """Let devices of each client answer six questions through a network that loses connections.

    Parameters
    ----------
    devices : dict
        How many of each of `CLIENTS`.
    seed : int
        Of their values, and of what is lost; the reports are as random as ever.
    shots : Path, optional
        A folder for pictures of the results page, if Chromium is among the clients.
    """
    people = sum(devices.values())
    text = _TOML.format(least=min(100, people), commute=commute("grr", 1), age=age("pm", 1))
    envelope = seal(compile_toml(text.encode()))
    values = _values(Collection.read(envelope), people, np.random.default_rng(seed))
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "town.json").write_bytes(envelope)
        with serving(str(folder / "town.json"), data=folder / "data") as service:
            port = int(service.url.rpartition(":")[2])
            with lossy_proxy(port, _LOST, seed) as (proxy, outcome.lost):
                start = 0
                for client, count in devices.items():
                    mine = [{key: of[i] for key, of in values.items()} for i in range(start, start + count)]
                    start += count
                    if client == "python":
                        outcome.given += _answer_in_python(proxy, mine, folder / "devices")
                    elif count:
                        outcome.given += _answer_in_node(client, proxy, mine, folder)
            if shots is not None:
                _node("shots", service.url, str(shots.absolute()))
            analyst = Collector(service.url, service.tokens["analyst"])
            outcome.counted = {each["question"]: each["n"] for each in analyst.progress("town")}
            outcome.duplicates = _duplicates(service.url)
            _compare(outcome, analyst, values)
            if code := service.stop():
                outcome.problems.append(f"the service ended with {code}")
        connection = open_database(folder / "data").connect()
        outcome.problems += [f"{each.what}: {each.problem}" for each in verify(connection) if each.problem]
        connection.close()
    if outcome.given != len(values) * people:
        outcome.problems.append(f"{outcome.given} of {len(values) * people} answers were confirmed")
    if any(n != people for n in outcome.counted.values()) or len(outcome.counted) != len(values):
        outcome.problems.append(f"of {people} devices, these were counted: {outcome.counted}")
    return outcome


def _values(collection: Collection, people: int, rng: np.random.Generator) -> dict[str, list[Any]]:
    """Return what each person would answer to each question."""
    made: dict[str, list[Any]] = {
        "age": np.clip(rng.normal(44, 20, people), 0, 120).round(1).tolist(),
        "hours": np.clip(rng.normal(7.5, 1.2, people), 0, 24).round(2).tolist(),
        "bed": (rng.normal(23.2, 1.3, people) % _PERIOD).round(2).tolist(),
    }
    for question in collection.questions:
        if question.id not in made:
            domain: Any = question.domain
            names = domain if isinstance(domain, list) else list(range(domain))
            shares = rng.dirichlet(np.full(len(names), 1.5))
            made[question.id] = [names[i] for i in rng.choice(len(names), people, p=shares)]
    return made


def _answer_in_python(url: str, people: list[dict[str, Any]], folder: Path) -> int:
    """Let each person's device answer with the Python client, and return how many answers were confirmed."""
    folder.mkdir()

    def answer(number: int) -> int:
        while True:
            try:
                device = Client.fetch(url, "town", folder / f"{number}.db")
                break
            except LdpkitError:  # the connection was lost
                continue
        for question, value in people[number].items():
            device.answer(question, value)
        confirmed = 0
        while True:
            found = device.flush()
            confirmed += found.accepted
            if not found.waiting:
                return confirmed

    with ThreadPoolExecutor(_THREADS) as pool:
        return sum(pool.map(answer, range(len(people))))


def _answer_in_node(client: str, url: str, people: list[dict[str, Any]], folder: Path) -> int:
    """Let each person's device answer with the TypeScript client, in node or on a page in Chromium."""
    path = folder / f"{client}.json"
    path.write_text(json.dumps(people))
    return int(_node(client, url, str(path), str(folder / client)))


def _node(*words: str) -> str:
    prepare()
    done = subprocess.run(
        ["node", "test/endtoend.mjs", *words],
        cwd=CLIENT, capture_output=True, text=True, check=False, env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"endtoend.mjs {' '.join(words)}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout.strip()


def _duplicates(url: str) -> int:
    import urllib.request

    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as stream:
        lines = stream.read().decode().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("ldpkit_duplicates_total "))


def _compare(outcome: Outcome, analyst: Collector, values: dict[str, list[Any]]) -> None:
    """Count the 95% intervals, of every answer and statistic, that have the truth of these people in them."""
    for question, of in values.items():
        estimate = analyst.estimate("town", question)
        if estimate.kind == "frequencies":
            shares = Counter(of)
            rows = [(shares[row["value"]] / len(of), row["frequency"], row) for row in estimate.rows()]
        else:
            first = next(iter(estimate.rows()))  # the mean, or the direction
            angles = np.exp(2j * np.pi * np.array(of) / _PERIOD)
            direction = float(np.angle(angles.mean())) * _PERIOD / (2 * np.pi)
            rows = [(direction if question == "bed" else float(np.mean(of)), first["value"], first)]
        for truth, value, row in rows:
            if row["low"] is None:  # of so few devices nothing can be said
                continue
            off = truth - value
            if question == "bed":  # the short way round
                off = (off + _PERIOD / 2) % _PERIOD - _PERIOD / 2
            outcome.intervals += 1
            outcome.held += row["low"] - value <= off <= row["high"] - value
