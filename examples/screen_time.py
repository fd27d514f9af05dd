"""Estimate an average from private numbers.

"How many hours a day do people look at their phone? Most answers lie close together, and I would like
the noise to fit that." AAA lets a few people describe the data and fits the noise of the others to it.

Figure: The estimated means of three mechanisms with 95% intervals around the true mean of about 4 hours.
Guide: guide/numbers.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit

hours = np.clip(np.random.default_rng(4).normal(4, 1.2, 20_000), 0, 16)
found = {}
for name in ("laplace", "pm"):
    mechanism = ldpkit.get(name, (0, 16), epsilon=4.0)
    reports = mechanism.privatize(hours, rng=ldpkit.random.seeded(4))
    found[name] = mechanism.tally(reports).estimate()
protocol = ldpkit.AdaptiveMean((0, 16), epsilon=4.0, bins=16)
found["aaa"] = protocol.run(hours, rng=ldpkit.random.seeded(4))

figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
for place, (name, estimate) in enumerate(found.items()):
    low, high = estimate.interval(0.95)
    print(f"{name:8} {estimate.mean:.3f} hours, 95% interval {low:.3f} to {high:.3f}")
    axes.plot([low, high], [place, place], linewidth=3, color=f"C{place}")
    axes.plot(estimate.mean, place, "o", color=f"C{place}")
print(f"truth    {hours.mean():.3f} hours")
axes.axvline(float(hours.mean()), color="0.3", linestyle="--")
axes.annotate("truth", (float(hours.mean()), -0.42), textcoords="offset points", xytext=(4, 0))
axes.set_yticks(range(len(found)), list(found))
axes.set(xlabel="mean hours a day", ylim=(-0.5, 2.5), title="20,000 people, epsilon 4")
figure.savefig("screen_time.png")
