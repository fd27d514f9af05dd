"""The contract checks, for authors of mechanisms: no checkout and no pytest needed.

Examples
--------
>>> import ldpkit
>>> ldpkit.testing.check_mechanism(ldpkit.GRR(5, epsilon=1), only=("epsilons", "channels"))
GRR(5, epsilon=1) passes 2 checks
"""

from ldpkit.testing.examples import example
from ldpkit.testing.suite import ContractCheck, ContractReport, check_mechanism, checks_for

__all__ = ["ContractCheck", "ContractReport", "check_mechanism", "checks_for", "example"]
