"""The six frequency oracles against multi-freq-ldpy and pure-ldp, on one core, in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ldpkit
from timing import best_seconds, print_table

EPSILON = 1.0
K = 128
NANO = 1e9


def main() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, K, 1_000_000)
    rows = [
        *_compare("OLH aggregation, per report and value", _our_olh(values), _peer_olh(values[:200]), 1000),
        *_compare(
            "OUE perturbation, per bit",
            _our_privatize("oue", values[:200_000], K),
            _peer_oue(values[:2000]),
            30,
        ),
        *_compare(
            "GRR perturbation, per user", _our_privatize("grr", values, 1), _peer_grr(values[:5000]), 50
        ),
    ]
    print_table(f"k={K}, epsilon={EPSILON:g}, nanoseconds on one core", rows)
    print_table("OLH aggregation at scale and randomness", [_olh_at_scale(), _secure_against_seeded()])


def _compare(
    work: str, ours: float, peers: Iterator[tuple[str, Callable[[], float]]], target: int
) -> Iterator[dict[str, Any]]:
    for peer, measure in peers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = measure()
        except Exception as error:  # a peer that does not run here is left out, with its reason
            print(f"{peer} left out: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        ratio = theirs / ours
        yield {
            "work": work,
            "ldpkit": ours,
            "peer": peer,
            "theirs": theirs,
            "ratio": f"{ratio:,.0f}",
            "target": f">= {target}: {'met' if ratio >= target else 'MISSED'}",
        }


def _our_olh(values: np.ndarray[Any, Any]) -> float:
    oracle = ldpkit.OLH(K, epsilon=EPSILON)
    reports = oracle.privatize(values)
    return best_seconds(lambda: oracle.tally(reports)) / (len(values) * K) * NANO


def _our_privatize(name: str, values: np.ndarray[Any, Any], units: int) -> float:
    oracle = ldpkit.get(name, K, epsilon=EPSILON)
    return best_seconds(lambda: oracle.privatize(values)) / (len(values) * units) * NANO


def _peer_olh(values: np.ndarray[Any, Any]) -> Iterator[tuple[str, Callable[[], float]]]:
    def multi_freq() -> float:
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

        reports = [LH_Client(int(value), K, EPSILON) for value in values]
        return best_seconds(lambda: LH_Aggregator_MI(reports, K, EPSILON), 3) / (len(values) * K) * NANO

    def pure() -> float:
        from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

        client = LHClient(EPSILON, K, use_olh=True, index_mapper=lambda value: value)
        server = LHServer(EPSILON, K, use_olh=True, index_mapper=lambda value: value)
        reports = [client.privatise(int(value)) for value in values]
        work = lambda: [server.aggregate(report) for report in reports]  # noqa: E731
        return best_seconds(work, 3) / (len(values) * K) * NANO

    yield "multi-freq-ldpy", multi_freq
    yield "pure-ldp", pure


def _peer_oue(values: np.ndarray[Any, Any]) -> Iterator[tuple[str, Callable[[], float]]]:
    def multi_freq() -> float:
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

        work = lambda: [UE_Client(int(value), K, EPSILON, True) for value in values]  # noqa: E731
        return best_seconds(work, 3) / (len(values) * K) * NANO

    def pure() -> float:
        from pure_ldp.frequency_oracles.unary_encoding import UEClient

        client = UEClient(EPSILON, K, use_oue=True, index_mapper=lambda value: value)
        work = lambda: [client.privatise(int(value)) for value in values]  # noqa: E731
        return best_seconds(work, 3) / (len(values) * K) * NANO

    yield "multi-freq-ldpy", multi_freq
    yield "pure-ldp", pure


def _peer_grr(values: np.ndarray[Any, Any]) -> Iterator[tuple[str, Callable[[], float]]]:
    def multi_freq() -> float:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        work = lambda: [GRR_Client(int(value), K, EPSILON) for value in values]  # noqa: E731
        return best_seconds(work, 3) / len(values) * NANO

    def pure() -> float:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        client = DEClient(EPSILON, K, index_mapper=lambda value: value)
        work = lambda: [client.privatise(int(value)) for value in values]  # noqa: E731
        return best_seconds(work, 3) / len(values) * NANO

    yield "multi-freq-ldpy", multi_freq
    yield "pure-ldp", pure


_AT_SCALE = """
import numpy as np, ldpkit
oracle = ldpkit.OLH(1024, epsilon=1.0)
reports = oracle.privatize(np.arange(1_000_000, dtype=np.uint32) % 1024)
from timing import best_seconds, peak_megabytes
seconds = best_seconds(lambda: oracle.tally(reports), 3)
print(seconds / (1_000_000 * 1024) * 1e9, peak_megabytes())
"""


def _olh_at_scale() -> dict[str, Any]:
    """Aggregate n=1e6, k=1024 in a process of its own, to see its peak memory."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):  # the first run may still have to compile
        done = subprocess.run(
            [sys.executable, "-c", _AT_SCALE], env=environment, capture_output=True, text=True, check=True
        )
    nanoseconds, megabytes = map(float, done.stdout.split())
    met = nanoseconds < 0.5 and megabytes < 200
    return {
        "work": "OLH aggregation, n=1e6, k=1024",
        "measured": f"{nanoseconds:.3f} ns per report, value and core; peak {megabytes:.0f} MB",
        "target": f"< 0.5 ns, < 200 MB: {'met' if met else 'MISSED'}",
    }


def _secure_against_seeded() -> dict[str, Any]:
    values = np.arange(1_000_000, dtype=np.uint32) % K
    oracle = ldpkit.GRR(K, epsilon=EPSILON)
    secure = best_seconds(lambda: oracle.privatize(values))
    seeded = best_seconds(lambda: oracle.privatize(values, rng=ldpkit.random.seeded(1)))
    return {
        "work": "secure against seeded randomness, GRR",
        "measured": f"{secure / seeded:.2f} times the time",
        "target": f"<= 1.5: {'met' if secure <= 1.5 * seeded else 'MISSED'}",
    }


if __name__ == "__main__":
    main()
