"""LDP3, figures 3 to 5: how long ten collections take, over the number of threads.

The time depends on the number of people and values, hardly on who holds what, so an even
population of the same size stands for each data set. The paper prints no numbers; what it
says is that more threads take less time.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core import random
from ldpkit.core.typing import Counts
from ldpkit.mechanisms.kinds import frequency_oracle
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.simulation.engines import users

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["time_claims"]

SIZES = {
    "figure 3 kosarak": (929_669, 128),
    "figure 4 bms_pos": (500_000, 256),
    "figure 5 porto": (1_620_157, 225),
}
THREADS = (1, 2, 4, 8)
CLEARLY = 1.2  # times as fast; less may be a mood of the machine
MEASURABLE = 0.5  # seconds with one thread; of less, most is starting threads and waiting for them

Seconds = Mapping[str, Mapping[int, float]]  # by protocol, then by threads


def time_claims(
    settings: Settings, protocols: Sequence[str], epsilon: float, repeats: int
) -> Iterator[Claim]:
    """Yield for each figure and protocol how much faster the best number of threads is than one."""
    cores = os.cpu_count() or 1
    for name, (n, k) in SIZES.items():
        people = np.full(k, n // k // (50 if settings.quick else 1))
        seconds: dict[str, dict[int, float]] = {}
        for protocol in protocols:
            seconds[protocol] = _seconds(protocol, people, epsilon, repeats)
            best = min(seconds[protocol], key=lambda threads: seconds[protocol][threads])
            ratio = seconds[protocol][1] / seconds[protocol][best]
            told = ", ".join(f"{took:.2f} s with {each}" for each, took in seconds[protocol].items())
            yield Claim(
                f"{name}: {protocol}, more threads take less time",
                "less",
                f"{ratio:.2f} times as fast",
                None,
                _verdict(seconds[protocol][1], ratio, cores),
                f"n={people.sum():,}, k={k}, {repeats} runs on {cores} cores: {told}",
            )
        if settings.folder is not None:
            from ldpkit.figures.canvas import save_figure

            settings.folder.mkdir(parents=True, exist_ok=True)
            title = f"{name}: {repeats} collections, n = {people.sum():,}, k = {k}, {cores} cores"
            save_figure(_draw(seconds, title), settings.folder / f"{name.replace(' ', '-')}.png")


def _verdict(alone: float, ratio: float, cores: int) -> Verdict:
    """Return whether threads help, by the seconds of a single one and how many times as fast the best is."""
    if alone < MEASURABLE:
        return Verdict.TOO_SHORT
    return Verdict.REPRODUCED if ratio > CLEARLY or cores == 1 else Verdict.NOT_REPRODUCED


def _seconds(protocol: str, people: Counts, epsilon: float, repeats: int) -> dict[int, float]:
    """Return how long it takes by threads, every report being made; the better of two rounds."""
    oracle, source = frequency_oracle(protocol, len(people), epsilon=epsilon), random.seeded(1)
    users(oracle, people // 100, source, 1, max(THREADS))  # loads what is compiled
    best = dict.fromkeys(THREADS, math.inf)
    for _ in range(2):
        for threads in THREADS:
            start = time.perf_counter()
            users(oracle, people, source, repeats, threads)
            best[threads] = min(best[threads], time.perf_counter() - start)
    return best


def _draw(seconds: Seconds, title: str) -> Figure:
    from ldpkit.figures.canvas import label_logs, new_figure

    figure = new_figure(6, 4)
    axes: Any = figure.subplots()
    for protocol, times in seconds.items():
        axes.plot(list(times), list(times.values()), marker="o", markersize=4, label=protocol)
    axes.set_xscale("log", base=2)
    axes.set_xticks(THREADS, [str(threads) for threads in THREADS])
    axes.set_yscale("log")
    label_logs(axes.yaxis)
    axes.set_xlabel("threads")
    axes.set_ylabel("seconds")
    axes.set_title(title, fontsize=9)
    figure.legend(fontsize=8, loc="outside right upper")
    return figure
