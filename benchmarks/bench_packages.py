"""The packages for local differential privacy that PyPI has: speed, and what their reports are worth.

    pip install -e '.[benchmarks,packages]'
    pip install --no-deps ldp-toolbox         # its dashboard needs much that its protocols do not
    python benchmarks/bench_packages.py

What is not installed, or does not run with the installed versions of what it needs, is left out with a note.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import ldpkit
from peers import EPSILON, PEERS, K
from timing import best_seconds, print_table

PEOPLE = 2_000
TURNS = 3
REPORTS = 100_000
WRONG = 1e-6  # how often a lower bound on epsilon may be too high

Respond = Callable[[list[int]], list[int]]  # the answers of people who hold 0 or 1


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print_table(
            f"n={PEOPLE:,}, k={K}, epsilon={EPSILON:g}: ns a user, and how many times ldpkit's that is",
            [_speed(oracle, side) for oracle in ("grr", "oue", "olh") for side in (0, 1)],
        )
        print_table(
            f"Randomised response of yes or no at epsilon {EPSILON:g}", [*map(_soundness, _installed())]
        )


def _installed() -> list[str]:
    found = []
    for package in RESPONSES:
        try:
            RESPONSES[package]()([0, 1])
            found.append(package)
        except Exception as error:
            print(f"{package} left out: {type(error).__name__}: {error}", file=sys.stderr)
    return found


def _speed(oracle: str, side: int) -> dict[str, Any]:
    values = np.random.default_rng(1).integers(0, K, PEOPLE)
    ours = ldpkit.get(oracle, K, epsilon=EPSILON)
    reports = ours.privatize(values)
    own = best_seconds((lambda: ours.privatize(values), lambda: ours.tally(reports))[side], 9)
    row: dict[str, Any] = {
        "work": f"{oracle}, {('device', 'collector')[side]}",
        "ldpkit": f"{own / PEOPLE * 1e9:,.0f}",
    }
    for package in ("multi-freq-ldpy", "ldp-toolbox", "pure-ldp", "opendp"):
        try:
            device, collector = _opendp_peer(oracle) if package == "opendp" else PEERS[package](oracle)
            seconds = min(_time_of(device, collector, values.tolist(), side) for _ in range(TURNS))
            row[package] = f"{seconds / PEOPLE * 1e9:,.0f} ({seconds / own:,.0f} x)"
        except Exception:  # it has no such part, or does not run here
            row[package] = "-"
    return row


def _opendp_peer(oracle: str) -> tuple[Callable[[list[int]], list[Any]], Any]:
    import opendp.prelude as dp

    if oracle != "grr":
        raise KeyError(oracle)
    dp.enable_features("contrib")
    answer = dp.m.make_randomized_response(list(range(K)), math.exp(EPSILON) / (math.exp(EPSILON) + K - 1))
    return lambda values: [answer(value) for value in values], None


def _time_of(device: Any, collector: Any, people: list[int], side: int) -> float:
    made = device(people[:50])
    if side:
        collector(made)  # whatever is loaded on first use
        made = device(people)
    start = time.perf_counter()
    if side:
        collector(made)
    else:
        device(people)
    return time.perf_counter() - start


def _ldpkit() -> Respond:
    oracle = ldpkit.GRR(2, epsilon=EPSILON)
    return lambda values: oracle.privatize(values).tolist()


def _multi_freq() -> Respond:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return lambda values: [int(GRR_Client(value, 2, EPSILON)) for value in values]


def _toolbox() -> Respond:
    from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse

    protocol = GeneralizedRandomizedResponse(2, EPSILON)
    return lambda values: [int(protocol.obfuscate(value)) for value in values]


def _pure() -> Respond:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(EPSILON, 2, index_mapper=lambda value: value)
    return lambda values: [int(client.privatise(value)) for value in values]


def _opendp() -> Respond:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    answer = dp.m.make_randomized_response([0, 1], math.exp(EPSILON) / (math.exp(EPSILON) + 1))
    return lambda values: [answer(value) for value in values]


def _diffprivlib() -> Respond:
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=EPSILON, value0="0", value1="1")
    return lambda values: [int(mechanism.randomise(str(value))) for value in values]


RESPONSES: dict[str, Callable[[], Respond]] = {
    "ldpkit": _ldpkit,
    "multi-freq-ldpy": _multi_freq,
    "ldp-toolbox": _toolbox,
    "pure-ldp": _pure,
    "opendp": _opendp,
    "diffprivlib": _diffprivlib,
}


def _soundness(package: str) -> dict[str, Any]:
    respond = RESPONSES[package]()
    zeros, ones = (sum(respond([value] * REPORTS)) for value in (0, 1))
    most = stats.beta.ppf(1 - WRONG, zeros + 1, REPORTS - zeros)  # of answers 1 from those who hold 0
    least = stats.beta.ppf(WRONG, ones, REPORTS - ones + 1)
    return {
        "package": f"{package} {importlib.metadata.version(package)}",
        "epsilon is at least": f"{math.log(least / most):.3f}",
        "a value outside": _outside(respond),
        "a global seed repeats": _which(package, _seeded),
        "two forks send the same": _which(package, _forked),
    }


def _which(package: str, make: Callable[[Callable[[list[int]], Any]], str]) -> str:
    """Return the oracles whose reports are twice the same."""
    devices: dict[str, Callable[[list[int]], Any]] = {"response": RESPONSES[package]()}
    if package in PEERS:
        devices = {oracle: PEERS[package](oracle)[0] for oracle in ("grr", "oue", "olh")}
    elif package == "ldpkit":
        devices = {name: ldpkit.get(name, K, epsilon=EPSILON).privatize for name in ("grr", "oue", "olh")}
    same = [name for name, device in devices.items() if make(device) == make(device)]
    return f"{', '.join(same)} of {', '.join(devices)}" if same else f"none of {', '.join(devices)}"


def _seeded(device: Callable[[list[int]], Any]) -> str:
    random.seed(1)
    np.random.seed(1)
    return _text(device([0, 1] * 20))


def _text(reports: Any) -> str:
    return str([np.asarray(report).tolist() for report in reports])


def _forked(device: Callable[[list[int]], Any]) -> str:
    """Return the reports of a child process; this one draws nothing."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, _text(device([0, 1] * 20)).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as stream:
        return stream.read()


def _outside(respond: Respond) -> str:
    try:
        answers = respond([7] * 1000)
    except Exception as error:
        return f"refused ({type(error).__name__})"
    shown = sum(answer == 7 for answer in answers)
    return f"sent as it is in {shown / 10:.0f}%" if shown else "answered at random"


if __name__ == "__main__":
    main()
