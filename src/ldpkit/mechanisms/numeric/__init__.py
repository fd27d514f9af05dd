"""Numeric mechanisms: the value is a number between two public ends."""
