"""Pairs or not: what correlated reports gain, for which privacy, beside what gives nothing away."""
