"""What an epsilon means for a person who reports: the sentences of `risk`, for a mechanism or a number."""

from __future__ import annotations

import math
from contextlib import suppress

from ldpkit.assurance.adversary import risk
from ldpkit.assurance.adversary.words import in_words, suspicion_in_words
from ldpkit.core.errors import InvalidInputError
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_frequency, is_paired

__all__ = ["meaning"]


def meaning(mechanism: Mechanism, exact: float) -> list[str]:
    """Return what a report of a mechanism gives away, sentence by sentence.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the report.
    exact : float
        Its exact epsilon.

    Examples
    --------
    >>> import ldpkit
    >>> meaning(ldpkit.get("pm", (0, 1), epsilon=1), 1.0)
    ['Whatever the report is, a suspicion of 50% grows to at most 73.2%, and one of 1% to at most 2.68%.']
    """
    # The best guess from a partner's sets or bits is not worked out.
    attacked = not is_paired(mechanism) or mechanism.support_size == 1
    if is_frequency(mechanism) and attacked:
        # It may not say how likely its reports are, and have too many to list.
        with suppress(InvalidInputError):
            return in_words(risk(mechanism))
    return [] if math.isinf(exact) else [suspicion_in_words(exact)]
