"""Longitudinal GRR: randomised response on a kept randomised response."""

from __future__ import annotations

import numpy as np

from ldpkit.core.typing import Floats, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.longitudinal.lresponse import LongitudinalResponse

__all__ = ["LGRR"]


@register
class LGRR(LongitudinalResponse, GRR):
    """Longitudinal generalised randomised response.

    The two rounds together are exactly GRR with epsilon_1, whatever epsilon_inf is.

    Utility: as GRR with epsilon_1.
    Runtime: O(1) a user, O(1) a report; memory O(k).
    Citation: Arcolezi, Couchot, Al Bouna, Xiao (Digital Communications and Networks 2022),
    with the second round solved for every k (the published one holds for k = 2 only).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> 1 - 1e-6 < oracle.exact_epsilon() <= 1, 2 - 1e-6 < oracle.exact_permanent_epsilon() <= 2
    (True, True)
    >>> [round(oracle.repeated_epsilon(times), 3) for times in (1, 2, 1000)]
    [1.0, 1.8, 2.0]
    """

    name = "lgrr"
    aliases = ("l_grr",)
    title = "Longitudinal generalised randomised response"
    capabilities = LongitudinalResponse.capabilities | GRR.capabilities
    citation = (
        "Arcolezi, Couchot, Al Bouna, Xiao: Improving the utility of locally differentially private "
        "protocols for longitudinal and multidimensional frequency estimates. DCN 2022"
    )

    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        if memoized:
            return self._state_evidence(reports)
        sent = np.cumsum(reports[:, None] == np.arange(self.size), axis=0)
        return np.asarray(sent * np.log(self.p / self.q))
