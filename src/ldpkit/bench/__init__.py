"""Compare mechanisms on data: for frequencies, for means and for densities of numbers.

>>> import ldpkit
>>> found = ldpkit.bench.frequencies([60, 30, 10], ["grr", "oue"], methods="none", repeats=3)
>>> found.summary().protocols
('grr', 'oue')
"""

from ldpkit.bench.benchmark import Benchmark, frequencies
from ldpkit.bench.numeric_benchmark import NumericBenchmark, density, mean

__all__ = ["Benchmark", "NumericBenchmark", "density", "frequencies", "mean"]
