"""Estimate an average from private numbers.

"How many hours a day do people look at their phone? Most answers lie close together, and the noise should
make use of that." AAA lets a few people describe the data and fits the noise of the others to it.

Figure: The estimated means of Laplace, PM and AAA with 95% intervals; AAA's is the shortest.
Guide: guide/numbers.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit

hours = np.clip(np.random.default_rng(4).normal(4, 1.2, 20_000), 0, 16)
found: dict[str, tuple[float, float, float]] = {}
for name in ("laplace", "pm"):
    mechanism = ldpkit.get(name, (0, 16), epsilon=4.0)
    reports = mechanism.privatize(hours, rng=ldpkit.random.seeded(4))
    estimate = mechanism.tally(reports).estimate()
    found[name] = estimate.mean, *estimate.interval(0.95)
protocol = ldpkit.AdaptiveMean((0, 16), epsilon=4.0, bins=16)
adapted = protocol.run(hours, rng=ldpkit.random.seeded(4))
found["aaa"] = adapted.mean, *adapted.interval(0.95)

figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
for place, (name, (mean, low, high)) in enumerate(found.items()):
    print(f"{name:8} {mean:.3f} hours, 95% interval {low:.3f} to {high:.3f}")
    axes.errorbar(mean, place, xerr=[[mean - low], [high - mean]], fmt="o", color="#0072b2", capsize=5)
print(f"truth    {hours.mean():.3f} hours")
axes.axvline(float(hours.mean()), color="#5b6470", linestyle="--")
axes.annotate("truth", (float(hours.mean()), -0.45), (4, 0), textcoords="offset points")
axes.set_yticks(range(len(found)), [name.upper() if name != "laplace" else "Laplace" for name in found])
axes.set(xlabel="mean hours a day, with its 95% interval", ylim=(-0.6, 2.5), title="20,000 people, epsilon 4")
figure.savefig("screen_time.png")
