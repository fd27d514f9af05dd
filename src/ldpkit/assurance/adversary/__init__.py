"""The Bayesian adversary: who sees a report, knows the mechanism, and guesses the value.

The adversary has a prior, which may be the true frequencies, and guesses the value with
the largest posterior probability; ties are broken by a fair coin. There is no guess that
is right more often.

>>> import ldpkit
>>> from ldpkit.assurance.adversary import risk
>>> found = risk(ldpkit.GRR(4, epsilon=1.0))
>>> round(found.success, 4), found.blind, found.how
(0.4754, 0.25, 'exact')
"""

from ldpkit.assurance.adversary.closed_form import confusion
from ldpkit.assurance.adversary.exposure import attack_on, epsilon_warnings
from ldpkit.assurance.adversary.measure import risk
from ldpkit.assurance.adversary.numeric import cell_middles, numeric_confusion
from ldpkit.assurance.adversary.risk_record import Risk, blind_guess, check_prior
from ldpkit.assurance.adversary.words import in_words, suspicion, suspicion_in_words

__all__ = [
    "Risk",
    "attack_on",
    "blind_guess",
    "cell_middles",
    "check_prior",
    "confusion",
    "epsilon_warnings",
    "in_words",
    "numeric_confusion",
    "risk",
    "suspicion",
    "suspicion_in_words",
]
