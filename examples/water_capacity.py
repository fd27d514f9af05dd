"""Decide whether a capacity suffices.

"A water company adds up private meter readings and warns when demand exceeds what it can deliver. At
which epsilon does it miss an excess in at most one month out of twenty?" CAPRI answers this question.

Figure: The probability of missing an excess falls with epsilon; Duchi reaches 5 per cent at 0.49.
Guide: guide/capacity.md
"""

import ldpkit

households = {amount: 400 - 15 * amount for amount in range(21)}  # cubic metres a month: how many
demand = sum(amount * count for amount, count in households.items())
print(f"true demand {demand:,} cubic metres, capacity 36,000")

plans = ldpkit.plan.capacity(households, 36_000, "fn", ["grr", "oue", "ss", "duchi"], at_most=0.05)
print(plans)

plans.figure().savefig("water_capacity.png")
