"""Keep a model's predictions with private inputs.

"A loan model needs income and debt, which applicants privatize on their phones first. How often do they
still get the decision that their true record would get?"

Figure: How likely each of 200 applicants is to keep the decision at epsilon 8: most above 85%, the worst 51%.
Guide: guide/classifier.md
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

import ldpkit

rng = np.random.default_rng(9)
applicants = rng.random((200, 3))  # income, debt, years in the job; each between 0 and 1
granted = applicants @ [1.0, -0.8, 0.3] + rng.normal(0, 0.15, 200) > 0.25
model = LogisticRegression().fit(applicants, granted)

for epsilon in (1, 2, 4, 8):
    private = {"income": ldpkit.OGPM((0, 1), epsilon / 2), "debt": ldpkit.OGPM((0, 1), epsilon / 2)}
    kept = ldpkit.utility(model, applicants, private, columns=["income", "debt", "years"])
    average, worst = kept.average.value, kept.worst.value
    print(f"epsilon {epsilon}: same decision in {average:.1%} of cases, {worst:.1%} for the worst record")

kept.figure().savefig("loan_classifier.png")
