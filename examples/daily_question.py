"""Ask the same people every day.

"My app asks each day which section people opened. Fresh noise every day averages out; how do I stop
that?" The device keeps one permanent report and sends noisy copies of it.

Figure: How often an attacker guesses right; after 50 reports, 99% with fresh noise, 72% with a permanent one.
Guide: guide/longitudinal.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit
from ldpkit.assurance.longitudinal import longitudinal_attack, success_bound

mechanism = ldpkit.LGRR(["news", "sport", "weather", "games"], epsilon_inf=2, epsilon_1=1)
days, devices, rng = 50, 2_000, ldpkit.random.seeded(10)
kept = longitudinal_attack(mechanism, None, reports=days, repeats=devices, rng=rng)
fresh = longitudinal_attack(mechanism, None, reports=days, repeats=devices, memoize=False, rng=rng)
bound = success_bound(mechanism.exact_permanent_epsilon(), 4)
print(f"after {days} days the attacker is right in {fresh[-1]:.0%} of cases with fresh noise,")
print(f"in {kept[-1]:.0%} ± 2% with a permanent report; in truth it cannot exceed {bound:.0%}")
print(ldpkit.sequence_epsilon(mechanism, [0] * days, fixed=True))

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
at = np.arange(1, days + 1)
lines = {"fresh noise each day": (fresh, "#0072b2", "-"), "permanent report": (kept, "#d55e00", "--")}
for name, (right, colour, dash) in lines.items():
    error = 2 * np.sqrt(right * (1 - right) / devices)  # two standard errors
    axes.fill_between(at, right - error, right + error, color=colour, alpha=0.2, linewidth=0)
    axes.plot(at, right, dash, color=colour)
    axes.text(days, right[-1] - 0.06, name, ha="right", va="top")
axes.axhline(bound, color="#5b6470", linestyle=":")
axes.text(days, bound + 0.04, f"bound for a permanent report: {bound:.0%}", ha="right")
axes.yaxis.set_major_formatter("{x:.0%}")
axes.set(xlabel="reports of one device", ylabel="how often the attacker is right", ylim=(0, 1.05))
figure.savefig("daily_question.png")
