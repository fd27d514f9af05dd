"""Collection files on disk: TOML or JSON in, canonical JSON with a signature out."""

from __future__ import annotations

from pathlib import Path

from ldpkit.client.canonical import canonical
from ldpkit.client.collection import Collection, signed_message
from ldpkit.client.promises import Totals
from ldpkit.client.signing import ALGORITHM, PublicKey, SigningKey, to_base64url
from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.core.smallfile import read_small_file
from ldpkit.protocols.collection.building import check_collection, compile_toml
from ldpkit.protocols.collection.written import read_toml

__all__ = [
    "expected_people",
    "load_collection",
    "people_of",
    "read_collection_file",
    "seal",
    "stated_promises",
]


def read_collection_file(path: str | Path) -> bytes:
    """Return the bytes of a collection file, TOML or JSON, or refuse what cannot be one."""
    return read_small_file(path, "the collection")


def load_collection(path: str | Path, *, public_key: bytes | str | PublicKey | None = None) -> Collection:
    """Return the collection of a TOML or JSON file, with every promise recomputed from its mechanisms.

    Parameters
    ----------
    path : path
        A .toml file that a person wrote, or the .json file that devices get.
    public_key : bytes or str, optional
        The only key whose signature is good.
    """
    file = Path(path)
    data = read_collection_file(file)
    if file.suffix.lower() == ".toml":
        if public_key is not None:
            raise InvalidInputError(
                f"{str(path)!r} is not signed: only the .json file of 'collection sign' is"
            )
        return compile_toml(data, str(path))
    if not data.lstrip().startswith(b"{"):
        kind = "a report file, not a collection" if data.startswith(b"LDPR") else "not a collection"
        raise FileFormatError(
            f"{str(path)!r} is {kind}: give a .toml file, or the .json of 'collection sign'"
        )
    collection = Collection.read(data, public_key=public_key)
    check_collection(collection)
    return collection


def seal(collection: Collection, key: SigningKey | None = None) -> bytes:
    """Return the envelope that devices get, signed if a key is given.

    Examples
    --------
    >>> from ldpkit.client.signing import SigningKey
    >>> made = compile_toml(b'''
    ... id = "a"
    ... version = 1
    ... purpose = "To see."
    ... rounds = {every = "once", start = 2026-12-01}
    ... questions = [{id = "q", text = "Yes?", domain = ["no", "yes"], mechanism = "grr", epsilon = 1}]
    ... ''')
    >>> key = SigningKey.new()
    >>> Collection.read(seal(made, key), public_key=str(key.public)).checked[:9]
    'signed by'
    """
    envelope: dict[str, object] = {"collection": collection.form}
    if key is not None:
        value = to_base64url(key.sign(signed_message(collection.form)))
        envelope["signature"] = {"algorithm": ALGORITHM, "key": str(key.public), "value": value}
    return canonical(envelope) + b"\n"


def expected_people(path: str | Path) -> int | None:
    """Return how many people a TOML file expects, if it says so."""
    file = Path(path)
    if file.suffix.lower() != ".toml":
        return None
    return people_of(read_collection_file(file), str(path))


def people_of(text: bytes, name: str = "") -> int | None:
    """Return how many people the text of a TOML file expects, if it says so."""
    people = read_toml(text, name).data.get("people")
    return people if isinstance(people, int) and people > 0 else None


def stated_promises(path: str | Path) -> tuple[str, ...]:
    """Return for what a file states a promise: report, round, lifetime; devices get a file with all three."""
    file, names = Path(path), tuple(Totals.__dataclass_fields__)
    if file.suffix.lower() != ".toml":
        return names
    written = read_toml(read_collection_file(file), str(path)).data.get("promise", {})
    return tuple(name for name in names if name in written)
