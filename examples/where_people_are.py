"""Draw a map of where people are.

"Which parts of town are busy? I want a map, without learning where anybody was."

Figure: Maps of a town: the true shares of people, the private estimate, and the ends of its intervals.
Guide: guide/locations.md
"""

import numpy as np

import ldpkit

rng = np.random.default_rng(13)
people = np.concatenate([rng.normal((3, 3), 0.9, (14_000, 2)), rng.normal((7, 6), 1.1, (6_000, 2))])
people = people.clip(0, 10)
town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
grid = ldpkit.CellGrid.of(town, 8, 8)

oracle = ldpkit.OLH(len(grid), epsilon=3.0)  # only the map is wanted: ask for the cell alone
reports = oracle.privatize(grid.cells_of(people), rng=ldpkit.random.seeded(13))
found = ldpkit.HeatMap.from_estimate(grid, oracle.tally(reports).estimate(consistency="norm_sub"))
print(f"total variation from the true map: {found.total_variation(people):.3f}")
busiest = int(np.argmax(found.masses))
print(
    f"busiest cell: around {grid.centres[busiest].round(1).tolist()}, {found.masses[busiest]:.1%} of people"
)

found.figure(truth=people, unit="km").savefig("where_people_are.png")
