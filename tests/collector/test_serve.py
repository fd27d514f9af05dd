"""What a service says to the person who starts it."""

from __future__ import annotations

from client.collecting import collection_file
from collector.inside import inside
from ldpkit.client.collection import Collection
from ldpkit.client.signing import SigningKey
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.serve import tell_collections
from ldpkit.protocols.collection.files import seal


def test_a_collection_that_is_not_signed_is_told(tmp_path):
    warning = "  not signed: devices cannot tell who asks; see ldpkit collection sign"
    with inside(SqliteDatabase(tmp_path / "collector.db"), collection_file()) as service:
        plain, signed = list[str](), list[str]()
        tell_collections(service.service, [], "http://localhost:8000", plain.append)
        service.service.add(seal(Collection.read(collection_file()), SigningKey.new()))
        tell_collections(service.service, [], "http://localhost:8000", signed.append)
    assert [each for each in plain if each != warning] == signed
    assert plain.count(warning) == 1
