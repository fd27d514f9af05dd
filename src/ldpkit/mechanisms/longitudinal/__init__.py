"""Repeated collections: a permanent report that is kept, and a fresh one made from it each time."""
