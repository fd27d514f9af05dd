"""Values computed once for an object, without a lock.

Until Python 3.12, `functools.cached_property` has one lock for all objects of a class. A
process forked while another thread computes such a value would wait for it for ever.
Without the lock two threads may compute it both; it is the same, since the objects here
do not change.
"""

from __future__ import annotations

import functools
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - named as what it stands for
        """A property whose value is computed on first use and kept.

        Examples
        --------
        >>> class Circle:
        ...     @cached_property
        ...     def area(self):
        ...         print("computed")
        ...         return 3.14
        >>> circle = Circle()
        >>> circle.area + circle.area
        computed
        6.28
        """

        def __init__(self, func: Any) -> None:
            super().__init__(func)
            self.lock = nullcontext()
