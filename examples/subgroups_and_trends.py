"""Compare groups, and see whether a change is real.

"Did more people in the north switch to the bike this spring than in the south, or is it noise?" Each
group and round has a tally of its own; the two estimates are independent, so the
squared standard error of their difference is the sum of their squared standard errors.

Figure: The share of cyclists over four seasons, with 95% intervals: rising in the north, flat in the south.
Guide: guide/trends.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit

oracle = ldpkit.GRR(["bike", "other"], epsilon=1.5)
truth = {"north": [0.20, 0.24, 0.29, 0.33], "south": [0.20, 0.20, 0.21, 0.21]}
seasons, rng = ["summer", "autumn", "winter", "spring"], np.random.default_rng(18)
source = ldpkit.random.seeded(18)

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for place, (group, shares) in enumerate(truth.items()):
    rounds = []
    for season, share in enumerate(shares):  # other people each season
        people = np.where(rng.random(8000) < share, "bike", "other")
        estimate = oracle.tally(oracle.privatize(people, rng=source)).estimate(population=True)
        low, high = estimate.interval(0.95)
        at, middle = season + 0.12 * (place - 0.5), estimate["bike"]
        reach = [[middle - low[0]], [high[0] - middle]]
        axes.errorbar(at, middle, reach, fmt="os"[place], color=("#0072b2", "#d55e00")[place], capsize=4)
        rounds.append(estimate)
    axes.annotate(group, (at, middle), (10, 0), textcoords="offset points", va="center")
    change = rounds[-1]["bike"] - rounds[0]["bike"]
    error = float(np.hypot(rounds[0].stderr[0], rounds[-1].stderr[0]))
    print(f"{group}: {100 * change:+.1f} points from summer to spring, 95% interval", end=" ")
    print(f"{100 * (change - 1.96 * error):+.1f} to {100 * (change + 1.96 * error):+.1f}")
axes.set_xticks(range(4), seasons)
axes.set_yticks(np.arange(0.15, 0.4, 0.05))
axes.yaxis.set_major_formatter("{x:.0%}")
axes.set(ylabel="people who cycle, 95% intervals", xlim=(-0.4, 3.8))
figure.savefig("subgroups_and_trends.png")
