"""Pairs or not: what correlated reports gain, for which privacy, beside what gives nothing away.

The question has two epsilons. `epsilon_alone` is what a report may tell a collector who
knows some people's values, but not who is paired with whom. `epsilon` is what it may tell
anyone, also the partner. The thesis optimises under a theorem that is too weak for the
first and silent on the second; here both constraints are the exact ones.
"""

from ldpkit.planning.pairs.choices import PairPlan
from ldpkit.planning.pairs.plan import plan_pairs
from ldpkit.planning.pairs.question import PairQuestion

__all__ = ["PairPlan", "PairQuestion", "plan_pairs"]
