"""Report files: what is written is read back, and nothing else is."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import ldpkit
from files.reports import ORACLES, described, made, sealed, write
from ldpkit.core.errors import FileFormatError, InvalidInputError, MismatchError
from ldpkit.core.provenance import Provenance, Span
from ldpkit.files import reportfile, reportparts
from ldpkit.files.reportfile import ReportFile, ReportWriter, tally_file

FIRST = (  # a file of the first version, which tells nothing of how it was made
    "4c4450520100690000007b226d656368616e69736d223a22677272222c22706172616d6574657273223a7b2265707369"
    "6c6f6e223a312e307d2c22646f6d61696e223a5b226e6f222c22796573225d2c227265636f72645f6c656e677468223a"
    "312c226c64706b6974223a22302e312e30227d6a75c295040000003889e3800100010000000000040000000000000095"
    "c89fff"
)


@pytest.mark.parametrize("oracle", ORACLES)
def test_reports_come_back_as_they_were(tmp_path, oracle):
    reports = made(oracle, 1000)
    write(tmp_path / "a.ldp", oracle, reports[:7], reports[7:7], reports[7:])
    file = ReportFile.open(tmp_path / "a.ldp")
    assert (file.mechanism, file.n, file.version) == (oracle, 1000, 1)
    assert file.written_by == ldpkit.__version__
    assert file.size == (tmp_path / "a.ldp").stat().st_size
    assert (np.concatenate(list(file.reports())) == reports).all()
    assert tally_file(tmp_path / "a.ldp") == oracle.tally(reports)


def test_the_bytes_do_not_depend_on_how_the_writes_are_cut(tmp_path, monkeypatch):
    oracle = ORACLES[1]
    reports = made(oracle, 300_000)
    monkeypatch.setattr(reportfile, "new_batch", lambda: "0" * 32)
    whole = write(tmp_path / "a.ldp", oracle, reports)
    cut = write(tmp_path / "b.ldp", oracle, *np.array_split(reports, 17))
    assert whole == cut
    file = ReportFile.open(tmp_path / "a.ldp")
    assert file.blocks == 3
    assert max(len(chunk) for chunk in file.reports()) * oracle.report_bytes <= 1 << 20


def test_a_file_without_reports_is_a_file(tmp_path):
    for oracle in ORACLES:
        write(tmp_path / "none.ldp", oracle)
        assert ReportFile.open(tmp_path / "none.ldp").n == 0
        assert tally_file(tmp_path / "none.ldp").n == 0


def test_golden_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(reportparts, "__version__", "0.1.0")
    monkeypatch.setattr(reportfile, "new_batch", lambda: "0123456789abcdef" * 2)
    oracle, rng = ldpkit.GRR(["no", "yes"], epsilon=1.0), ldpkit.random.seeded(1)
    with ReportWriter(tmp_path / "a.ldp", oracle, provenance=Provenance.of(rng, domain="stated")) as writer:
        writer.write(oracle.privatize(["yes", "no", "yes", "yes"], rng=rng))
    first = bytes.fromhex(FIRST)
    length = 10 + struct.unpack_from("<I", first, 6)[0]
    told = b',"randomness":"seeded","domain_source":"stated","batch":"0123456789abcdef0123456789abcdef"}'
    golden = sealed(first[10 : length - 1] + told, blocks=first[length + 4 : -16], n=4)
    assert (tmp_path / "a.ldp").read_bytes() == golden  # all else is as in the first version


def test_a_file_of_the_first_version_is_read_with_everything_unknown(tmp_path):
    (tmp_path / "a.ldp").write_bytes(bytes.fromhex(FIRST))
    file = ReportFile.open(tmp_path / "a.ldp")
    assert (file.n, file.batch, file.provenance) == (4, None, Provenance())
    assert file.tally() + file.tally() == file.tally() + tally_file(tmp_path / "a.ldp")  # nothing tells


def test_a_file_made_by_hand_from_the_documentation_is_read(tmp_path):
    records = bytes([3, 0, 2])
    block = struct.pack("<II", 3, zlib.crc32(records)) + records
    (tmp_path / "a.ldp").write_bytes(sealed(described(extra="ignored"), blocks=block, n=3))
    assert tally_file(tmp_path / "a.ldp").counts.tolist() == [1, 0, 1, 1]


def test_no_flipped_byte_goes_unnoticed(small):
    path, data = small
    assert tally_file(path).n == 5
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            with pytest.raises(FileFormatError) as caught:
                tally_file(path)
            assert caught.value.offset is not None
            assert caught.value.offset <= len(data)


def test_no_truncation_goes_unnoticed(small):
    path, data = small
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileFormatError, match="truncated" if length else "empty") as caught:
            ReportFile.open(path)
        assert caught.value.offset == length


def test_rubbish_behind_the_end_is_refused(small):
    path, data = small
    for rubbish in (b"\0", data, b"\0" * 16):
        path.write_bytes(data + rubbish)
        with pytest.raises(FileFormatError, match="follow its end") as caught:
            ReportFile.open(path)
        assert caught.value.offset == len(data)


def test_a_lost_or_doubled_block_is_refused(small):
    path, data = small
    start = 14 + struct.unpack_from("<I", data, 6)[0]
    block = data[start : start + 8 + 3 * 9]
    for blocks in (b"", block + block):
        path.write_bytes(data[:start] + blocks + data[start + len(block) :])
        with pytest.raises(FileFormatError, match="should hold 5"):
            tally_file(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\n", "does not begin with LDPR"),
        (b"LDPT" + bytes(40), "does not begin with LDPR"),
        (sealed(described(), version=2), "version 2, this ldpkit reads version 1"),
        (sealed(described(mechanism="no_such")), "'no_such', which is not known here: load its plugin"),
        (sealed(described(mechanism=7)), "cannot be used"),
        (sealed(described(domain=1)), "at least 2 values"),
        (sealed(described(domain={"a": 1})), "cannot be used"),
        (sealed(described(parameters={"epsilon": -1})), "epsilon must be positive"),
        (sealed(described(parameters=[1])), "cannot be used"),
        (sealed(described(parameters={"epsilon": 1, "more": 1})), "cannot be used"),
        (sealed(described(record_length=2)), "reports of 2 bytes"),
        (sealed(described(domain={"a": 1, "b": 2})), "cannot be used"),
        (sealed(described(randomness="best")), "randomness is one of secure, unknown, seeded"),
        (sealed(described(domain_source=["data"])), "domain is one of stated, unknown, data"),
        (sealed(described(devices=3)), "devices is one of kept, new, unknown"),
        (sealed(described(batch="me")), "32 hexadecimal digits"),
        (sealed(described(batch=7)), "32 hexadecimal digits"),
        (sealed(described().replace(b'"ldpkit"', b'"ldp"')), "a description without 'ldpkit': write it"),
        (sealed(b"[]"), "cannot be used"),
        (sealed(b"{}"), "cannot be used"),
        (sealed(b"{"), "cannot be used"),
        (sealed(b"\xff"), "cannot be used"),
        (sealed(b"[" * 100_000), "cannot be used"),
    ],
)
def test_foreign_files_are_refused(tmp_path, data, message):
    (tmp_path / "a.ldp").write_bytes(data)
    with pytest.raises(FileFormatError, match=message):
        ReportFile.open(tmp_path / "a.ldp")


def test_reports_that_the_mechanism_cannot_have_made_are_refused_with_their_place(tmp_path):
    records = bytes([3, 4])
    data = sealed(described(), blocks=struct.pack("<II", 2, zlib.crc32(records)) + records, n=2)
    (tmp_path / "a.ldp").write_bytes(data)
    with pytest.raises(FileFormatError, match="no report of GRR") as caught:
        tally_file(tmp_path / "a.ldp")
    assert data[caught.value.offset] == 4


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="No such file"):
        ReportFile.open(tmp_path / "none.ldp")
    with pytest.raises(InvalidInputError, match="directory"):
        ReportFile.open(tmp_path)
    with (
        pytest.raises(InvalidInputError, match="No such file"),
        ReportWriter(tmp_path / "a" / "b", ORACLES[0]),
    ):
        pass
    with pytest.raises(InvalidInputError, match="not a file"), ReportWriter(tmp_path, ORACLES[0]):
        pass


def test_what_is_recorded_comes_back_and_stays_with_the_tally(tmp_path):
    oracle, rng = ORACLES[0], ldpkit.random.seeded(1)
    made = Provenance.of(rng, domain="data", devices="new")
    with ReportWriter(tmp_path / "a.ldp", oracle, provenance=made) as writer:
        writer.write(oracle.privatize(["yes"] * 9, rng=rng))
    file = ReportFile.open(tmp_path / "a.ldp")
    assert (file.batch, len(file.batch)) == (writer.batch, 32)
    expected = Provenance("seeded", "data", "new", (Span(writer.batch, 0, 9),))
    assert file.provenance == file.tally().provenance == tally_file(file.path).provenance == expected
    again = ldpkit.Tally.from_bytes(file.tally().to_bytes())
    assert (again, again.provenance) == (file.tally(), expected)
    assert dict(file.tally().estimate().made_by) == {
        "mechanism": "grr",
        "epsilon": 2.0,
        "method": "mi",
        "randomness": "seeded",
        "domain_source": "data",
        "devices": "new",
    }


def test_parts_of_a_file_add_and_no_report_counts_twice(small, tmp_path):
    path, _ = small
    file = ReportFile.open(path)
    parts = [file.tally(stop=1), file.tally(start=1, stop=4), file.tally(start=4)]
    assert [part.n for part in parts] == [1, 3, 1]
    assert sum(parts) == file.tally()
    assert sum(parts).provenance == file.provenance
    (tmp_path / "copy.ldp").write_bytes(path.read_bytes())
    for other in (tally_file(tmp_path / "copy.ldp"), file.tally(start=3)):
        with pytest.raises(MismatchError, match=r"reports \d to \d of batch .* are there twice"):
            _ = file.tally(stop=4) + other
    with pytest.raises(InvalidInputError, match="not in a file of 5"):
        file.tally(start=3, stop=6)


def test_blocks_that_are_not_asked_for_are_not_read(small):
    path, data = small
    damaged = bytearray(data)
    damaged[-30] ^= 1  # in the second block, which has reports 3 and 4
    path.write_bytes(damaged)
    assert ReportFile.open(path).tally(stop=3).n == 3
    with pytest.raises(FileFormatError, match="checksum of a block"):
        ReportFile.open(path).tally(stop=4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_to_which_nobody_writes_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    script = "import sys, ldpkit; ldpkit.ReportFile.open(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "pipe")], capture_output=True, text=True, timeout=60
    )
    assert "is not a file on a disk: save the reports first" in done.stderr


def test_a_nul_in_a_path_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="check the path"):
        ReportFile.open(f"{tmp_path}/a\0b")
    with (
        pytest.raises(InvalidInputError, match="a NUL in the name"),
        ReportWriter(f"{tmp_path}/a\0b", ORACLES[0]),
    ):
        pass


def test_only_the_reports_of_a_file_are_counted_under_its_name(tmp_path):
    """Chunks from elsewhere became a tally with the batch of the file."""
    oracle = ldpkit.GRR(2, epsilon=2.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(np.zeros(10, oracle.report_dtype))
    file = ReportFile.open(tmp_path / "a.ldp")
    seen = []

    def watch(passing, total, label):
        assert (total, label) == (1, "counting a.ldp")
        for length in passing:
            seen.append(length)
            yield from (np.ones(length, oracle.report_dtype), 3)  # whatever it says

    assert file.tally(watch) == file.tally()
    assert seen == [10]
    with pytest.raises(InvalidInputError, match="stopped after 0 of the 10"):
        file.tally(lambda passing, *_: (length for length in passing if length > 10))
