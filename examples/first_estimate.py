"""Ask how people travel to work.

"I want to know how many of my 50,000 users walk, cycle, take the bus or drive, without learning how
any one of them travels."

Figure: Bars of the four estimated shares with 95% intervals; about 41 per cent go by car.
Guide: guide/collect.md
"""

import numpy as np

import ldpkit

ways = ["walk", "bike", "bus", "car"]
truth = np.random.default_rng(1).choice(ways, 50_000, p=[0.1, 0.2, 0.3, 0.4])

# On each device. Leave rng out in a real collection: the default is secure randomness.
oracle = ldpkit.OUE(ways, epsilon=1.0)
reports = oracle.privatize(truth, rng=ldpkit.random.seeded(1))

# At the collector, which never sees `truth`.
estimate = oracle.tally(reports).estimate()
print(estimate)
print(f"\ncar: {estimate['car']:.1%} estimated, {np.mean(truth == 'car'):.1%} in truth")

estimate.figure().savefig("first_estimate.png")
