"""AAA, the adaptive additive mechanism: noise that is fitted to the distribution of the data.

What happens between a descriptor and a report, a file each:

==============  ==========================================================================
rounding        a number to a grid point, at random and without bias
descriptor      the distribution of rounded values that the mechanism is fitted to
lattice         where inputs and outputs lie, and how far outputs must reach
interior        the linear program, by an interior-point method that uses its structure
program         the same program for HiGHS: the check, and the second opinion
tails           the paper's form with geometric tails, corrected, and the printed one
solve           the program with its range chosen, cached, and a fallback that is valid
table           integers over 2**64, and the check that they keep their promise
repair          a solution as integers in which all that is promised holds exactly
mechanism       AAA: the table as a mechanism
compare         expected variances beside those of other mechanisms
==============  ==========================================================================

Citation: Wei, Bao, Xiao, Yang, Ding: AAA. PVLDB 17(8), 2024. The printed program is not
private and not unbiased; what is solved here is the corrected one.
"""

from __future__ import annotations

__all__: list[str] = []

MEMBERS = ("mechanism",)  # what is loaded to find mechanisms; the rest waits until it is needed

TIME_LIMIT = 60.0
"""Seconds after which a solver is stopped."""
