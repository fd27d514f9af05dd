"""One process as an engine, and what all engines share: groups, keys, bad rows, copies, refusals."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldpkit
from engines.lakes import DAYS, GRR, OLH, make_lake, values, write_table
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError, MismatchError
from ldpkit.engines import dask as on_dask
from ldpkit.engines.grouping import grouped
from ldpkit.engines.lake import find_files
from ldpkit.engines.local import likelihood, tally
from ldpkit.engines.partial import check_job
from ldpkit.engines.simulation import BLOCK, SimulatedUsers
from ldpkit.engines.spark import check_java, start_session
from ldpkit.engines.tallies import merge
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import decode_column, open_parquet, report_column

pytest.importorskip("dask", reason="the extra dask is not installed")
BY = ["question", "day", "region"]


def reports_of(path, mechanism):
    (batch,) = open_parquet(path).batches(["report"], 1 << 20)
    return decode_column(batch.column(0), mechanism).reports


def test_groups_come_from_folders_and_columns_and_are_tallies_of_their_reports(lake):
    folder, asked = lake
    found = tally(folder, asked, by=BY)
    assert len(found) == 2 * 2 * 3
    assert found.n == 8 * 3000
    for question, mechanism in asked.items():
        files = [
            folder / f"question={question}" / f"day={DAYS[0]}" / f"part-{part}.parquet" for part in (0, 1)
        ]
        south = np.concatenate([reports_of(file, mechanism)[1::3] for file in files])
        assert found[question, DAYS[0], "south"] == mechanism.tally(south)
        assert found[question, DAYS[1], None].n == 2000  # rows without a region are a group of their own
    assert found["app", DAYS[0], "south"].provenance.randomness == "secure"


def test_files_may_say_themselves_what_made_them(lake):
    folder, _ = lake
    found = tally(folder, by=["question"])
    assert found["app"].mechanism == OLH
    assert found["mood"].mechanism == GRR
    assert found["mood"].provenance.known == 4 * 3000
    with pytest.raises(LdpkitError, match=r"mood.* holds .*GRR.*, and .*app.*part-0.*OLH.*do not mix"):
        tally(folder)


@pytest.mark.parametrize("kind", ["binary", "large", "blocks"])
def test_every_layout_has_the_same_tallies(lake, tmp_path, kind):
    make_lake(tmp_path, kind=kind)
    by = ["question", "day"]
    assert dict(tally(tmp_path, by=by, blocks=kind == "blocks")) == dict(tally(lake[0], by=by))


def test_estimates_of_groups_are_one_frame(lake):
    folder, asked = lake
    found = tally(folder, asked, by=["question", "day"])
    estimates = found.estimate(consistency="norm_sub", level=0.9)
    rows = estimates.rows()
    assert len(rows) == 2 * (64 + 3)
    first = found["app", DAYS[0]].estimate(consistency="norm_sub").with_level(0.9).rows()[5]
    assert rows[5] == {"question": "app", "day": DAYS[0], **first, "value": "5"}
    assert found.to_frame("pandas")["question"].unique().tolist() == ["app", "mood"]
    assert "n=24000 reports in 4 groups" in str(estimates)


@pytest.mark.parametrize(
    "mechanism",
    [
        ldpkit.get("piecewise", (0, 10), epsilon=1),
        ldpkit.get(ldpkit.list_mechanisms(kind="circular")[0], 360, epsilon=1),
        ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=2),
        ldpkit.get("lolh", 20, epsilon_inf=2.0, epsilon_1=1.0),
    ],
    ids=lambda mechanism: mechanism.kind,
)
def test_numbers_circles_places_and_devices_with_memory(mechanism, tmp_path):
    held = [(0.2, 0.7)] * 90 if mechanism.kind == "spatial" else [3] * 90
    reports = mechanism.first_reports(held, rng=ldpkit.random.seeded(3))
    for part in range(2):
        write_table(
            tmp_path / f"{part}.parquet", mechanism, reports[part::2], shift=["day", "night", "day"] * 15
        )
    for engine in (tally, on_dask.tally):
        found = engine(tmp_path, by=["shift"])
        assert found.total() == mechanism.tally(reports)
        assert found.estimate().rows()[0]["shift"] == "day"


def test_bad_rows_are_refused_with_file_column_and_row_or_counted_by_group(tmp_path):
    reports = OLH.privatize(values(6, 64, 1), rng=ldpkit.random.seeded(1))
    cells = [OLH.encode(reports[row : row + 1]) for row in range(6)]
    cells[3], cells[4] = b"short", None
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"report": cells, "day": [1, 2, 1, 2, 1, 1]}), file)
    with pytest.raises(InvalidInputError, match=r"a.parquet', column 'report', row 5: no report is there"):
        tally(file, OLH, by=["day"])
    with pytest.raises(InvalidInputError, match=r"a.parquet', column 'report', row 4: 5 bytes"):
        tally(file, OLH)
    found = tally(file, OLH, by=["day"], bad="count")
    assert (found.n, found.bad, dict(found.bad_rows)) == (4, 2, {("1",): 1, ("2",): 1})
    assert "2 rows held no report" in found.estimate().notes()[0]


def test_a_batch_that_is_there_twice_is_refused(lake, tmp_path):
    file = lake[0] / "question=app" / f"day={DAYS[0]}" / "part-0.parquet"
    shutil.copy(file, tmp_path / "copy.parquet")
    with pytest.raises(MismatchError, match="are there twice"):
        tally([file, tmp_path / "copy.parquet"])
    with pytest.raises(InvalidInputError, match="is given twice"):
        tally([file, file])


def test_refusals_say_what_is_wrong_before_a_report_is_read(lake, tmp_path):
    folder, asked = lake
    for why, mechanism, options in (
        ("need 'question' in by", asked, {}),
        ("the mapping is empty", {}, {"by": ["question"]}),
        ("holds the reports", OLH, {"by": ["report"]}),
        ("names a column twice", OLH, {"by": ["day", "day"]}),
        ('"refuse" or "count"', OLH, {"bad": "drop"}),
    ):
        with pytest.raises(InvalidParameterError, match=why):
            tally(folder, mechanism, **options)
    with pytest.raises(InvalidInputError, match="no column 'city': it has report, region"):
        tally(folder, by=["city"])
    with pytest.raises(InvalidInputError, match=r"holds reports of GRR.*, not of OLH"):
        tally(folder / "question=mood", OLH)
    with pytest.raises(InvalidInputError, match="'mood', for which no mechanism is given"):
        tally(folder, {"app": OLH}, by=["question"])
    assert tally(folder, {"app": OLH}, by=["question"], bad="count").bad_rows == {("mood",): 12000}
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"report": pa.array([], pa.binary()), "x": pa.array([], pa.float64())}), file)
    assert tally(file, OLH).total().n == 0
    described = tmp_path / "empty" / "a.parquet"
    write_table(described, OLH, OLH.decode(b""))
    with pytest.raises(InvalidInputError, match="the files hold no reports: there is nothing to count"):
        tally(described).total()
    with pytest.raises(InvalidInputError, match="does not say what made its reports"):
        tally(file)
    with pytest.raises(InvalidInputError, match="does not exist"):
        tally(tmp_path / "nothing.parquet", OLH)
    with pytest.raises(InvalidParameterError, match="rows of a frame do not say"):
        check_job(None, [], told=False)


def test_keys_are_text_whole_numbers_dates_or_booleans(tmp_path):
    reports = OLH.privatize([1, 2], rng=ldpkit.random.seeded(1))
    write_table(tmp_path / "a.parquet", OLH, reports, score=[0.5, 1.5], yes=[True, False])
    with pytest.raises(InvalidInputError, match="column 'score' holds double: group by text"):
        tally(tmp_path, by=["score"])
    assert list(tally(tmp_path, by=["yes"])) == [("false",), ("true",)]


def test_files_are_found_by_folder_pattern_and_address(lake):
    folder, _ = lake
    every = find_files(folder)
    assert len(every) == 8
    assert find_files(f"{folder}/*/day={DAYS[0]}/*.parquet") == [name for name in every if DAYS[0] in name]
    assert find_files(f"file://{folder}/*/day={DAYS[0]}/*.parquet") == [
        f"file://{name}" for name in every if DAYS[0] in name
    ]
    assert len(find_files(f"file://{folder}")) == 8
    assert tally(f"file://{folder}", by=["question"]).n == 24000


def test_a_file_of_this_machine_has_one_name_however_it_is_addressed(tmp_path):
    folder = tmp_path / "my lake"
    folder.mkdir()
    write_table(folder / "a.parquet", OLH, OLH.privatize([1, 2]))
    addressed = f"file://{tmp_path}/my%20lake"
    assert tally(addressed).n == 2
    for other in (f"{addressed}/a.parquet", f"local://{folder}/a.parquet", f"file://{tmp_path}/m%79%20lake"):
        with pytest.raises(InvalidInputError, match="would count twice"):
            find_files([folder / "a.parquet", other])


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_pattern_means_the_same_here_and_elsewhere(tmp_path, scheme):
    """A star is one folder, two are any number; what a job has not finished is none of the data."""
    for name in ("a", "day=1/b", "day=1/hour=2/c", "_temporary/0/day=1/d", "day=1/_e", "x[1]/f"):
        write_table(tmp_path / f"{name}.parquet", GRR, np.zeros(1, np.uint8))
    for pattern, wanted in {
        "": "abcf",
        "/*.parquet": "a",
        "/*/*.parquet": "bf",
        "/**/*.parquet": "abcf",
        "/**/hour=*/*.parquet": "c",
        "/day=?/**/*.parquet": "bc",
        "/_temporary/**/*.parquet": "d",
    }.items():
        found = find_files(f"{scheme}{tmp_path}{pattern}")
        assert "".join(sorted(Path(name).stem for name in found)) == wanted, pattern


def test_a_file_with_two_names_counts_once(tmp_path, monkeypatch):
    """Files of other programs have no batch by which it would be noticed later."""
    monkeypatch.chdir(tmp_path)
    Path("lake").mkdir()
    pq.write_table(pa.table({"report": report_column(GRR, np.zeros(5, np.uint8))}), "lake/a.parquet")
    for other in (
        "./lake/a.parquet",
        f"{tmp_path}/lake",
        f"file://{tmp_path}/lake/a.parquet",
        "lake//*.parquet",
    ):
        with pytest.raises(InvalidInputError, match="given twice"):
            tally(["lake", other], GRR)
    Path("lake/b.parquet").symlink_to("a.parquet")
    with pytest.raises(InvalidInputError, match="given twice"):
        tally("lake", GRR)


def test_groups_by_many_columns_of_many_values_keep_their_keys():
    """Four columns of 100,003 values each have 10**20 combinations, more than a word tells apart."""
    n = 100_003
    every = np.arange(n)
    columns = {name: every[::step] for name, step in (("a", 1), ("b", -1), ("c", 1), ("d", -1))}
    groups = dict(grouped(pa.table(columns), tuple(columns), {}, "it"))
    assert len(groups) == n
    for row in (0, 77, 50_000, 77_777, n - 1):
        assert groups[(str(row), str(n - 1 - row)) * 2].tolist() == [row]


@pytest.mark.parametrize("oracle", [OLH, GRR, ldpkit.OUE(8, epsilon=1)], ids=lambda oracle: oracle.name)
def test_maximum_likelihood_in_parts_has_the_bits_of_one_process(oracle, tmp_path):
    parts = [
        oracle.privatize(values(2000, oracle.size, seed) // 2, rng=ldpkit.random.seeded(seed))
        for seed in range(3)
    ]
    for place, reports in enumerate(parts):
        write_table(tmp_path / f"{place}.parquet", oracle, reports)
    one = Evidence.merge([Evidence.of(oracle, reports) for reports in parts]).estimate("mle")
    for engine in (likelihood, on_dask.likelihood):
        other = engine(tmp_path).estimate("mle")
        for name in ("values", "stderr", "unbiased"):
            assert (getattr(one, name) == getattr(other, name)).all()
        assert one.diagnostics == other.diagnostics
        assert one.rows() == other.rows()
        assert other.provenance.randomness == "secure"


def test_likelihood_elsewhere_refuses_what_it_cannot_do(lake, tmp_path):
    parted = likelihood(lake[0] / "question=app")
    with pytest.raises(InvalidParameterError, match="these are on other machines"):
        parted.estimate("mle", errors="bootstrap")
    assert parted.estimate("mi").n == parted.n == 12000
    numbers = ldpkit.get("piecewise", (0, 10), epsilon=1)
    write_table(tmp_path / "a.parquet", numbers, numbers.privatize([3.0] * 5))
    with pytest.raises(InvalidInputError, match="needs a frequency oracle"):
        likelihood(tmp_path)


@pytest.mark.parametrize("oracle", [OLH, GRR], ids=lambda oracle: oracle.name)
def test_likelihood_says_which_rows_it_leaves_out(tmp_path, oracle):
    cells = report_column(oracle, oracle.privatize([oracle.domain.labels[0]] * 50)).to_pylist()
    rows = pa.array([*cells, None, b"it", None], pa.binary())
    pq.write_table(pa.table({"report": rows}), tmp_path / "a.parquet")
    for engine in (likelihood, on_dask.likelihood):
        with pytest.warns(UserWarning, match="3 rows held no report and were set aside"):
            assert engine(tmp_path, oracle, bad="count").n == 50


def test_rows_with_the_same_id_count_once(tmp_path):
    reports = OLH.privatize(values(40, 64, 1), rng=ldpkit.random.seeded(1))
    write_table(tmp_path / "a.parquet", OLH, reports, id=[f"r{row}" for row in range(40)])
    write_table(tmp_path / "b.parquet", OLH, reports[30:], id=[f"r{row}" for row in range(30, 40)])
    assert tally(tmp_path, OLH).n == 50
    assert on_dask.tally(tmp_path, OLH, unique="id").total() == OLH.tally(reports)


def test_simulated_users_have_the_same_reports_whatever_the_partitioning():
    counts = np.full(64, 3 * BLOCK // 64)
    users = SimulatedUsers(OLH, counts, seed=5)
    assert users.blocks == 3
    whole = OLH.tally(np.concatenate([users.reports(block) for block in range(3)]))
    for tasks in (1, 2, 3):
        partials = [partial for place in range(tasks) for partial in users.count_share(place, tasks)]
        found = merge(check_job(OLH, []), partials).total()
        assert found == whole
        assert found.provenance.randomness == "seeded"  # simulation, not collection
    assert OLH.tally(SimulatedUsers(OLH, counts, seed=6).reports(0)) != OLH.tally(users.reports(0))
    with pytest.raises(InvalidInputError, match="counts are 64 whole numbers"):
        SimulatedUsers(OLH, np.ones(3), seed=1)


def test_spark_without_java_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InvalidInputError, match=r"Spark needs Java 17 or newer, and JAVA_HOME=.* has none"):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    pytest.importorskip("pyspark")
    with pytest.raises(InvalidInputError, match="the search path has none"):
        start_session("local[1]")


@pytest.mark.parametrize("engine", [tally, on_dask.tally], ids=["local", "dask"])
def test_files_are_seen_to_pass(lake, engine):
    told = []

    def watch(items, total, label):
        for item in items:
            yield item
            told.append((len(told) + 1, total, label))

    engine(lake[0], by=["question"], watch=watch)
    assert told == [(number, 8, "counting") for number in range(1, 9)]
