"""Engines: tallies of reports that lie on many machines, made where they lie.

A partition makes partial tallies, partial tallies add, and what adds is only what a task
returned. `spark` and `dask` hand tasks out; what a task does is the same in both, and in
one process.
"""
