"""The user's script registers a mechanism when it is imported: it is checked in a process of its own."""

from __future__ import annotations

collect_ignore = ["user.py"]
