"""Faults: every command that writes is killed, starved of disk, locked out and raced against itself."""
