"""Average times of day.

"When do people go to bed? 23:50 and 00:10 are close together, but an ordinary average puts noon between
them." On a circle the average is midnight.

Figure: The estimated share of people who go to bed in each hour of a day: one peak around midnight.
Guide: guide/angles.md
"""

import numpy as np

import ldpkit

times = np.random.default_rng(11).normal(23.5, 1.3, 20_000) % 24
clock = ldpkit.CircleDomain(24)

mechanism = ldpkit.CircularOGPM(clock, epsilon=2.0)
mean = mechanism.tally(mechanism.privatize(times, rng=ldpkit.random.seeded(11))).estimate()
low, high = mean.interval(0.95)
print(f"mean bedtime {mean.direction:.2f} h, 95% interval {low:.2f} to {high:.2f}; truth 23.50")
print(f"the arithmetic mean of the true times would be {times.mean():.2f} h")

wave = ldpkit.CircularSW(clock, epsilon=2.0)
tally = wave.tally(wave.privatize(times, rng=ldpkit.random.seeded(12)))
density = tally.estimate("circular_density", bins=24)

density.figure(unit="hours").savefig("bedtimes.png")
