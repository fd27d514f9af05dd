"""The best mechanism of all on an interval: linear programs, their bounds, and the table as a mechanism.

==============  ==========================================================================
problem         inputs, what a report costs, and what an output that is not there would earn
solve           the program, with outputs added where they pay
bounds          what no mechanism goes below, and what a table costs on all inputs
repair          the solution as integers
making          the table for an epsilon and a power, made once and kept
mechanism       Optimal: the table as a mechanism
==============  ==========================================================================
"""

from __future__ import annotations

__all__: list[str] = []

MEMBERS = ("mechanism",)  # what is loaded to find mechanisms; the rest waits until it is needed

OUTPUT_STEPS = 1 << 30
"""In how many steps outputs divide the interval."""

TIME_LIMIT = 120.0
"""Seconds after which a solver is stopped."""
