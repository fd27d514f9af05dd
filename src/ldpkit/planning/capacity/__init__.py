"""CAPRI: which epsilon lets a noisy total decide rightly whether a capacity suffices."""
