"""Store reports in files and add up servers.

"Two servers receive reports. I want to keep them in files that say what they contain, and count
them together later."

Figure: Bars of the estimated shares of five browsers with 95% intervals, from both files.
Guide: reference/files.md
"""

import numpy as np

import ldpkit

browsers = ["Amber", "Birch", "Cedar", "Dogwood", "Elm"]
oracle = ldpkit.SS(browsers, epsilon=1.0)
for server, seed in (("north", 19), ("south", 20)):
    people = np.random.default_rng(seed).choice(browsers, 15_000, p=[0.45, 0.25, 0.15, 0.1, 0.05])
    rng = ldpkit.random.seeded(seed)
    made = ldpkit.Provenance.of(rng, domain="stated")
    with ldpkit.ReportWriter(f"{server}.ldp", oracle, provenance=made) as writer:
        writer.write(oracle.privatize(people, rng=rng))
    file = ldpkit.ReportFile.open(f"{server}.ldp")
    print(f"{server}.ldp: {file.n:,} reports of {file.mechanism}, {file.provenance.randomness} randomness")

together = ldpkit.tally_file("north.ldp") + ldpkit.tally_file("south.ldp")
estimate = together.estimate(consistency="norm_sub")
print(estimate)

estimate.figure().savefig("report_files.png")
