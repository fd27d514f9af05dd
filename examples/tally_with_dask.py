"""Count a data lake of reports with Dask.

"Reports arrive as Parquet files, a folder a day, and are too many for one machine." Each partition makes
a tally, tallies add up, and the result equals that of a single process, bit for bit.

Figure: Bars of the share of people who take the bus, rising over five days, with 95% intervals.
Guide: guide/cluster.md
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ldpkit
from ldpkit.engines import dask as on_dask
from ldpkit.files.arrow import write_parquet

oracle = ldpkit.GRR(["bus", "car", "walk"], epsilon=2.0)
days, rng = [f"2026-11-{day}" for day in range(16, 21)], np.random.default_rng(17)
for number, day in enumerate(days):
    people = rng.choice(["bus", "car", "walk"], 4000, p=[0.3 + 0.05 * number, 0.5 - 0.05 * number, 0.2])
    folder = Path("lake", f"day={day}")
    folder.mkdir(parents=True)
    reports = oracle.privatize(people, rng=ldpkit.random.seeded(number))
    write_parquet(folder / "part-0.parquet", oracle, [reports], ldpkit.Provenance())

tallies = on_dask.tally("lake", by=["day"])  # or a cluster: scheduler="tcp://scheduler:8786"
print(tallies)

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for place, day in enumerate(days):
    estimate = tallies[day].estimate()
    assert isinstance(estimate, ldpkit.Estimate)  # categories, not numbers
    low, high = estimate.interval(0.95)
    print(f"{day}: {estimate['bus']:.1%} take the bus, 95% interval {low[0]:.1%} to {high[0]:.1%}")
    error = [[estimate["bus"] - low[0]], [high[0] - estimate["bus"]]]
    axes.bar(place, estimate["bus"], yerr=error, capsize=4, color="#6baed6")
axes.set_xticks(range(len(days)), [f"{day[-2:]} Nov" for day in days])
axes.yaxis.set_major_formatter("{x:.0%}")
axes.set(xlabel="2026", ylabel="people who take the bus, 95% intervals")
figure.savefig("tally_with_dask.png")
