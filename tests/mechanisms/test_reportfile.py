"""Report files: what is written is read back, and nothing else is."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
import textwrap
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidInputError
from ldpkit.core.wholefile import whole_file
from ldpkit.mechanisms import reportfile
from ldpkit.mechanisms.reportfile import ReportFile, ReportWriter, tally_file

ORACLES = [
    ldpkit.GRR(["no", "yes"], epsilon=2.0),
    ldpkit.OLH(10, epsilon=1.0),
    ldpkit.BLH(10, epsilon=1.0),
    ldpkit.OUE(11, epsilon=1.0),
    ldpkit.SUE(9, epsilon=1.0),
    ldpkit.SS(20, epsilon=1.0),
]

GOLDEN = (
    "4c4450520100690000007b226d656368616e69736d223a22677272222c22706172616d6574657273223a7b2265707369"
    "6c6f6e223a312e307d2c22646f6d61696e223a5b226e6f222c22796573225d2c227265636f72645f6c656e677468223a"
    "312c226c64706b6974223a22302e312e30227d6a75c295040000003889e3800100010000000000040000000000000095"
    "c89fff"
)


def write(path: Path, oracle: ldpkit.FrequencyOracle, *parts: np.ndarray) -> bytes:
    with ReportWriter(path, oracle) as writer:
        for part in parts:
            writer.write(part)
    return path.read_bytes()


def write_interrupted(path: Path, interruption: type[BaseException]) -> None:
    with ReportWriter(path, ORACLES[0]) as writer:
        writer.write(np.array([0, 1, 0]))
        raise interruption


def made(oracle: ldpkit.FrequencyOracle, n: int, seed: int = 1) -> np.ndarray:
    return oracle.privatize(np.arange(n) % len(oracle.domain), rng=ldpkit.random.seeded(seed))


def sealed(description: bytes, *, version: int = 1, blocks: bytes = b"", n: int = 0) -> bytes:
    """A file with right checksums, as another program would write it from the documentation."""
    head = b"LDPR" + struct.pack("<HI", version, len(description)) + description
    end = struct.pack("<IQ", 0, n)
    return b"".join(
        [head, struct.pack("<I", zlib.crc32(head)), blocks, end, struct.pack("<I", zlib.crc32(end))]
    )


def described(**changes: object) -> bytes:
    plain = {"mechanism": "grr", "parameters": {"epsilon": 1.0}, "domain": 4}
    plain |= {"record_length": 1, "ldpkit": "0.1.0"}
    return json.dumps(plain | changes).encode()


@pytest.fixture
def small(tmp_path):
    """A file of two blocks, and its bytes."""
    oracle = ORACLES[1]
    path = tmp_path / "small.ldp"
    with ReportWriter(path, oracle) as writer:
        writer._block_length = 3 * oracle.report_bytes  # blocks of three reports instead of a megabyte
        writer.write(made(oracle, 5))
    return path, path.read_bytes()


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


def test_the_bytes_do_not_depend_on_how_the_writes_are_cut(tmp_path):
    oracle = ORACLES[1]
    reports = made(oracle, 300_000)
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
    monkeypatch.setattr(reportfile, "__version__", "0.1.0")
    oracle = ldpkit.GRR(["no", "yes"], epsilon=1.0)
    reports = oracle.privatize(["yes", "no", "yes", "yes"], rng=ldpkit.random.seeded(1))
    assert write(tmp_path / "a.ldp", oracle, reports).hex() == GOLDEN


def test_a_file_made_by_hand_from_the_documentation_is_read(tmp_path):
    records = bytes([3, 0, 2])
    block = struct.pack("<II", 3, zlib.crc32(records)) + records
    (tmp_path / "a.ldp").write_bytes(sealed(described(extra="ignored"), blocks=block, n=3))
    assert tally_file(tmp_path / "a.ldp").counts.tolist() == [1, 0, 1, 1]


def test_no_flipped_byte_goes_unnoticed(small):
    path, data = small
    assert tally_file(path).n == 5
    for position in range(len(data)):
        for flip in (*(1 << bit for bit in range(8)), 0xFF):
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
        (sealed(described(mechanism="no_such")), "'no_such', which is not known here: load the plugin"),
        (sealed(described(mechanism=7)), "cannot be used"),
        (sealed(described(domain=1)), "at least 2 values"),
        (sealed(described(domain={"a": 1})), "cannot be used"),
        (sealed(described(parameters={"epsilon": -1})), "epsilon must be positive"),
        (sealed(described(parameters=[1])), "cannot be used"),
        (sealed(described(parameters={"epsilon": 1, "more": 1})), "cannot be used"),
        (sealed(described(record_length=2)), "reports of 2 bytes"),
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


@pytest.mark.parametrize("length", [0xFFFFFFFF, (1 << 28) + 1, 1 << 20])
def test_an_absurd_header_is_refused_before_memory_is_asked_for(tmp_path, length, monkeypatch):
    (tmp_path / "a.ldp").write_bytes(b"LDPR" + struct.pack("<HI", 1, length) + bytes(100))
    asked = []
    read = reportfile._Reader.read
    monkeypatch.setattr(reportfile._Reader, "read", lambda self, n: asked.append(n) or read(self, n))
    with pytest.raises(FileFormatError, match=r"truncated|damaged"):
        ReportFile.open(tmp_path / "a.ldp")
    assert asked[0] == 10
    assert asked[1:] in ([], [length])  # the second read compares with the file first


def test_an_absurd_block_is_refused(tmp_path):
    (tmp_path / "a.ldp").write_bytes(sealed(described(), blocks=struct.pack("<II", 1 << 30, 0)))
    with pytest.raises(FileFormatError, match="block of 1073741824 bytes"):
        ReportFile.open(tmp_path / "a.ldp")


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


def test_a_device_is_never_replaced():
    with pytest.raises(InvalidInputError, match="not a file"), whole_file("/dev/null"):
        pass
    assert Path("/dev/null").is_char_device()


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", ORACLES[0], np.array([1]))
    assert (tmp_path / "link").is_symlink()
    assert ReportFile.open(tmp_path / "target").n == 1


def test_a_foreign_report_is_refused_and_no_file_appears(tmp_path):
    with pytest.raises(InvalidInputError, match="report 0 is none"):
        write(tmp_path / "a.ldp", ORACLES[0], np.array([0, 1]), np.array([2]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_neither_file_nor_litter(tmp_path, interruption):
    with pytest.raises(interruption):
        write_interrupted(tmp_path / "a.ldp", interruption)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_leaves_the_old_file_alone(tmp_path):
    before = write(tmp_path / "a.ldp", ORACLES[0], np.array([1]))
    with pytest.raises(RuntimeError):
        write_interrupted(tmp_path / "a.ldp", RuntimeError)
    assert (tmp_path / "a.ldp").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failure_at_the_very_end_leaves_nothing(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reportfile.os, "fsync", full)
    with pytest.raises(OSError, match="No space"), ReportWriter(tmp_path / "a.ldp", ORACLES[0]) as writer:
        writer.write(np.array([1]))
    assert list(tmp_path.iterdir()) == []


def test_writing_after_the_end_is_refused(tmp_path):
    with ReportWriter(tmp_path / "a.ldp", ORACLES[0]) as writer:
        writer.write(np.array([1]))
    with pytest.raises(InvalidInputError, match="not open"):
        writer.write(np.array([1]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
def test_a_killed_process_leaves_no_complete_file(tmp_path, number):
    script = """
        import sys, time
        import numpy as np, ldpkit
        from ldpkit.mechanisms.reportfile import ReportWriter
        oracle = ldpkit.GRR(4, epsilon=1.0)
        with ReportWriter(sys.argv[1], oracle) as writer:
            writer.write(np.zeros(3_000_000, np.uint8))
            print("writing", flush=True)
            time.sleep(60)
    """
    target = tmp_path / "a.ldp"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        time.sleep(0.05)  # let it fall asleep
        process.send_signal(number)
        assert process.wait(timeout=30) != 0
    left = list(tmp_path.iterdir())
    assert target not in left
    if number == signal.SIGINT:
        assert left == []
    for part in left:  # nobody can clean up after SIGKILL, but what is left is no report file
        with pytest.raises(FileFormatError, match="truncated"):
            ReportFile.open(part)
