"""Find the smallest epsilon for an accuracy.

"My numbers must be within one percentage point on average, in nine collections out of ten. How much
privacy do I have to spend?" Optimus answers this question.

Figure: The error of three protocols falls with epsilon; GRR and SS reach 0.01 at about 1.6, OUE at 2.6.
Guide: guide/budget.md
"""

import ldpkit

expected = {"news": 5200, "sport": 2600, "weather": 1500, "games": 700}  # last year's counts
plans = ldpkit.plan.budget(
    expected,
    ["grr", "oue", "ss"],
    metric="mae",
    at_most=0.01,
    probability=0.9,
    rng=ldpkit.random.seeded(3),
)
for plan in plans.plans:
    print(
        f"{plan.protocol}: epsilon {plan.epsilon:.2f}, found with {plan.simulations:,} simulated collections"
    )

plans.figure().savefig("choose_epsilon.png")
