"""Get more out of few reports.

"Only 3,000 people answered, and some of my estimated frequencies are negative. Can I do better with the
same reports?" Matrix inversion is unbiased but can go below zero; the iterative Bayesian update (IBU) and
maximum likelihood never do, and have about a third of its error. The intervals come from the counts, so they
hardly depend on the method.

Figure: Three panels of true and estimated shares of 20 values; inversion falls below zero, the others do not.
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

figure, panels = plt.subplots(3, figsize=(7, 6.5), sharex=True, sharey=True, layout="constrained")
for axes, (name, estimate) in zip(panels, estimates.items(), strict=True):
    low, high = estimate.interval(0.95)
    axes.bar(range(size), truth, color="#c9ced6", label="truth")
    error = [estimate.values - low, high - estimate.values]
    axes.errorbar(
        range(size), estimate.values, error, fmt="o", color="#0072b2", markersize=4, label="estimate"
    )
    axes.axhline(0, color="#5b6470", linewidth=0.8)
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set_title(f"{name}, with 95% intervals", loc="left")
panels[0].legend()
panels[-1].set(xlabel="value", xticks=range(0, size, 2))
figure.supylabel("share of people")
figure.savefig("likelihood.png")
