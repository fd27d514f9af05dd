"""Get more out of few reports.

"Only 3,000 people answered, and some of my estimated frequencies are negative. Can I do better with the
same reports?" Matrix inversion is unbiased; the iterative Bayesian update (IBU) and the full maximum of
the likelihood never leave the possible frequencies.

Figure: True and estimated frequencies of 20 values; inversion falls below zero, the others do not.
Guide: guide/likelihood.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit

size, people = 20, 3_000
truth = 0.7 ** np.arange(size)
truth /= truth.sum()
values = np.random.default_rng(2).choice(size, people, p=truth)

oracle = ldpkit.OUE(size, epsilon=1.0)
reports = oracle.privatize(values, rng=ldpkit.random.seeded(2))
tally = oracle.tally(reports)
estimates = {
    "inversion": tally.estimate(),
    "IBU": tally.estimate("ibu"),
    "maximum likelihood": ldpkit.Evidence.of(oracle, reports).estimate("mle"),
}
for name, estimate in estimates.items():
    error = np.abs(estimate.values - truth).mean()
    print(f"{name:18} mean absolute error {error:.4f}, smallest frequency {estimate.values.min():+.3f}")

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
axes.bar(range(size), truth, color="0.85", label="truth")
for (name, estimate), mark in zip(estimates.items(), "o^s", strict=True):
    axes.plot(estimate.values, mark, label=name)
axes.axhline(0, color="0.3", linewidth=0.8)
axes.set(xlabel="value", ylabel="frequency", title=f"{people:,} people, epsilon 1")
axes.legend()
figure.savefig("likelihood.png")
