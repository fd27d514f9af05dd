"""Check that a mechanism keeps its epsilon.

"A vendor says that its reports cost epsilon 1. I have to review that promise, not believe it." The audit
recomputes epsilon from the sampler's integers, enumerates the channel, and attacks the sampler itself.

Figure: The epsilon found by each check of the audit, none above the stated one.
Guide: guide/audit.md
"""

import ldpkit

mechanism = ldpkit.OLH(["red", "green", "blue", "grey"], epsilon=1.0)
audit = ldpkit.audit(mechanism, reports=100_000, rng=ldpkit.random.seeded(15))
print(audit)

audit.figure().savefig("review_a_promise.png")
