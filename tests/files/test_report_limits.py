"""What a report file may ask of its reader: memory and arguments."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest

import ldpkit
from files.reports import ORACLES, described, sealed, write
from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.files import reportparts
from ldpkit.files.reportfile import ReportFile, tally_file


@pytest.mark.parametrize("length", [0xFFFFFFFF, (1 << 28) + 1, 1 << 20])
def test_an_absurd_header_is_refused_before_memory_is_asked_for(tmp_path, length, monkeypatch):
    (tmp_path / "a.ldp").write_bytes(b"LDPR" + struct.pack("<HI", 1, length) + bytes(100))
    asked = []
    read = reportparts.Reader.read
    monkeypatch.setattr(reportparts.Reader, "read", lambda self, n: asked.append(n) or read(self, n))
    with pytest.raises(FileFormatError, match=r"truncated|damaged"):
        ReportFile.open(tmp_path / "a.ldp")
    assert asked[0] == 10
    assert asked[1:] in ([], [length])  # the second read compares with the file first


def test_an_absurd_block_is_refused(tmp_path):
    (tmp_path / "a.ldp").write_bytes(sealed(described(), blocks=struct.pack("<II", 1 << 30, 0)))
    with pytest.raises(FileFormatError, match="block of 1073741824 bytes"):
        ReportFile.open(tmp_path / "a.ldp")


def test_a_header_reaches_no_further_argument(tmp_path):
    """A file that named a cache for AAA's tables made its reader create folders and solve a program."""
    target = tmp_path / "made" / "by" / "a" / "reader"
    plain = {"mechanism": "aaa", "domain": [0, 1], "record_length": 1}
    for parameters in (
        {"epsilon": 1.0, "cache": str(target)},
        {"epsilon": 1.0, "intervals": 300, "time_limit": 1e9},
        {"epsilon": 1.0, "intervals": 1e9},
        {"epsilon": 1.0},
        {"epsilon": 1.0, "outputs": None, "weights": None},
        {"epsilon": 1.0, "descriptor": [0.5, 0.5]},
    ):
        (tmp_path / "a.ldp").write_bytes(sealed(described(**plain, parameters=parameters)))
        with pytest.raises(FileFormatError, match="cannot be used"):
            ReportFile.open(tmp_path / "a.ldp")
    assert not (tmp_path / "made").exists()


def test_a_header_makes_nobody_solve_for_the_optimal_table(tmp_path):
    plain = {"mechanism": "optimal", "domain": [0, 1], "record_length": 1}
    good = ldpkit.get("optimal", (0, 1), epsilon=1.0, intervals=2).spec()["parameters"]
    for parameters in (
        {"epsilon": 1.0},
        {"epsilon": 1.0, "intervals": 128, "power": 1.0},
        {"epsilon": 1.0, "outputs": None, "weights": None},
        {**good, "time_limit": 1e9},
        {**good, "intervals": 3},
        {**good, "weights": good["weights"] * (1 << 14)},
    ):
        (tmp_path / "a.ldp").write_bytes(sealed(described(**plain, parameters=parameters)))
        with pytest.raises(FileFormatError, match=r"cannot be used|too long|header"):
            ReportFile.open(tmp_path / "a.ldp")


@pytest.mark.parametrize(
    "outputs", [["a", "b"], "-12", [0, float("inf")], [0, 10**400], [0.5, 2], [True, 2], 3]
)
def test_outputs_of_a_table_that_are_no_numbers_are_refused(tmp_path, outputs):
    good = ldpkit.AAA((0, 1), epsilon=1.0, intervals=2).spec()
    forged = {**good, "parameters": {**good["parameters"], "outputs": outputs}}
    (tmp_path / "a.ldp").write_bytes(sealed(described(**forged)))
    with pytest.raises(FileFormatError, match="cannot be used"):
        ReportFile.open(tmp_path / "a.ldp")
    header = json.dumps({**forged, "n": 0}).encode()
    tally = b"LDPT" + struct.pack("<HI", 1, len(header)) + header + bytes(8)
    with pytest.raises(FileFormatError, match="cannot be read"):
        ldpkit.Tally.from_bytes(tally + struct.pack("<I", zlib.crc32(tally)))


def test_counting_states_its_memory_before_it_takes_it(tmp_path, monkeypatch):
    """A file of some hundred bytes with many blocks and 2**26 values took 2.3 GB."""
    records = bytes(4)
    block = struct.pack("<II", 1, zlib.crc32(records)) + records
    domain = {"domain": 1 << 26, "record_length": 4}
    (tmp_path / "a.ldp").write_bytes(sealed(described(**domain), blocks=5 * block, n=5))
    file = ReportFile.open(tmp_path / "a.ldp")
    taken = []
    monkeypatch.setattr(np, "zeros", lambda *shape: taken.append(shape))
    with pytest.raises(InvalidInputError, match=r"takes 1536 MiB .* set LDPKIT_MEMORY=1536M"):
        file.tally()
    assert taken == []


def test_the_limit_of_memory_can_be_raised(tmp_path, monkeypatch):
    write(tmp_path / "a.ldp", ORACLES[0], np.array([1]))
    monkeypatch.setattr("ldpkit.core.limits._DEFAULT", 1)
    monkeypatch.setattr("ldpkit.core.limits._TIMES", 0)
    with pytest.raises(InvalidInputError, match="takes 1 MiB"):
        tally_file(tmp_path / "a.ldp")
    monkeypatch.setenv("LDPKIT_MEMORY", "1k")
    assert tally_file(tmp_path / "a.ldp").n == 1
    for nonsense in ("much", "-1", "1.5G", "9" * 30):
        monkeypatch.setenv("LDPKIT_MEMORY", nonsense)
        with pytest.raises(ldpkit.LdpkitError, match="LDPKIT_MEMORY is a number of bytes such as 500M"):
            tally_file(tmp_path / "a.ldp")


def test_small_blocks_are_counted_together(tmp_path, monkeypatch):
    """Each tally costs as much as the domain is large, so a block of one report must not make one."""
    block = struct.pack("<II", 1, zlib.crc32(b"\3")) + b"\3"
    (tmp_path / "a.ldp").write_bytes(sealed(described(), blocks=2000 * block, n=2000))
    made, tally = [], ldpkit.GRR.tally
    monkeypatch.setattr(ldpkit.GRR, "tally", lambda self, reports: made.append(1) or tally(self, reports))
    assert tally_file(tmp_path / "a.ldp").counts.tolist() == [0, 0, 0, 2000]
    assert len(made) == 1
