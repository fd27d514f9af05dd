"""Experiments: grids of protocols and methods, their tables and figures, and the papers' claims as code."""
