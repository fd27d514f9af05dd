"""Node and Python answer through a network that loses connections: each answer counts once."""

from __future__ import annotations

from collector.endtoend import run_end_to_end


def test_every_answer_counts_once():
    """Three processes: node, the service and a proxy."""
    found = run_end_to_end({"node": 12, "python": 12}, seed=5)
    assert found.problems == []
    assert found.given == 6 * 24
    assert set(found.counted.values()) == {24}
    assert found.duplicates > 0, "no confirmation was lost, so this shows nothing"
    # Each of some 30 intervals misses with probability 0.05; by chance 13 do so less than once in 10^8 runs.
    assert found.held >= found.intervals - 12
