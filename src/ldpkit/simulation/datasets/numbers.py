"""Known public sets of numbers: a column of a file, with the interval or the circle it lies in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import UnknownNameError
from ldpkit.core.typing import Floats
from ldpkit.files.readers import read_column
from ldpkit.simulation.datasets.catalogue import KnownFile, find_file, locate_file

__all__ = ["KNOWN_NUMBERS", "KnownNumbers", "NumberSet", "load_known_numbers"]

_MOTION = (
    "the downstairs trial 1 of subjects 1 to 3 in github.com/ZhengYeah/Optimal-GPM, put together; original: "
    "MotionSense, github.com/mmalekzadeh/motion-sense"
)
_QCU = "github.com/ZhengYeah/QCU-LDP; original: Kaggle, {}"
_SF = (
    "a sample in github.com/flyhighrohit12/Clustering_SA_Compensation; original: San Francisco employee "
    "compensation, DataSF"
)


@dataclass(frozen=True)
class KnownNumbers:
    """A public set of numbers.

    Parameters
    ----------
    name, title : str
        Its name for `load_known_numbers`, and what it is.
    n : int
        The number of people.
    interval : IntervalDomain or None
        Where the numbers lie; it is public, and wider than what occurs. None on a circle.
    circle : CircleDomain or None
        The circle on which the values lie, if they do.
    source, licence : str
        The public origin and its terms.
    file : KnownFile
        The file and its column.
    """

    name: str
    title: str
    n: int
    interval: IntervalDomain | None
    circle: CircleDomain | None
    source: str
    licence: str
    file: KnownFile

    @property
    def domain(self) -> IntervalDomain | CircleDomain:
        """Where the numbers lie."""
        domain = self.interval or self.circle
        assert domain is not None, "a set has one of the two"
        return domain

    @property
    def range(self) -> str:
        """The domain in few words."""
        return f"{self.domain.low:g} to {self.domain.high:g}" + ("" if self.circle is None else ", a circle")

    def find(self) -> tuple[KnownFile, Path] | None:
        """Return the file if it is on this machine, or None."""
        return find_file((self.file,))

    def locate(self) -> tuple[KnownFile, Path]:
        """Return the file, or say where to get it."""
        return locate_file(self.name, (self.file,), self.source)


@dataclass(frozen=True, eq=False)
class NumberSet:
    """The numbers of some people, in an interval or on a circle."""

    known: KnownNumbers
    values: Floats = field(repr=False)

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.values)


def load_known_numbers(name: str, *, verify: bool = True) -> NumberSet:
    """Return a known set of numbers, all of which lie in its domain.

    Parameters
    ----------
    name : str
        Such as "motionsense_roll"; `KNOWN_NUMBERS` has them all.
    verify : bool
        Whether to check the checksum of its file.
    """
    wanted = name.lower().replace("-", "_")
    if wanted not in KNOWN_NUMBERS:
        raise UnknownNameError("set of numbers", name, KNOWN_NUMBERS)
    known = KNOWN_NUMBERS[wanted]
    file, path = known.locate()
    if verify:
        file.verify(path)
    values = known.domain.check(read_column(path, str(file.value)))
    return NumberSet(known, values)


def _columns(
    prefix: str,
    title: str,
    n: int,
    source: str,
    licence: str,
    file: str,
    sha256: str,
    columns: dict[str, tuple[str, str, IntervalDomain | None]],
) -> tuple[KnownNumbers, ...]:
    """Return one set for each column of a table; those without an interval are angles."""
    return tuple(
        KnownNumbers(
            f"{prefix}_{name}",
            f"{title}, {what}",
            n,
            interval,
            _TURN if interval is None else None,
            source,
            licence,
            KnownFile(file, sha256, column),
        )
        for name, (column, what, interval) in columns.items()
    )


_TURN = CircleDomain(2 * math.pi, -math.pi)
_UNIT = IntervalDomain(0, 1)

KNOWN_NUMBERS: dict[str, KnownNumbers] = {
    known.name: known
    for known in (
        *_columns(
            "motionsense",
            "MotionSense, three people going downstairs",
            6_159,
            _MOTION,
            "MIT (copy); original not stated",
            "motionsense_dws1_sub1-3.csv",
            "f31e432cf79291ff98694b6c9eaea49902126bda0ea559a5bb25eb15fb07fe61",
            {
                "acceleration_x": ("userAcceleration.x", "acceleration along x (g)", IntervalDomain(-4, 4)),
                "acceleration_y": ("userAcceleration.y", "acceleration along y (g)", IntervalDomain(-4, 4)),
                "acceleration_z": ("userAcceleration.z", "acceleration along z (g)", IntervalDomain(-4, 4)),
                "roll": ("attitude.roll", "roll (radians)", None),
                "yaw": ("attitude.yaw", "yaw (radians)", None),
            },
        ),
        *_columns(
            "stroke",
            "Stroke table, first 1,000 rows",
            1_000,
            _QCU.format("stroke prediction"),
            "MIT (copy); original terms not stated",
            "stroke_normalized.csv",
            "0acaf39a44a1c714d043c15b45bc6f782362a59bc7316f047e806b1ebc182196",
            {
                "age": ("age", "age / 100", _UNIT),
                "glucose": ("avg_glucose_level", "glucose level / 300", _UNIT),
                "bmi": ("bmi", "body mass index / 50", IntervalDomain(0, 2)),
            },
        ),
        *_columns(
            "bank",
            "Bank customers",
            10_000,
            _QCU.format("bank customer churn"),
            "MIT (copy); original terms not stated",
            "bank_normalized.csv",
            "755ed84ff8be65a3b9e94213897098d4556c2bcb5e175684070326d7fb883cc3",
            {
                "credit_score": ("CreditScore", "credit score / 1000", _UNIT),
                "age": ("Age", "age / 100", _UNIT),
                "balance": ("Balance", "balance / 250,000", IntervalDomain(0, 2)),
                "salary": ("EstimatedSalary", "estimated salary / 200,000", _UNIT),
            },
        ),
        KnownNumbers(
            "sf_retirement",
            "San Francisco employees, retirement benefits (USD), a sample",
            10_000,
            IntervalDomain(-30_621.43, 121_952.52),  # the range of the whole table
            None,
            _SF,
            "not stated",
            KnownFile(
                "sf_retirement_sample.csv",
                "f6a12378ad2a2c1993fc22367924d8e63d3c949c43e7ba1d83c215dbf5e45379",
                "retirement_usd",
            ),
        ),
    )
}
"""Known public sets of numbers by name."""
