"""Reports that node made with secure randomness, against the exact law of their mechanism.

`python tests/clients/law.py` does it for every mechanism that a device can run, with 200,000 reports each.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.client.samplers import read_sampler
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.kinds import is_frequency, is_on_grid, is_spatial
from ldpkit.testing.epsilon import floats, has_public_coins, record_array, records
from ldpkit.testing.examples import example
from ldpkit.testing.false_alarms import FALSE_ALARM, fits

__all__ = ["FALSE_ALARM", "Z", "law_of", "names", "subject"]

_CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
_SMALL = {"numeric": 8, "circular": 8, "spatial": 4, "frequency": 5}
_TABLES = 32  # steps of a grid on which rows of a table stand: as many as rows, at least
Z = 4.5
"""No z-score of a tally or a cell may exceed it: a false alarm in 150,000 of them."""


def names() -> list[str]:
    """Return the mechanisms that a device can run."""
    return sorted(name for name in MECHANISMS if MECHANISMS.get(name).can("client"))


def subject(name: str) -> Any:
    """Return a mechanism on a domain so small that its channel can be listed."""
    mechanism = example(name)
    with contextlib.suppress(InvalidParameterError):  # public places are as many as there are
        return mechanism.sibling(_TABLES if mechanism.can("tabled") else _SMALL[mechanism.kind])
    return mechanism


def law_of(mechanism: Any, count: int, *, damage: int = 0) -> tuple[float, float, int]:
    """Return the largest z-score of many reports from node, the smallest p-value, and how many z-scores.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    count : int
        How many reports, over all places together.
    damage : int
        How many reports of each thousand are replaced by the first one: the negative control.
    """
    places = _places(mechanism)
    each = count // len(places)
    data = _reports([{"sampler": mechanism.sampler(), "place": place, "count": each} for place in places])
    size = each * mechanism.report_bytes
    scores, surprises = [0.0], [1.0]
    for number, place in enumerate(places):
        part = data[number * size : (number + 1) * size]
        if damage:
            length = mechanism.report_bytes
            part = part[:length] * (each * damage // 1000) + part[each * damage // 1000 * length :]
        reports = mechanism.decode(part)
        observed, expected = _compare(mechanism, reports, place, number)
        for seen, chance in zip(observed, expected, strict=True):
            surprises.append(fits(seen, chance))
            chance, seen = np.asarray(chance), np.asarray(seen)
            inner = (chance > 0) & (chance < 1) & (each * chance >= 10)
            spread = np.sqrt(each * chance[inner] * (1 - chance[inner]))
            scores.extend(np.abs((seen[inner] - each * chance[inner]) / spread).tolist())
    return max(scores), min(surprises), len(scores) - 1


def _places(mechanism: Any) -> Sequence[Any]:
    if is_frequency(mechanism):
        return range(len(mechanism.domain))
    if is_on_grid(mechanism):
        return range(mechanism.place_count)
    axes = _axes(mechanism)
    if len(axes) == 1:
        return range(axes[0])
    columns, rows = axes
    return [(0, 0), (columns - 1, rows - 1), (1, 2), (columns // 2, 1)]


def _axes(mechanism: Any) -> tuple[int, ...]:
    return read_sampler(mechanism.sampler()).places


def _compare(mechanism: Any, reports: Any, place: Any, number: int) -> tuple[list[Any], list[Any]]:
    """Return counts of disjoint events, group by group, and their exact probabilities."""
    if is_spatial(mechanism):
        row = floats(mechanism.row(tuple(np.atleast_1d(place).tolist())))
        cells = np.ravel_multi_index(
            tuple(reports.reshape(len(reports), -1).T.astype(np.int64)), mechanism.shape
        )
        return [np.bincount(cells, minlength=len(row))], [row]
    if is_frequency(mechanism) and has_public_coins(mechanism):
        p, q = (float(each) for each in _support(mechanism))
        counts = mechanism.tally(reports).counts if mechanism.can("pure") else _ones(mechanism, reports)
        chances = [p if value == place else q for value in range(len(mechanism.domain))]
        total = len(reports)
        return [[seen, total - seen] for seen in counts], [[chance, 1 - chance] for chance in chances]
    channel = mechanism.channel()
    where = {record: index for index, record in enumerate(records(mechanism, channel.reports))}
    observed = np.zeros(len(where))
    found, times = np.unique(record_array(mechanism, reports), return_counts=True)
    for record, seen in zip(found, times, strict=True):
        observed[where[record.tobytes()]] = seen
    groups, chances = [observed], [floats(channel.probabilities[number])]
    if is_frequency(mechanism) and mechanism.can("pure"):  # what an analyst sees: the counts of a tally
        p, q = (float(each) for each in mechanism.support_probabilities)
        counts, total = mechanism.tally(reports).counts, len(reports)
        groups += [[seen, total - seen] for seen in counts]
        chances += [[p, 1 - p] if value == place else [q, 1 - q] for value in range(len(counts))]
    return groups, chances


def _support(mechanism: Any) -> Any:
    if mechanism.can("pure"):
        return mechanism.support_probabilities
    p, q = mechanism.bit_probabilities
    return p * mechanism.d / mechanism.size, q * mechanism.d / mechanism.size


def _ones(mechanism: Any, reports: Any) -> Any:
    """Return how often each bucket was asked for and answered with a one."""
    buckets = mechanism._buckets(reports)
    ones = mechanism._ones(reports).astype(bool)
    return np.bincount(buckets[ones], minlength=mechanism.size)


def _reports(requests: list[dict[str, Any]]) -> bytes:
    done = subprocess.run(
        ["node", str(_CLIENT / "test" / "reports.mjs")],
        input=json.dumps(requests).encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    worst, least, tests = 0.0, 1.0, 0
    for name in names():
        score, surprise, scores = law_of(subject(name), 200_000)
        worst, least, tests = max(worst, score), min(least, surprise), tests + scores
        print(f"{name:20} largest |z| {score:.2f} of {scores:5}, smallest p-value {surprise:.2g}", flush=True)
    print(f"all: largest |z| {worst:.2f} of {tests}, smallest p-value {least:.2g}")
    sys.exit(worst >= Z)
