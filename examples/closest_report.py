"""Send one number as close to the truth as epsilon allows.

"A thermostat sends one private temperature, and what counts is how far off that single report is."
OGPM is made for this: on average, none of the other three comes as close.

Figure: The error of one report falls with epsilon for four mechanisms; OGPM has the least on average.
Guide: guide/optimal.md
"""

import ldpkit

compared = ldpkit.plan.errors(["laplace", "pm", "sw", "ogpm"], [0.5, 1, 2, 4], (10, 30))
for row in compared.rows():
    if row["epsilon"] == 2:
        name, mean, worst = row["mechanism"], row["mean"], row["worst"]
        print(f"{name:8} is off by {mean:.1f} degrees on average, {worst:.1f} at the worst temperature")

thermostat = ldpkit.OGPM((10, 30), epsilon=2.0)
report = thermostat.privatize([21.5], rng=ldpkit.random.seeded(6))
print(f"one report of 21.5 degrees at epsilon 2: {float(thermostat.values_of(report)[0]):.1f}")

compared.figure(unit="degrees").savefig("closest_report.png")
