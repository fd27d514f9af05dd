"""The memo of places: a place that is visited again repeats its report, today or next year.

A person then pays for places and not for visits. What is kept is in a `DeviceStore`, one record for
each place, written before a report leaves the device; two processes never draw for the same place.
The price is not in epsilon: whoever sees the reports sees which visits were to the same place.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ldpkit.client.labels import pack
from ldpkit.client.store import DeviceStore, Records
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats, Reports
from ldpkit.mechanisms.base import Mechanism, from_spec
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
from ldpkit.protocols.people import person_keys

__all__ = ["Paid", "PlaceMemo"]

Paid: TypeAlias = tuple[tuple[Mechanism, int], ...]
"""What somebody has paid for: how many places, by each mechanism."""

_PLACES = b"ldpkit-places-v1"
_MECHANISMS = pack(b"ldpkit-place-mechanisms-v1")
_DIGEST_BYTES = 32


class PlaceMemo:
    """The reports of the places that people have visited, kept in a store.

    Parameters
    ----------
    store : DeviceStore
        Where they are kept. It tells where people were, and must not leave the device.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> memo = PlaceMemo(DeviceStore(folder.name + "/places.db"))
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4)
    >>> home = np.array([[0.25, 0.5]])
    >>> for _ in range(3):
    ...     drawn = mechanism.privatize(home)
    ...     _, is_new, paid = memo.recall(mechanism, ["ann"], np.array([0]), home, drawn, secure=True)
    ...     print(is_new.tolist(), [count for _, count in paid[0]])
    [True] [1]
    [False] [1]
    [False] [1]
    >>> folder.cleanup()
    """

    def __init__(self, store: DeviceStore) -> None:
        if not isinstance(store, DeviceStore):
            raise InvalidParameterError(
                f"a memo of places is a DeviceStore(path), got {type(store).__name__}: make one"
            )
        self.store = store

    def recall(
        self,
        mechanism: SpatialMechanism,
        people: Sequence[Any],
        owners: Counts,
        locations: Floats,
        drawn: Reports,
        *,
        secure: bool,
    ) -> tuple[Reports, Any, list[Paid]]:
        """Return the report of each visit, which of them are new, and what each person has paid for by now.

        Parameters
        ----------
        mechanism : SpatialMechanism
            What reports a location.
        people : sequence
            The id of each person.
        owners : array of int
            Whose visit each is, as a position among people.
        locations : array, shape (n, 2)
            The visits, each location of a person once, in the units of the region.
        drawn : array
            A new report of each, which is kept and returned where the place is new, and else forgotten.
        secure : bool
            Whether they were drawn with secure randomness. Those made with a seed are never repeated
            among those that were not.
        """
        spec = json.dumps(mechanism.spec(), sort_keys=True).encode()
        digest = hashlib.sha256(pack(spec, b"secure" if secure else b"seeded")).digest()
        keys = [pack(_PLACES, key) for key in person_keys(list(people))]
        size, fresh = mechanism.report_bytes, mechanism.encode(drawn)
        marks = np.ascontiguousarray(locations + 0.0, "<f8")  # 0.0 and -0.0 are one place
        kept, is_new = list[bytes](), np.zeros(len(drawn), np.bool_)
        with self.store.transaction() as records:
            records.recall(_MECHANISMS, digest, lambda: spec)
            for visit, owner in enumerate(owners.tolist()):

                def make(visit: int = visit) -> bytes:
                    is_new[visit] = True
                    return fresh[visit * size : (visit + 1) * size]

                kept.append(records.recall(keys[owner], digest + marks[visit].tobytes(), make))
            paid = [self._paid(records, key, {digest: mechanism}) for key in keys]
        if any(len(each) != size for each in kept):
            raise self.store.damaged()
        return mechanism.decode(b"".join(kept)), is_new, paid

    def _paid(self, records: Records, owner: bytes, known: dict[bytes, Mechanism]) -> Paid:
        """Return how many places a person has paid for, by mechanism."""
        counts = Counter(key[:_DIGEST_BYTES] for key in records.charges(owner))
        return tuple((self._mechanism(records, digest, known), counts[digest]) for digest in sorted(counts))

    def _mechanism(self, records: Records, digest: bytes, known: dict[bytes, Mechanism]) -> Mechanism:
        if digest not in known:

            def missing() -> bytes:
                raise self.store.damaged()

            known[digest] = from_spec(json.loads(records.recall(_MECHANISMS, digest, missing)))
        return known[digest]
