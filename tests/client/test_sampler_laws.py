"""Reports of the reference samplers follow the channel of their mechanism, and a wrong one is caught."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import ldpkit
from ldpkit.client.samplers import read_sampler
from ldpkit.testing import example
from ldpkit.testing.epsilon import floats, records
from ldpkit.testing.false_alarms import FALSE_ALARM, SAID, fits
from slow import slow

SQUARE = ((0, 0), (1, 1))
CASES = {
    "grr": lambda: ldpkit.GRR(4, 1.0),
    "sue": lambda: ldpkit.SUE(3, 1.0),
    "ss": lambda: ldpkit.SS(6, 0.5),
    "pm": lambda: ldpkit.get("pm", (0, 1), epsilon=2, grid=4),
    "ogpm": lambda: ldpkit.get("ogpm", (0, 1), epsilon=2, grid=4),
    "truncated_sw": lambda: ldpkit.get("truncated_sw", (0, 1), epsilon=2, grid=8),
    "duchi": lambda: ldpkit.get("duchi", (0, 1), epsilon=1, grid=4),
    "hm": lambda: ldpkit.get("hm", (0, 1), epsilon=2, grid=4),
    "truncated_laplace": lambda: ldpkit.get("truncated_laplace", (0, 1), epsilon=1, grid=4),
    "staircase": lambda: ldpkit.get("staircase", (0, 1), epsilon=4, grid=2),
    "circular_ogpm": lambda: ldpkit.get("circular_ogpm", 1, epsilon=2, grid=4),
    "von_mises": lambda: ldpkit.get("von_mises", 1, epsilon=2, grid=4),
    "aaa": lambda: ldpkit.get("aaa", (0, 1), epsilon=2, intervals=2, grid=8),
    "grid_response": lambda: ldpkit.get("grid_response", SQUARE, epsilon=2, columns=2, rows=3),
    "planar_window": lambda: ldpkit.get("planar_window", SQUARE, epsilon=2, grid=2),
    "tracs_c": lambda: ldpkit.get("tracs_c", SQUARE, epsilon=4, grid=2, share=0.5),
    "lgrr": lambda: ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1),
    "lsue": lambda: ldpkit.get("lsue", 3, epsilon_inf=2, epsilon_1=1),
}


def surprise(mechanism, form, draws, seed):
    """Return the p-value of reports of the last place against the channel."""
    sampler, generator = read_sampler(form), random.Random(seed)
    channel = mechanism.channel()
    known = {record: index for index, record in enumerate(records(mechanism, channel.reports))}
    place = tuple(size - 1 for size in sampler.places)
    made = Counter(sampler.draw(place, generator.randbytes) for _ in range(draws))
    observed = np.zeros(len(known))
    for report, count in made.items():
        observed[known[report]] = count
    return fits(observed, floats(channel.probabilities[-1]))


@pytest.mark.parametrize("draws", [1500, *slow(60_000)])
def test_reports_follow_the_channel(draws):
    for seed, (name, make) in enumerate(CASES.items()):
        mechanism = make()
        found = surprise(mechanism, mechanism.sampler(), draws, seed)
        assert found > FALSE_ALARM / len(CASES), f"{name}: p-value {found:.2g} ({SAID})"


def test_reports_of_another_epsilon_are_caught():
    for name, make in (("grr", lambda: ldpkit.GRR(4, 1.5)), ("sue", lambda: ldpkit.SUE(3, 1.6))):
        mechanism = CASES[name]()
        assert surprise(mechanism, make().sampler(), 6000, 5) < FALSE_ALARM / len(CASES)


def test_hashed_reports_support_values_with_p_and_q():
    mechanism = example("olh", 8)
    sampler, generator, n = read_sampler(mechanism.sampler()), random.Random(8), 3000
    data = b"".join(sampler.draw(3, generator.randbytes) for _ in range(n))
    counts = mechanism.tally(mechanism.decode(data)).counts
    chances = [float(mechanism.p if value == 3 else mechanism.q) for value in range(8)]
    z = [(count - n * p) / np.sqrt(n * p * (1 - p)) for count, p in zip(counts, chances, strict=True)]
    assert max(map(abs, z)) < 5.5, "false-alarm rate 3e-7"
    turned = [chances[3], *chances[:3], *chances[4:]]
    assert (
        max(abs((count - n * p) / np.sqrt(n * p * (1 - p))) for count, p in zip(counts, turned, strict=True))
        > 5.5
    )
