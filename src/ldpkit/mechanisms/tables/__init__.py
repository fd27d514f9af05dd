"""Mechanisms that are a table: a row of integer weights for each input, solved for once and then only read.

==============  ==========================================================================
program         the linear program over all epsilon-LDP tables, for HiGHS
integers        a solution as integers in which the ratio of e^eps holds exactly
table           integers over 2**64, and the check that they keep their promise
mechanism       the table as a mechanism: rounding to a row, a draw, a law
==============  ==========================================================================
"""

from __future__ import annotations

__all__: list[str] = []
