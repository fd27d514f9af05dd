"""Share trips through a town.

"I have people's trips through a town of ten by ten kilometres. How far off are they after each location
has been made private, and which mechanism keeps them closest?" Here grid_response and
planar_window come closer than TraCS-C and TraCS-D.

Figure: Maps of the true and the private locations, and how far each mechanism's reports are off.
Guide: guide/locations.md
"""

import numpy as np

import ldpkit

rng = np.random.default_rng(8)
steps = rng.normal(0, 0.4, (60, 12, 2)).cumsum(axis=1)
trips = (rng.uniform(2, 8, (60, 1, 2)) + steps).clip(0, 10)
people = ldpkit.Trajectories.from_list([list(map(tuple, trip)) for trip in trips.tolist()])

town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
compared = ldpkit.evaluate_trajectories(
    people,
    town,
    ["tracs_c", "tracs_d", "grid_response", "planar_window"],
    epsilon=6,
    rng=ldpkit.random.seeded(8),
)
print(compared)

compared.figure(unit="km").savefig("trajectories.png")
