"""Experiments without users: populations, exact aggregates, and how far an estimate is from the truth."""
