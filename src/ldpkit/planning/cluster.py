"""What a collection costs on a cluster: processors, storage, network and memory, from measured unit costs.

Unit costs are nanoseconds of one core for each report, reading included, and for each report and value
of the domain where a report must be compared with all values. `benchmarks/bench_cluster.py --units`
measures them again, and memory and storage with them; without `--units` it measures what engines add.
`measure` does so for one mechanism, here and now.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import check_people
from ldpkit.core.provenance import Provenance
from ldpkit.core.random import seeded
from ldpkit.core.results import Result
from ldpkit.engines.local import tally
from ldpkit.engines.partial import ROWS_AT_ONCE
from ldpkit.files.arrow import write_parquet
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_frequency

__all__ = [
    "ENGINES",
    "LIKELIHOOD_STEP",
    "MEASURED",
    "MEASURED_ON",
    "ClusterPlan",
    "EngineCost",
    "UnitCost",
    "cluster",
    "measure",
    "readable",
]

MEASURED_ON = "2026-11-18"
"""The day on which the unit costs were measured, on two shared cores."""


class UnitCost(NamedTuple):
    """Nanoseconds of one core for a report, and more for each value of the domain."""

    report: float
    value: float


MEASURED = {
    "grr": UnitCost(16.4, 0.0),
    "olh": UnitCost(32.0, 0.0525),
    "oue": UnitCost(15.1, 0.0495),
    "ss": UnitCost(57.0, 0.1307),
}
"""Unit costs by mechanism; others are measured where the plan is made."""

LIKELIHOOD_STEP = UnitCost(56.6, 0.4542)
"""Unit costs of a step of maximum likelihood on files, measured with OLH."""


class EngineCost(NamedTuple):
    """How many times the CPU of one process an engine took, warm, and for how many reports."""

    times: float
    reports: int


ENGINES = {
    "local": EngineCost(1.0, 20_000_000),
    "dask": EngineCost(1.25, 100_000_000),
    "spark": EngineCost(1.41, 100_000_000),
    "spark blocks": EngineCost(2.59, 20_000_000),
    "spark rows": EngineCost(5.67, 20_000_000),
}
"""What engines took to count OLH reports of 1024 values. Of fewer reports they take more times as much."""

WORKER_BYTES = 221_000_000
"""What a process takes that has loaded its libraries and counted a few reports."""
COPIES = 8.9
"""Bytes that a worker holds for each byte of the rows that it decodes at once, with GRR and with OLH."""
STORED = 1.026
"""Bytes of a Parquet file for each byte of its reports, with OLH, whose reports do not compress."""

_SAMPLE = 200_000  # reports that `measure` counts
_VALUES = 4096  # different values behind them, at most
_DAY = 86_400
_TASKS = 64  # whose partial tallies arrive at the driver, in the example of the plan
_STEPS = 12
_LEAST = 0.1  # below, an amount is told in a smaller unit
_SMALLER = {"core-hours": ("CPU seconds", 3600.0), "GB": ("MB", 1000.0), "Mbit/s": ("kbit/s", 1000.0)}


@dataclass(frozen=True, repr=False)
class ClusterPlan(Result):
    """What a day of collecting costs.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    people, questions, groups : int
        How many people answer a day, how many questions, and in how many groups each is told.
    engine : str
        What counts.
    nanoseconds : float
        Of one core for a report, in one process.
    source : str
        Where that figure comes from.
    """

    mechanism: Mechanism
    people: int
    questions: int
    groups: int
    engine: str
    nanoseconds: float
    source: str

    kind = "cluster plan"

    @property
    def reports(self) -> int:
        """The reports of a day."""
        return self.people * self.questions

    @property
    def stored_bytes(self) -> float:
        """What a day takes in Parquet files."""
        return self.reports * self.mechanism.report_bytes * STORED

    @property
    def core_hours(self) -> float:
        """The processor time for a day's tallies, in one job."""
        return self.reports * self.nanoseconds * ENGINES[self.engine].times / 3600e9

    @property
    def worker_bytes(self) -> float:
        """The memory of a worker: itself, the rows it decodes, and a tally for each group."""
        rows = ROWS_AT_ONCE * self.mechanism.report_bytes * COPIES
        return WORKER_BYTES + rows + 8.0 * self.mechanism.tally_size * self.groups

    @property
    def driver_bytes(self) -> float:
        """What the partial tallies of all tasks bring to the driver."""
        return 8.0 * self.mechanism.tally_size * self.groups * self.questions * _TASKS

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return a row for each cost."""
        bits = 8 * self.stored_bytes / _DAY
        told = [
            ("reports a day", self.reports, "reports"),
            ("CPU for the tallies of a day", self.core_hours, "core-hours"),
            ("storage of a day", self.stored_bytes / 1e9, "GB"),
            ("network, mean over the day", bits / 1e6, "Mbit/s"),
            ("memory of a worker", self.worker_bytes / 1e6, "MB"),
            (f"partial tallies of {_TASKS} tasks", self.driver_bytes / 1e6, "MB"),
        ]
        if is_frequency(self.mechanism) and self.mechanism.can("likelihood"):
            step = LIKELIHOOD_STEP.report + LIKELIHOOD_STEP.value * self.mechanism.tally_size
            hours = self.reports * step * _STEPS / 3600e9
            told.append((f"CPU for maximum likelihood on Dask, {_STEPS} steps", hours, "core-hours"))
        made = [{"cost": cost, "amount": float(amount), "unit": unit} for cost, amount, unit in told]
        return made if top is None else made[:top]

    def answer(self, unit: str = "") -> str:
        """Return what a day takes, as a sentence."""
        told = []
        for amount, name in ((self.core_hours, "core-hours"), (self.stored_bytes / 1e9, "GB")):
            shown, times = readable(amount, name)
            told.append(f"{number_text(times * amount, 3)} {shown}")
        return f"A day of {self.reports:,} reports takes {' and '.join(told)} on {self.engine}."

    @property
    def title(self) -> str:
        """The title above the table."""
        asked = f"{self.questions:,} question{'s' * (self.questions > 1)}"
        return f"A day with {self.people:,} people and {asked} on {self.engine}"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        engine = ENGINES[self.engine]
        return (
            f"{self.mechanism!r}, {self.mechanism.report_bytes} bytes per report, "
            f"{self.groups} group{'s' * (self.groups > 1)} per question\n"
            f"CPU: {self.nanoseconds:.3g} ns of one core per report in one process, {self.source}; on "
            f"{self.engine} {engine.times:g} times that, measured with {engine.reports:,} reports once warm\n"
            f"memory: {WORKER_BYTES / 1e6:.0f} MB for a worker with its libraries, plus {COPIES:g} times the "
            f"size of {ROWS_AT_ONCE:,} reports, plus 8 bytes for each group and value\n"
            f"storage: {100 * (STORED - 1):.2g}% more than the reports themselves\n"
            f"measured on {MEASURED_ON} on two shared cores; benchmarks/bench_cluster.py measures engines, "
            "and with --units the rest"
        )

    def about(self) -> dict[str, Any]:
        """Return what was asked."""
        return {
            "mechanism": self.mechanism.describe(),
            "people": self.people,
            "questions": self.questions,
            "groups": self.groups,
            "engine": self.engine,
            "nanoseconds": self.nanoseconds,
            "source": self.source,
        }

    def notes(self) -> list[str]:
        """Say what is assumed, and what is not in the figures."""
        assumed = "one job a day over all questions, files of a million reports, tasks that take equally long"
        return [f"note: assumes {assumed}; leaves out HTTP, storage replicas and starting a cluster"]


def readable(amount: float, unit: str) -> tuple[str, float]:
    """Return the unit in which an amount is a number that people read, and how many of it make the given one.

    Examples
    --------
    >>> readable(1.4e-5, "core-hours"), readable(0.0092, "GB"), readable(12.0, "GB")
    (('CPU seconds', 3600.0), ('MB', 1000.0), ('GB', 1.0))
    """
    smaller, times = _SMALLER.get(unit, ("", 1.0))
    return (smaller, times) if smaller and amount < _LEAST else (unit, 1.0)


def cluster(
    mechanism: Mechanism,
    people: int,
    *,
    questions: int = 1,
    groups: int = 1,
    engine: str = "spark",
    here: bool = False,
) -> ClusterPlan:
    """Return what collecting and counting a day's reports costs on a cluster.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    people : int
        How many answer on a day.
    questions : int
        How many questions each answers.
    groups : int
        In how many groups, such as regions, each question is told.
    engine : str
        One of `ENGINES`.
    here : bool
        Whether to measure the cost of a report now, on this machine.

    Examples
    --------
    >>> import ldpkit
    >>> plan = cluster(ldpkit.OLH(1024, epsilon=1), 1_000_000_000)
    >>> plan.rows()[2]["cost"], round(plan.rows()[2]["amount"], 1), plan.rows()[2]["unit"]
    ('storage of a day', 9.2, 'GB')
    """
    for name, given in (("people", people), ("questions", questions), ("groups", groups)):
        check_people(given, name)
    if engine not in ENGINES:
        raise InvalidParameterError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    unit = MEASURED.get(mechanism.name)
    if here or unit is None:
        cost, source = measure(mechanism), f"measured now with {_SAMPLE:,} reports"
    else:
        cost = unit.report + unit.value * mechanism.tally_size
        source = "which --measure measures here"
    return ClusterPlan(mechanism, people, questions, groups, engine, cost, source)


def measure(mechanism: Mechanism, reports: int = _SAMPLE) -> float:
    """Return the nanoseconds of one core that reading and counting a report takes on this machine."""
    source = seeded(1)
    values = mechanism.domain.values(mechanism.domain.examples(_VALUES, source))
    few = mechanism.first_reports(values, rng=source)
    made = few.repeat(-(-reports // len(few)), axis=0)[:reports]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reports.parquet")
        write_parquet(file, mechanism, [made], Provenance("seeded"))
        tally(file)  # compiles, and warms the cache of files
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            tally(file)
            best = min(best, time.process_time() - start)
    return best / reports * 1e9
