"""What `ldpkit.plan` offers: the questions to ask before collecting, a function for each.

>>> import ldpkit
>>> ldpkit.plan.mean((0, 100), 0.5, n=100_000).best.protocol
'hm'
"""

from ldpkit.planning.capacity.plans import capacity
from ldpkit.planning.classifier.plans import classifier
from ldpkit.planning.cluster import cluster
from ldpkit.planning.frequencies.plans import budget
from ldpkit.planning.mean.plans import mean
from ldpkit.planning.optimal.errors import compare_errors as errors
from ldpkit.planning.optimal.gpm import gpm
from ldpkit.planning.optimal.minimax import circle_optimum, minimax
from ldpkit.planning.pairs.plans import pairs
from ldpkit.planning.survey.plans import survey

__all__ = [
    "budget",
    "capacity",
    "classifier",
    "circle_optimum",
    "cluster",
    "errors",
    "gpm",
    "mean",
    "minimax",
    "pairs",
    "survey",
]
