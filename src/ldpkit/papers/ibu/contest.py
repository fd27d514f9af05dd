"""Maximum likelihood against the rest, from the same reports.

Exact likelihood needs the reports, so people are simulated here: the paper's grid at
n = 20,000. Five longitudinal mechanisms are left out because their reports have the very
law of a one-time mechanism with epsilon_1 (L-GRR, L-SUE, L-BLH, L-OLH; L-OSUE of OUE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ldpkit.core import random
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.ibu import update
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.bayes.mle import maximise
from ldpkit.estimation.consistency import batch_estimates
from ldpkit.estimation.evidence import Evidence
from ldpkit.papers.ibu.chain import right
from ldpkit.papers.ibu.paper import METRICS, ONE_TIME
from ldpkit.papers.ibu.study import StudyGrid, errors_of, threads

__all__ = ["MECHANISMS", "RIVALS", "Contest", "Duel", "contest"]

MECHANISMS = (*ONE_TIME, "loue", "lsoue")
RIVALS = {"norm_sub": "mi with Norm-Sub", "ibu": "ibu", "ibu_limit": "ibu_limit"}
MLE = "mle"
N = 20_000
_EQUAL = 1e-6  # relative: less is the tolerance of an iteration, not a difference


class Duel(NamedTuple):
    """Maximum likelihood against one rival in one cell.

    `difference` is the mean of its error minus the rival's over runs with the same
    reports, relative to the rival's mean error, and `stderr` its standard error.
    """

    distribution: str
    mechanism: str
    k: int
    epsilon: float
    difference: float
    stderr: float
    limit: float
    """How many standard errors are a clear difference: 95 %, two-sided."""

    @property
    def is_no_worse(self) -> bool:
        """Whether the mean error is no larger."""
        return self.difference <= _EQUAL

    @property
    def is_clearly_better(self) -> bool:
        """Whether the mean error is smaller beyond chance."""
        return self.difference < -max(_EQUAL, self.limit * self.stderr)

    @property
    def is_clearly_worse(self) -> bool:
        """Whether the mean error is larger beyond chance."""
        return self.difference > max(_EQUAL, self.limit * self.stderr)


@dataclass(frozen=True)
class Contest:
    """The errors of maximum likelihood and its rivals.

    Parameters
    ----------
    grid : StudyGrid
        What was run, with a single n.
    errors : mapping
        For each estimator: metric, distribution, k, epsilon, mechanism, run.
    """

    grid: StudyGrid
    errors: Mapping[str, Floats]

    def duels(self, rival: str, metric: str) -> Iterator[Duel]:
        """Yield every cell's comparison with a rival."""
        from scipy.stats import t

        at, grid = METRICS.index(metric), self.grid
        quantile = float(t.ppf(0.975, grid.runs - 1))
        for cell in np.ndindex(self.errors[MLE].shape[1:-1]):
            ours, theirs = self.errors[MLE][at, *cell], self.errors[rival][at, *cell]
            relative = (ours - theirs) / theirs.mean()
            i, at_k, at_epsilon, at_name = cell
            yield Duel(
                grid.distributions[i],
                grid.mechanisms[at_name],
                grid.sizes[at_k],
                grid.epsilons[at_epsilon],
                float(relative.mean()),
                float(relative.std(ddof=1)) / grid.runs**0.5,
                quantile,
            )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the comparison with every rival in every cell."""
        for metric in METRICS:
            for rival in RIVALS:
                for duel in self.duels(rival, metric):
                    outcome = (
                        "worse" if duel.is_clearly_worse else "better" if duel.is_clearly_better else "even"
                    )
                    yield {"metric": metric, "rival": rival, **duel._asdict(), "mle_is": outcome}


def contest(
    runs: int, seed: int, sizes: Sequence[int], mechanisms: Sequence[str] = MECHANISMS, n: int = N
) -> Contest:
    """Run maximum likelihood and its rivals on the same reports.

    Examples
    --------
    >>> result = contest(2, 1, [2], ["grr"], n=2000)
    >>> all(duel.is_no_worse for duel in result.duels("ibu_limit", "mse"))      # the same for GRR
    True
    """
    grid = StudyGrid(mechanisms, runs, seed, people=[n], sizes=sizes)
    lengths = (len(grid.distributions), len(sizes), len(grid.epsilons), len(mechanisms))
    errors = {name: np.empty((len(METRICS), *lengths, runs)) for name in (MLE, *RIVALS)}

    def fill(place: tuple[int, int, int]) -> None:
        i, at_k, at_epsilon = place
        distribution, k, epsilon = grid.distributions[i], sizes[at_k], grid.epsilons[at_epsilon]
        people = grid.histograms(distribution, n, k, epsilon)
        for at_name, name in enumerate(mechanisms):
            label = f"reports {distribution} {k} {epsilon} {name}"
            for estimator, values in _cell(name, epsilon, people, random.seeded(seed).derive(label)).items():
                errors[estimator][:, *place, at_name] = values

    with ThreadPoolExecutor(threads()) as pool:
        list(pool.map(fill, np.ndindex(lengths[:3])))
    return Contest(grid, errors)


def _cell(name: str, epsilon: float, people: Counts, source: random.RandomSource) -> dict[str, Floats]:
    n, truth = int(people[0].sum()), people / people.sum(axis=1, keepdims=True)
    oracle = right(name, people.shape[1], epsilon).oracle
    supports, maxima = np.empty_like(people), np.empty(people.shape)
    for run, counts in enumerate(people):
        reports = oracle.first_reports(np.repeat(np.arange(len(counts)), counts), rng=source)
        evidence = Evidence.of(oracle, reports)
        supports[run], maxima[run] = evidence.tally().counts, maximise(evidence).frequencies
    updated = np.array([climb.frequencies for climb in update(supports, oracle.p, oracle.q)])
    return {
        MLE: errors_of(truth, maxima),
        "norm_sub": errors_of(truth, batch_estimates(oracle, supports, n, "norm_sub")),
        "ibu": errors_of(truth, updated),
        "ibu_limit": errors_of(truth, limit(supports, oracle.p, oracle.q)),
    }
