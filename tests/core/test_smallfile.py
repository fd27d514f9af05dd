"""Small files: read whole, or refused before anything is read."""

from __future__ import annotations

import os

import pytest

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.smallfile import read_small_file


def test_only_files_are_read_and_only_so_far(tmp_path):
    file, pipe = tmp_path / "a", tmp_path / "pipe"
    file.write_bytes(b"1234")
    os.mkfifo(pipe)
    assert read_small_file(file, "the key", most=4) == b"1234"
    for path, told in (
        (pipe, "is not a file on a disk: save the key first"),
        ("/dev/zero", "is not a file on a disk: save the key first"),
        (tmp_path, "is a directory: give the file with the key"),
        (tmp_path / "none", "No such file or directory: check the path"),
        (f"{file}\0", "null byte: check the path"),
    ):
        with pytest.raises(InvalidInputError, match=f"{told}$"):
            read_small_file(path, "the key")
    with pytest.raises(InvalidInputError, match="has more than the 3 bytes that are read"):
        read_small_file(file, "the key", most=3)
