"""What figures 5.16 and 5.17 are made of: two sensors of MotionSense, raw reports and what EMS finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.estimation.circular_density import circular_transition
from ldpkit.estimation.deconvolution import maximise
from ldpkit.estimation.density import transition
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.kinds import is_circular
from ldpkit.papers import Settings
from ldpkit.simulation.metrics.transport import circular_emd, emd

__all__ = ["BINS", "Column", "Raw", "draw_histograms", "load_columns", "raw", "smoothed"]

BINS = 50
TURN = 2 * math.pi
_PARTS = 5  # of a bin, in which EMS finds the density


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a sensor, on [0, 1] or on a circle, and their histogram."""

    name: str
    values: Floats
    period: float | None = None

    @property
    def around(self) -> bool:
        """Whether both ends are one point."""
        return self.period is not None

    @property
    def histogram(self) -> Floats:
        """The share of values in each bin."""
        return np.histogram(self.values, BINS, (0, self.period or 1))[0] / len(self.values)

    @property
    def mean(self) -> float:
        """The mean, or the mean direction."""
        return float(self.centres(self.values[None])[0])

    def centres(self, rows: Floats) -> Floats:
        """Return the mean or the mean direction of each row."""
        return np.asarray(np.angle(np.exp(1j * rows).mean(axis=1)) if self.around else rows.mean(axis=1))

    def gaps(self, centres: Floats) -> Floats:
        """Return how far means or directions are from the true one, with a sign."""
        away = centres - self.mean
        return np.mod(away + math.pi, TURN) - math.pi if self.around else away

    def mechanism(self, name: str, epsilon: float) -> Any:
        """Return a mechanism for these values; one of an interval takes the circle for a line."""
        kind = MECHANISMS.get(name)
        if self.period is not None and is_circular(kind):
            return kind.make(CircleDomain(self.period), epsilon=epsilon)
        return kind.make(IntervalDomain(0, self.period or 1), epsilon=epsilon)


@dataclass(frozen=True)
class Raw:
    """What the thesis computes from reports as they are: means over the runs with their standard errors."""

    l1: float
    error: float
    bias: float
    emd: float
    l1_stderr: float
    error_stderr: float


def raw(column: Column, name: str, epsilon: float, runs: int, rng: RandomSource) -> Raw:
    """Return the errors of the histogram and of the mean of reports, taken for values."""
    mechanism = column.mechanism(name, epsilon)
    reports = mechanism.privatize(np.tile(column.values, runs), rng=rng)
    numbers = mechanism.values_of(reports).reshape(runs, -1)
    width = column.period or 1.0
    inside = np.clip((numbers * (BINS / width)).astype(np.int64), 0, BINS - 1)
    places = (inside + BINS * np.arange(runs)[:, None]).ravel()
    shares = np.bincount(places, minlength=runs * BINS).reshape(runs, BINS) / len(column.values)
    distances = np.abs(shares - column.histogram).sum(axis=1)
    gaps = column.gaps(column.centres(numbers))
    root = math.sqrt(max(runs - 1, 1))
    return Raw(
        float(distances.mean()),
        float(np.abs(gaps).mean()),
        float(abs(gaps.mean())),
        float((circular_emd if column.around else emd)(column.histogram, shares).mean()),
        float(distances.std()) / root,
        float(np.abs(gaps).std()) / root,
    )


def ems_masses(column: Column, mechanism: Any, rng: RandomSource) -> Floats:
    """Return the share of people in each bin, as EMS finds it in one collection."""
    channel = (circular_transition if column.around else transition)(mechanism, BINS * _PARTS)
    counts = mechanism.tally(mechanism.privatize(column.values, rng=rng)).counts[:-1]
    fine = maximise(channel, counts, mechanism.epsilon, smooth=True, around=column.around)
    return np.asarray(fine.reshape(BINS, _PARTS).sum(axis=1))


def smoothed(column: Column, name: str, epsilon: float, runs: int, rng: RandomSource) -> tuple[float, float]:
    """Return the distance of the histogram that EMS finds, and its standard error over the runs."""
    mechanism = column.mechanism(name, epsilon)
    distances = [np.abs(ems_masses(column, mechanism, rng) - column.histogram).sum() for _ in range(runs)]
    return float(np.mean(distances)), float(np.std(distances) / math.sqrt(max(runs - 1, 1)))


def draw_histograms(settings: Settings, columns: tuple[Column, Column], source: RandomSource) -> None:
    """Draw one collection at eps=1: the values, OGPM's reports taken for values, and what EMS finds."""
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(11, 4.5)
    for axes, column in zip(figure.subplots(1, 2), columns, strict=True):
        edges = np.linspace(0, column.period or 1, BINS + 1)
        raw_name, name = ("circular_ogpm", "circular_sw") if column.around else ("ogpm", "sw")
        window = column.mechanism(raw_name, 1.0)
        numbers = window.values_of(window.privatize(column.values, rng=source))
        shares = np.histogram(numbers, edges)[0] / len(numbers)
        axes.stairs(column.histogram, edges, fill=True, color="0.85", label="values")
        far = np.abs(shares - column.histogram).sum()
        axes.stairs(shares, edges, color="C3", linestyle="--", label=f"{raw_name}, raw: L1 {far:.2f}")
        masses = ems_masses(column, column.mechanism(name, 1.0), source)
        near = np.abs(masses - column.histogram).sum()
        axes.stairs(masses, edges, color="C0", linewidth=1.6, label=f"{name} with EMS: L1 {near:.2f}")
        axes.set_title(f"{column.name}, n = {len(column.values):,}, eps = 1", fontsize=10)
        axes.set_xlabel("value" if not column.around else "angle (radians)")
        axes.set_ylabel("share of people")
        axes.legend(fontsize=8)
    save_figure(figure, settings.folder / "histograms-motionsense.png")


def load_columns() -> tuple[Column, Column] | None:
    """Return acceleration scaled to [0, 1] and roll modulo 2 pi, as in the thesis; None if not here."""
    from ldpkit.simulation.datasets import load_known_numbers

    try:
        acceleration = load_known_numbers("motionsense_acceleration_x").values
        roll = load_known_numbers("motionsense_roll").values
    except InvalidInputError:
        return None
    scaled = (acceleration - acceleration.min()) / np.ptp(acceleration)
    return Column("acceleration", scaled), Column("roll", np.mod(roll, TURN), TURN)
