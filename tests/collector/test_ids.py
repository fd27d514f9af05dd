from __future__ import annotations

import numpy as np

from ldpkit.collector.ids import IdSet


def test_it_is_a_set_that_knows_who_came_first():
    source = np.random.default_rng(1)
    ids, known = IdSet(), set()
    for _ in range(300):
        batch = source.integers(0, 2000, source.integers(0, 40)).astype(np.uint64)
        batch[::7] += np.uint64(2**64 - 3000)  # the far end of the range too
        new, ordered = ids.new(batch)
        seen = set()
        wanted = [not (each in known or each in seen or seen.add(each)) for each in batch.tolist()]
        assert new.tolist() == wanted
        assert ordered.tolist() == sorted(batch[new].tolist())
        if source.random() < 0.8:  # a commit that fails adds nobody
            ids.add(ordered)
            known |= set(ordered.tolist())
    assert len(ids) == len(known)
    assert len(ids._runs) <= 2 * np.log2(len(known))
