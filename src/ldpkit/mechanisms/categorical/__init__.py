"""Frequency oracles: one file each, six of them the protocols of LDP3."""
