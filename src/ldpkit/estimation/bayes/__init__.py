"""Likelihood instead of inversion: four estimators that never leave the simplex.

=========  ==================  =====================================================
name       works from          what it is
=========  ==================  =====================================================
ibu        a tally             the iterative Bayesian update as published: EM that
                               takes supported values for independent draws
ibu_limit  a tally             where ibu converges to, in closed form
mle        evidence, or the    the maximum of the exact likelihood of the reports,
           tally of GRR        of one mechanism or of many with different epsilons
=========  ==================  =====================================================

The fourth, generalised IBU, is `mle` on pooled evidence. All say in
`Estimate.diagnostics` how many iterations they took, whether they converged, and what
the log-likelihood is.

Stopping an EM iteration early regularises: it begins at the uniform distribution and
moves to the maximum slowly along directions that the data hardly determine, so what is
cut off is mostly noise. A fixed number of iterations can therefore be closer to the
truth than the maximum itself. That is a choice about bias and variance and not a
property of the likelihood, so by default `mle` runs to its maximum; `ibu` has the
published limit of 10,000 iterations and says when it stopped there.
"""
