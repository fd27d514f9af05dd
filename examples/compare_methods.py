"""Find the best protocol and post-processing.

"I expect a few popular pages and a long tail. Which LDP protocol, and which way of cleaning up the
estimates, has the smallest error?" These are the combinations that the LDP3 toolkit compares.

Figure: The mean absolute error of three protocols with four methods, as a heat map and as curves.
Guide: guide/choose.md
"""

import ldpkit

found = ldpkit.bench.frequencies(
    "zipf:k=64,n=20000,s=1.3",  # 20,000 invented people; a CSV file of counts does as well
    ["grr", "oue", "olh"],
    epsilon=[0.5, 1, 2],
    methods=["none", "base_pos", "norm_sub", "power_ns"],
    metrics="mae",
    repeats=5,
    seed=1,
)
for epsilon in (0.5, 1, 2):
    protocol, method = found.summary(epsilon).best_pair()
    print(f"epsilon {epsilon:g}: smallest mean absolute error with {protocol} and {method}")

found.figure().savefig("compare_methods.png")
