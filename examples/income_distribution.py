"""See how numbers are distributed.

"The average income says little. I want the distribution, and the median with an interval that I can
defend." The square wave mechanism with EMS gives both.

Figure: The estimated share of people in each bin of 250 euros a month: two peaks, at 2,200 and 5,500.
Guide: guide/numbers.md
"""

import numpy as np

import ldpkit

rng = np.random.default_rng(5)
incomes = np.concatenate([rng.normal(2200, 400, 18_000), rng.normal(5500, 900, 12_000)])
incomes = incomes.clip(0, 10_000)

mechanism = ldpkit.SW((0, 10_000), epsilon=2.0)
estimate = mechanism.tally(mechanism.privatize(incomes, rng=ldpkit.random.seeded(5))).estimate()
median = estimate.quantile(0.5)
density = estimate.density(bins=40).with_quantiles([median])
print(f"median {median.value:,.0f}, 95% interval {median.low:,.0f} to {median.high:,.0f}")
print(f"true median {np.median(incomes):,.0f}")

density.figure(unit="€/month").savefig("income_distribution.png")
