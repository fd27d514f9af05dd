"""Small files that once took seconds, gigabytes or the process, and honest ones that were refused."""

from __future__ import annotations

import base64

import pytest

from files import parquetforging as forge
from ldpkit.core import limits
from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.files.arrow import open_parquet
from ldpkit.files.readers import ColumnStream, read_column, row_count

pa = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

_NUMBER = forge.column("v", forge.INT64)
_EIGHT = forge.page(bytes(8), 1)


@pytest.fixture
def write(tmp_path):
    """Write bytes to a file and return its path."""

    def write(data):
        path = tmp_path / "a.parquet"
        path.write_bytes(data)
        assert len(data) < 1024
        return path

    return write


def _report_rows(path):
    opened = open_parquet(path)
    return sum(len(batch) for batch in opened.batches([opened.names[0]], 1 << 18))


READERS = pytest.mark.parametrize("read", [read_column, lambda path: list(ColumnStream(path)), _report_rows])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("total_byte_size", {"group": {2: forge.Long(1 << 31)}}),
        ("total_compressed_size", {"group": {6: forge.Long(1 << 31)}}),
        ("encryption_algorithm", {"more": {8: {1: {2: "abcdefgh"}}}}),  # of another column
    ],
)
def test_what_a_footer_says_beside_is_left_out(write, name, options):
    """Files of more than 2 GiB were refused; asked to write such a footer again, Arrow ends the process."""
    data = forge.file([_NUMBER], [forge.chunk(_NUMBER, _EIGHT, 1)], 1, _EIGHT, **options)
    if name == "encryption_algorithm":  # the footer has a signature, which nobody can check
        data = (
            data[:-8]
            + bytes(28)
            + (int.from_bytes(data[-8:-4], "little") + 28).to_bytes(4, "little")
            + b"PAR1"
        )
    assert read_column(write(data)).tolist() == [0]
    assert row_count(write(data)) == 1


@READERS
@pytest.mark.parametrize("name", forge.GREEDY)
def test_what_pages_ask_for_is_refused_before_it_is_taken(write, read, name):
    """Each took up to 8.6 GB, or five seconds."""
    with pytest.raises(InvalidInputError, match=r"takes \d+ MiB of memory, a file of \d+ bytes may take 256"):
        read(write(forge.GREEDY[name]))


@READERS
def test_a_long_list_in_the_footer_is_refused_before_there_is_room_for_it(write, read):
    """45 bytes took 683 MB: room for a million columns of a row group."""
    long = (9, b"\x1c\x19\xfc" + forge.varint(999_999))
    data = forge.file([_NUMBER], [forge.chunk(_NUMBER, b"", 1)], 1, b"", more={4: long})
    with pytest.raises((InvalidInputError, FileFormatError), match="not a Parquet file"):
        read(write(data))


def test_text_that_no_dictionary_may_be_made_of_is_read_in_short_batches(monkeypatch, write):
    """A column whose name is also that of a nested one took 200 kB for each of 20,000 rows at once."""
    rows, value = 2000, b"y" * 100_000
    packed = pa.compress(len(value).to_bytes(4, "little") + value, "brotli", asbytes=True)
    first = forge.keys(packed, 1, unpacks_to=len(value) + 4)
    places = b"\1" + forge.runs(0, rows, 1)
    text = first + forge.page(pa.compress(places, "brotli", asbytes=True), rows, 8, unpacks_to=len(places))
    zeros = pa.compress(bytes(8 * rows), "brotli", asbytes=True)
    numbers = forge.page(zeros, rows, unpacks_to=8 * rows)
    about = forge.column("a", forge.BYTES)
    chunks = [
        forge.chunk(about, text, rows, codec=forge.BROTLI, dictionary=len(first)),
        forge.chunk(forge.column("a", forge.INT64), numbers, rows, codec=forge.BROTLI, at=4 + len(text)),
    ]
    path = write(forge.file([about, forge.column("a", forge.INT64)], chunks, rows, text + numbers))
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 24)
    lengths = [len(batch) for batch in open_parquet(path).batches(["a"], 1 << 18)]
    assert (sum(lengths), max(lengths)) == (rows, (1 << 24) // 4 // (len(value) + 4))


def test_a_value_that_ends_in_nul_is_refused_and_not_taken_for_another(tmp_path):
    """Arrays of text are filled up with NUL: "a" and such a value were one label."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"v": ["a\0b", "a", "a\0"]}), path)
    with pytest.raises(InvalidInputError, match=r"row 3: the value 'a\\x00' ends in a NUL character"):
        read_column(path)


def test_types_with_a_name_of_their_own_are_read_as_what_they_hold(tmp_path):
    path = tmp_path / "a.parquet"
    ids = [bytes([200] * 16), b"0123456789abcdef"]
    pq.write_table(pa.table({"v": pa.array(ids, pa.uuid())}), path)
    assert read_column(path).tolist() == [
        "c8c8c8c8-c8c8-c8c8-c8c8-c8c8c8c8c8c8",
        "30313233-3435-3637-3839-616263646566",
    ]
    storage = pa.array([1, 0, 1], pa.int8())
    pq.write_table(pa.table({"v": pa.ExtensionArray.from_storage(pa.bool8(), storage)}), path)
    assert read_column(path).tolist() == [1, 0, 1]


def test_an_encrypted_column_is_called_that_and_others_are_read(tmp_path):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def wrap_key(self, key_bytes, master_key_identifier):
            return base64.b64encode(key_bytes)

        def unwrap_key(self, wrapped_key, master_key_identifier):
            return base64.b64decode(wrapped_key)

    factory = encryption.CryptoFactory(lambda _: Keys())
    wanted = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["b"]}, plaintext_footer=True
    )
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), wanted)
    path, table = tmp_path / "a.parquet", pa.table({"a": [1, 2], "b": [3, 4]})
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    assert read_column(path, "a").tolist() == [1, 2]
    with pytest.raises(InvalidInputError, match="is encrypted: write the column without encryption"):
        read_column(path, "b")


def test_long_text_is_refused_by_its_length(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"v": ["a", "é" * 1000]}), path)
    with pytest.raises(InvalidInputError, match=r"row 2: the value 'éééé.* has 2,000 bytes: a label has"):
        read_column(path)
