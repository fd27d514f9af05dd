"""Compiled hot loops, nothing else. Imported when first used, because Numba is slow to load."""
