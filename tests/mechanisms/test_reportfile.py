"""Report files: what is written is read back, and nothing else is."""

from __future__ import annotations

import json
import os
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
from ldpkit.core.errors import FileFormatError, InvalidInputError, MismatchError, WriteError
from ldpkit.core.provenance import Provenance, Span
from ldpkit.core.wholefile import whole_file
from ldpkit.files import reportfile, reportparts
from ldpkit.files.reportfile import ReportFile, ReportWriter, tally_file

ORACLES = [
    ldpkit.GRR(["no", "yes"], epsilon=2.0),
    ldpkit.OLH(10, epsilon=1.0),
    ldpkit.BLH(10, epsilon=1.0),
    ldpkit.OUE(11, epsilon=1.0),
    ldpkit.SUE(9, epsilon=1.0),
    ldpkit.SS(20, epsilon=1.0),
]

FIRST = (  # a file of the first version, which tells nothing of how it was made
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
        (sealed(described(mechanism="no_such")), "'no_such', which is not known here: load the plugin"),
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

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(WriteError, match=r"No space.*make room"),
        ReportWriter(tmp_path / "a.ldp", ORACLES[0]) as writer,
    ):
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
        from ldpkit.files.reportfile import ReportWriter
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


# --- how reports were made, and which they are ----------------------------------------------


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


def test_a_writer_writes_one_file(tmp_path):
    writer = ReportWriter(tmp_path / "a.ldp", ORACLES[0])
    with writer:
        writer.write(np.array([1]))
    before = (tmp_path / "a.ldp").read_bytes()
    with pytest.raises(InvalidInputError, match="make a new ReportWriter"), writer:
        pass
    assert (tmp_path / "a.ldp").read_bytes() == before


def test_half_a_block_never_becomes_a_file(tmp_path, monkeypatch):
    """Who catches the error of a full disk and goes on must not get a file that cannot be read."""
    oracle = ldpkit.GRR(300, epsilon=1.0)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    def careless() -> None:
        with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
            monkeypatch.setattr(type(writer._stream.raw).__mro__[0], "write", full)
            with pytest.raises(OSError, match="No space"):
                writer.write(np.zeros(1_000_000, np.uint16))
            monkeypatch.undo()

    with pytest.raises(WriteError, match="could not be written"):
        careless()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_refused_with_a_remedy(tmp_path):
    script = """
        import resource, signal, sys
        import numpy as np, ldpkit
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            with ldpkit.ReportWriter(sys.argv[1], ldpkit.GRR(4, epsilon=1.0)) as writer:
                writer.write(np.zeros(3_000_000, np.uint8))
        except ldpkit.LdpkitError as error:
            print(type(error).__name__, error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "a.ldp")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.startswith("WriteError cannot write")
    assert "make room, or choose another folder" in out
    assert list(tmp_path.iterdir()) == []


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
    with pytest.raises(InvalidInputError, match="a NUL stands"), ReportWriter(f"{tmp_path}/a\0b", ORACLES[0]):
        pass


# --- what a file may ask for -----------------------------------------------------------------


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


def test_only_the_reports_of_a_file_are_counted_under_its_name(tmp_path):
    """Chunks from elsewhere became a tally with the batch of the file."""
    oracle = ldpkit.GRR(2, epsilon=2.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(np.zeros(10, oracle.report_dtype))
    file = ReportFile.open(tmp_path / "a.ldp")
    seen = []

    def watch(passing):
        for length in passing:
            seen.append(length)
            yield from (np.ones(length, oracle.report_dtype), 3)  # whatever it says

    assert file.tally(watch) == file.tally()
    assert seen == [10]
    with pytest.raises(InvalidInputError, match="stopped after 0 of the 10"):
        file.tally(lambda passing: (length for length in passing if length > 10))
