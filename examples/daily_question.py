"""Ask the same people every day.

"My app asks each day which section people opened. Fresh noise every day averages out; how do I stop
that?" The device keeps one permanent report and sends noisy copies of it.

Figure: How often an attacker names the value after 1 to 50 reports, with and without memoization.
Guide: guide/longitudinal.md
"""

import matplotlib.pyplot as plt

import ldpkit
from ldpkit.assurance.longitudinal import longitudinal_attack, success_bound

mechanism = ldpkit.LGRR(["news", "sport", "weather", "games"], epsilon_inf=2, epsilon_1=1)
days, rng = 50, ldpkit.random.seeded(10)
kept = longitudinal_attack(mechanism, None, reports=days, repeats=300, rng=rng)
fresh = longitudinal_attack(mechanism, None, reports=days, repeats=300, memoize=False, rng=rng)
bound = success_bound(mechanism.exact_permanent_epsilon(), 4)
print(f"after {days} days the attacker is right in {fresh[-1]:.0%} of cases with fresh noise,")
print(f"in {kept[-1]:.0%} with a permanent report, of 300 simulated devices; the bound is {bound:.0%}")
print(ldpkit.sequence_epsilon(mechanism, [0] * days, fixed=True))

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.plot(range(1, days + 1), fresh, label="fresh noise each day")
axes.plot(range(1, days + 1), kept, label="permanent report")
axes.axhline(bound, color="0.3", linestyle="--", label="bound for a permanent report")
axes.set(xlabel="reports of one device", ylabel="attacker is right", ylim=(0, 1.02))
axes.legend()
figure.savefig("daily_question.png")
