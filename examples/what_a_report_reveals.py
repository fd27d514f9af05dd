"""Say what a report gives away.

"My users do not know what epsilon is. How often does somebody who sees a report guess the answer, and
how often without it?"

Figure: How often a guess from one report is right, over epsilon: GRR and SS alike, OUE less often.
Guide: guide/risk.md
"""

import ldpkit

answers = {"never": 6200, "once": 2300, "often": 1100, "daily": 400}
risks = ldpkit.risk(["grr", "oue", "ss"], epsilon=[0.5, 1, 2, 4], data=answers)
print(risks)

risks.figure().savefig("what_a_report_reveals.png")
