"""Mechanisms for angles, times of day and other values on a circle."""
