"""Ask several questions under one promise.

"I have three questions and one privacy budget. Should everybody answer all of them, or one each? And how
do I write down what I promise?" A plan compares the ways to ask; a collection file states the promise.

Figure: Bars of how people travel, with 95% intervals, from those who were asked that question.
Guide: guide/collection.md
"""

import numpy as np

import ldpkit

rng, n = np.random.default_rng(14), 30_000
ways = ["walk", "bike", "bus", "car"]
age, rent = ldpkit.IntervalDomain(0, 120), ldpkit.IntervalDomain(0, 3000)
plan = ldpkit.plan.survey({"travel": ways, "age": age, "rent": rent}, epsilon=2.0, people=n)
print(plan, end="\n\n")

survey = plan.survey()
answers = {
    "travel": rng.choice(ways, n, p=[0.15, 0.25, 0.2, 0.4]),
    "age": rng.normal(44, 15, n).clip(0, 120),
    "rent": rng.normal(1100, 350, n).clip(0, 3000),
}
reports = survey.privatize(answers, rng=ldpkit.random.seeded(14))
found = survey.estimate(survey.tally(reports), people=n)
print(found)
print(f"\nwhat a person spends: {survey.cost()}")

found["travel"].figure().savefig("household_survey.png")
