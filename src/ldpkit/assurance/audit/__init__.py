"""The audit: everything that a privacy reviewer can check about a mechanism, in one record.

>>> import ldpkit
>>> found = ldpkit.audit(ldpkit.GRR(4, epsilon=1.0), reports=200_000)
>>> found.passed
True
"""

from ldpkit.assurance.audit.attack import Attack, attack
from ldpkit.assurance.audit.audit import audit
from ldpkit.assurance.audit.record import Audit, Check

__all__ = ["Attack", "Audit", "Check", "attack", "audit"]
