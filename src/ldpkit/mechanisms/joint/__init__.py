"""Joint mechanisms: people in pairs or groups share randomness, and with it some of their privacy.

What a report tells depends on what the reader knows of the partner. So every mechanism
here has an epsilon for one report on its own and one towards anyone, including a partner who
knows everything but the value; `exact_epsilon` is always the second.
"""

from __future__ import annotations

__all__: list[str] = []

MEMBERS = ("jrr", "unary", "hashing", "group_count")
