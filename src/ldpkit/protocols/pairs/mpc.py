"""The coin protocol for real: three processes that talk over sockets, with MPyC.

Two are the partners, the third is a helper that holds shares and learns nothing. Secrets
are shared so that any two of the three could open them, and one alone holds noise. With
two parties that threshold is zero, a share is the secret itself, and so they are refused.
All are taken to follow the protocol (semi-honest). Run it with `run_locally`, or start
the parties on their own machines:

    python -m ldpkit.protocols.pairs.mpc PAIRS T1 T2 T3 -M3 -I0     # and -I1, -I2
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from typing import Any

import numpy as np

from ldpkit.core.checks import check_whole
from ldpkit.core.errors import InvalidParameterError, LdpkitError, MissingDependencyError
from ldpkit.core.exact import WORD
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.protocols.pairs.samplers import Coins

__all__ = ["PARTIES", "run_locally"]

PARTIES = 3
_PATIENCE = 60.0  # seconds, and some for each pair


def run_locally(table: PairTable, pairs: int, *, parties: int = PARTIES) -> tuple[Coins, float]:
    """Draw coins with three processes on the loopback interface.

    Parameters
    ----------
    table : PairTable
        The law of a pair, over 2**64.
    pairs : int
        How many pairs.
    parties : int
        Three: two partners and a helper. Two are refused.

    Returns
    -------
    coins : array of bool, shape (pairs, 2)
        Who reports truthfully: the first column as the first process learned it, the
        second as the second did.
    seconds : float
        How long the parties talked, without starting them.
    """
    if parties < PARTIES:
        raise InvalidParameterError(
            f"{parties} parties cannot share a secret here: the threshold of MPyC is then zero and one share "
            f"is the secret itself; take {PARTIES}, of whom one is a helper"
        )
    if parties > PARTIES:
        raise InvalidParameterError(f"a pair and a helper are {PARTIES} parties, got {parties}")
    if importlib.util.find_spec("mpyc") is None:
        raise MissingDependencyError("mpyc", "drawing coins with three parties", "mpc")
    count = check_whole(pairs, "pairs")
    port = _free_port()
    command = [sys.executable, "-m", __name__, str(count), *map(str, table.thresholds)]
    command += [f"-M{parties}", f"-B{port}", "--no-log"]
    running = [
        subprocess.Popen(
            [*command, f"-I{index}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ,
            text=True,
        )
        for index in range(parties)
    ]
    try:
        ends = [each.communicate(timeout=_PATIENCE + count) for each in running]
    finally:
        for each in running:
            each.kill()
    for each, (_, error) in zip(running, ends, strict=True):
        if each.returncode:
            raise LdpkitError(f"a party ended with {each.returncode}: {error.strip()[-300:]}")
    told = [json.loads(out.strip().splitlines()[-1]) for out, _ in ends]
    if told[2]["coins"]:
        raise LdpkitError("the helper learned coins: it must not")
    coins = np.array([told[0]["coins"], told[1]["coins"]], np.bool_).T
    return coins, float(max(each["seconds"] for each in told))


def _free_port() -> int:
    """Return a port below which as many as there are parties are free, most likely."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _party(count: int, thresholds: list[int]) -> None:
    """Be one party: contribute a number to each pair, compare together, open only the own coin."""
    from mpyc.runtime import mpc

    if len(mpc.parties) != PARTIES or mpc.threshold != 1:
        raise InvalidParameterError(f"this protocol has {PARTIES} parties, got {len(mpc.parties)}")
    kind: Any = mpc.SecInt(66)
    await mpc.start()
    began, firsts, others = time.perf_counter(), [], []
    for _ in range(count):  # nothing is waited for here, so the comparisons of all pairs overlap
        number = kind(secrets.randbelow(WORD)) if mpc.pid < 2 else kind(None)
        first, second = mpc.input(number, senders=[0, 1])
        total = first + second
        total = total - (total >= WORD) * WORD
        below_1, below_2, below_3 = (total < threshold for threshold in thresholds)
        firsts.append(below_2)
        others.append(below_1 + below_3 - below_2)
    opened = [await mpc.output(firsts, receivers=[0]), await mpc.output(others, receivers=[1])]
    coins = [int(each) for each in opened[mpc.pid]] if mpc.pid < 2 else []
    seconds = time.perf_counter() - began
    await mpc.shutdown()
    print(json.dumps({"coins": coins, "seconds": seconds}))


if __name__ == "__main__":
    from mpyc.runtime import mpc as _mpc

    _mpc.run(_party(int(sys.argv[1]), [int(each) for each in sys.argv[2:5]]))
