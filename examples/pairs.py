"""Count a rare answer with people in pairs.

"Couples answer a yes-or-no question. If their noise is correlated, it partly cancels: what do I gain,
and what does a partner learn?" This is joint randomised response (JRR).

Figure: Variance falls as a partner may learn more; one joint count per pair has 0.6 of the variance.
Guide: guide/pairs.md
"""

import numpy as np

import ldpkit

n, ones = 20_000, 700
oracle = ldpkit.JRR(["no", "yes"], epsilon_alone=1, epsilon=2)
print(oracle.promise())

answers = np.random.default_rng(7).permutation(np.repeat(["yes", "no"], [ones, n - ones]))
estimate = oracle.tally(oracle.privatize(answers, rng=ldpkit.random.seeded(7))).estimate()
low, high = estimate.interval(0.95)
print(f"yes: {estimate['yes']:.2%}, 95% interval {low[1]:.2%} to {high[1]:.2%}; truth {ones / n:.2%}")

plan = ldpkit.plan.pairs(n, 1, 2, ones=(600, 800))
print(plan)

plan.figure().savefig("pairs.png")
