"""Domains, randomness, errors and the registry: what every other room stands on."""
