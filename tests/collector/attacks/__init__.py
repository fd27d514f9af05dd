"""Attacks on the collector; script/attack-collector runs them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from collector.attacks.clock import jump_clock
from collector.attacks.crashes import crash_postgres
from collector.attacks.faults import fill_disk, kill_service
from collector.attacks.found import Found
from collector.attacks.power import cut_power
from collector.attacks.requests import from_openapi, mutate_uploads

__all__ = ["ATTACKS"]


logging.getLogger("ldpkit.collector").setLevel(logging.CRITICAL)  # failures are what is wanted here


class Attack(NamedTuple):
    count: int
    run: Callable[[int, int], Found]


ATTACKS = {
    "kills": Attack(200, kill_service),
    "crashes": Attack(60, crash_postgres),
    "cuts": Attack(2000, cut_power),
    "full": Attack(20, fill_disk),
    "clock": Attack(200, jump_clock),
    "uploads": Attack(1_000_000, mutate_uploads),
    "openapi": Attack(100, from_openapi),
}
"""The attacks by name, with how often each is tried unless it is told otherwise."""
