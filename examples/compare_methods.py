"""Find the best protocol and post-processing.

"I expect a few popular pages and a long tail. Which LDP protocol, and which way of cleaning up the
estimates, has the smallest error?" These are the combinations that the LDP3 toolkit compares.

Figure: Errors of three protocols and four methods as a heat map and by epsilon; one estimate and the truth.
Guide: guide/choose.md
"""

import ldpkit

found = ldpkit.bench.frequencies(
    "zipf:k=64,n=20000,s=1.3",  # 20,000 invented people; a CSV file of counts does as well
    ["grr", "oue", "olh"],
    epsilon=[0.5, 1, 2],
    methods=["none", "base_pos", "norm_sub", "power_ns"],
    metrics="mae",
    repeats=20,
    seed=1,
)
for epsilon in (0.5, 1, 2):
    print(f"epsilon {epsilon:g}: {found.summary(epsilon).best_in_words()}")

found.figure().savefig("compare_methods.png")
