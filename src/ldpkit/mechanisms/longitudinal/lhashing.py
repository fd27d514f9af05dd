"""Longitudinal local hashing: one hash function for a device's life, L-GRR on its bucket."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import EPSILON_1, EPSILON_INF, check_epsilon
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import DomainLike, Floats, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.hashing import BLH, BUCKETS, LocalHashing, OptimisedHashing
from ldpkit.mechanisms.longitudinal.lresponse import LongitudinalResponse

__all__ = ["LBLH", "LOLH", "LongitudinalHashing"]

_LOLOHA = "Arcolezi, Pinzon, Palamidessi, Gambs: Frequency estimation of evolving data under LDP. EDBT 2023"


class LongitudinalHashing(LongitudinalResponse, LocalHashing):
    """Local hashing in two rounds: whatever value comes, at most g permanent reports are made."""

    capabilities: ClassVar[frozenset[str]] = LongitudinalResponse.capabilities | LocalHashing.capabilities

    @property
    def state_count(self) -> int:
        return self.buckets

    @property
    def states_are_values(self) -> bool:
        return False

    @property
    def has_public_coins(self) -> bool:
        return True

    @property
    def random_bytes_per_report(self) -> int:
        return super().random_bytes_per_report + 2 * self.word.itemsize

    def public_coins(self, count: int, source: RandomSource) -> Reports:
        coins = self._hash_functions(count, source)
        coins["y"] = 0
        return coins

    def _form(self) -> dict[str, Any]:
        return {"form": "chained_hashing", **self._family, **self._rounds}

    def sampler_integers(self) -> tuple[int, ...]:
        return (8 * self.word.itemsize, *super().sampler_integers())

    def states(self, coins: Reports, indices: Indices) -> Indices:
        return self.hash(coins["a"], coins["b"], indices)

    def _answers(self, reports: Reports) -> Reports:
        return np.asarray(reports["y"])

    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        values = np.arange(self.size, dtype=np.uint32)
        if memoized:
            a, b = reports["a"][0], reports["b"][0]
            if (reports["a"] != a).any() or (reports["b"] != b).any():
                raise InvalidInputError("the reports have different hash functions: one device has but one")
            return self._state_evidence(reports)[:, self.hash(a, b, values)]
        buckets = self.hash(reports["a"][:, None], reports["b"][:, None], values)
        meets = np.cumsum(buckets == reports["y"][:, None], axis=0)
        return np.asarray(meets * np.log(float(self.response.p / self.response.q)))


@register
class LBLH(LongitudinalHashing, BLH):
    """Longitudinal binary local hashing (BiLOLOHA): two buckets, so at most two permanent reports.

    Utility: as BLH with epsilon_1.
    Runtime: O(1) a user, O(k) a report; memory O(k).
    Citation: Arcolezi et al. (EDBT 2023), with the second round of L-GRR for g values (the
    printed one breaks the promise of epsilon_1).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lblh", 1000, epsilon_inf=2, epsilon_1=1)
    >>> oracle.state_count, oracle.report_bytes
    (2, 9)
    """

    name = "lblh"
    aliases = ("l_blh", "biloloha")
    title = "Longitudinal binary local hashing (BiLOLOHA)"
    citation = _LOLOHA


@register
class LOLH(OptimisedHashing, LongitudinalHashing):
    """Longitudinal optimised local hashing (OLOLOHA).

    With the second round solved exactly, the best number of buckets is that of OLH with
    epsilon_1, and so is the variance.

    Utility: as OLH with epsilon_1.
    Runtime: O(1) a user, O(k) a report; memory O(k).
    Citation: Arcolezi et al. (EDBT 2023).

    Parameters
    ----------
    domain : int or sequence of labels
        The values.
    epsilon_inf : float
        What all reports about one value together may cost.
    epsilon_1 : float
        What the first report may cost, less than epsilon_inf.
    buckets : int, optional
        Leave it out. A device that began with an earlier version gives round(e^epsilon_1) + 1,
        so that it keeps its hash function and its permanent reports.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lolh", 1000, epsilon_inf=2, epsilon_1=1)
    >>> oracle.buckets, round(oracle.p, 6) == round(ldpkit.OLH(1000, epsilon=1).p, 6)
    (4, True)
    """

    name = "lolh"
    aliases = ("l_olh", "ololoha")
    title = "Longitudinal optimised local hashing (OLOLOHA)"
    citation = _LOLOHA
    declared = (EPSILON_INF, EPSILON_1, BUCKETS)
    budget = "epsilon_1"

    def __init__(
        self, domain: DomainLike, epsilon_inf: float, epsilon_1: float, *, buckets: int | None = None
    ) -> None:
        if buckets is not None:  # before the integers of both rounds, which need it
            self._take_buckets(buckets, check_epsilon(epsilon_1, "epsilon_1"))
        LongitudinalHashing.__init__(self, domain, epsilon_inf, epsilon_1)
