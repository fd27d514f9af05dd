"""What is put to the test: the commands that write, and what they write.

Add a command here and every fault is tried on it. It must be repeatable (a seed), so that
a whole output is one that equals the output of an undisturbed run, byte for byte. A test sees
that every option that names an output is here, or stands with a reason in `LEFT_OUT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from client.collecting import collection_file
from collector.inside import inside
from ldpkit.collector.database import SqliteDatabase

SURVEY = """id = "town"
purpose = "How do people in town live?"
people = 20000
rounds = { every = "once", start = 2026-12-01 }
[[questions]]
id = "commute"
text = "How do you come to work?"
domain = ["bus", "car", "on foot"]
within = 0.02
[[questions]]
id = "age"
text = "How old are you?"
low = 0
high = 120
within = 2.0
"""
SMALL_BENCH = ("bench", "-d", "zipf:k=32,n=20000", "-r", "40", "-e", "0.5", "1", "-m", "none", "norm_sub")


@dataclass(frozen=True)
class Scenario:
    """A command that writes.

    Parameters
    ----------
    name : str
        What the table calls it.
    words : tuple of str
        The command; it runs in a folder beside `in/`, which holds the inputs.
    outputs : tuple of str
        The files that it writes.
    overwrite : tuple of str
        What must be added to the command if the outputs are there.
    keeps : tuple of str
        Outputs that a stopped command leaves for the next run, which finds out whether they are sound.
    grows : tuple of str
        Outputs of which a stopped command may leave the first lines.
    resumes : bool
        Whether the command goes on with what it finds.
    prints : bool
        Whether it prints its result to standard output.
    """

    name: str
    words: tuple[str, ...]
    outputs: tuple[str, ...]
    overwrite: tuple[str, ...] = ("--force",)
    keeps: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    resumes: bool = False
    prints: bool = True


SCENARIOS = (
    Scenario(
        "privatize",
        (
            "privatize",
            "in/values.txt",
            "-p",
            "olh",
            "-e",
            "1",
            "--domain",
            "16",
            "--seed",
            "1",
            "-o",
            "r.ldp",
        ),
        ("r.ldp",),
        prints=False,
    ),
    Scenario(
        "privatize numbers",
        (
            *("privatize", "in/ages.txt", "--low", "0", "--high", "99", "-p", "pm", "-e", "1"),
            *("--seed", "1", "-o", "ages.ldp"),
        ),
        ("ages.ldp",),
        prints=False,
    ),
    Scenario(
        "estimate",
        (
            *("estimate", "in/reports.ldp", "-o", "estimate.csv", "--save-tally", "all.tally"),
            *("--figure", "estimate.pdf", "--report", "estimate.html"),
        ),
        ("estimate.csv", "all.tally", "estimate.pdf", "estimate.html"),
        prints=False,
    ),
    Scenario(
        "bench",
        (*SMALL_BENCH, "-o", "rows.csv"),
        ("rows.csv", "rows.csv.run"),
        keeps=("rows.csv.run",),
        grows=("rows.csv",),
    ),
    Scenario(
        "bench --resume",
        (*SMALL_BENCH, "--engine", "users", "-o", "more.csv", "--resume"),
        ("more.csv", "more.csv.run"),
        overwrite=(),
        keeps=("more.csv.run",),
        grows=("more.csv",),
        resumes=True,
    ),
    Scenario(
        "bench, figure and page",
        (*SMALL_BENCH, "--report", "page.html", "--figure", "bench.svg"),
        ("page.html", "bench.svg"),
    ),
    Scenario(
        "bench --task mean",
        ("bench", "--task", "mean", "-d", "gaussian:n=2000", "-p", "pm", "hm", "-r", "5", "-o", "mean.json"),
        ("mean.json", "mean.json.run"),
        keeps=("mean.json.run",),
        grows=("mean.json",),
    ),
    Scenario(
        "prepare transactions",
        ("datasets", "prepare", "transactions", "in/clicks.dat", "--top", "64", "-o", "items.csv"),
        ("items.csv",),
        prints=False,
    ),
    Scenario(
        "plan budget",
        (
            *("plan", "budget", "-d", "zipf:k=16,n=20000", "-p", "grr", "-u", "mae", "--at-most", "0.02"),
            *("--figure", "budget.png", "--report", "budget.html", "-o", "budget.json"),
        ),
        ("budget.png", "budget.html", "budget.json"),
        prints=False,
    ),
    Scenario(
        "recommend",
        (
            "recommend",
            "-d",
            "zipf:k=16,n=20000",
            "-e",
            "1",
            "-p",
            "grr",
            "oue",
            "-r",
            "5",
            "--figure",
            "r.svg",
            "--report",
            "r.html",
            "-o",
            "r.csv",
        ),
        ("r.svg", "r.html", "r.csv"),
        prints=False,
    ),
    Scenario(
        "longitudinal",
        (
            "longitudinal",
            "--reports",
            "20",
            "--devices",
            "50",
            "--figure",
            "attack.png",
            "--report",
            "attack.html",
            "-o",
            "attack.csv",
        ),
        ("attack.png", "attack.html", "attack.csv"),
        prints=False,
    ),
    Scenario(
        "audit",
        (
            "audit",
            "in/reports.ldp",
            "--reports",
            "20000",
            "--seed",
            "1",
            "--report",
            "audit.html",
            "--figure",
            "audit.svg",
            "-o",
            "audit.txt",
        ),
        ("audit.html", "audit.svg", "audit.txt"),
        prints=False,
    ),
    Scenario(
        "risk",
        (
            *("risk", "-p", "grr", "-e", "1", "--domain", "10"),
            *("--figure", "risk.svg", "--report", "risk.html", "-o", "risk.json"),
        ),
        ("risk.svg", "risk.html", "risk.json"),
        prints=False,
    ),
    Scenario(
        "density",
        (
            *("density", "in/ages.txt", "--low", "0", "--high", "99", "-e", "1", "--seed", "1"),
            *("--figure", "ages.svg", "--report", "ages.html", "-o", "ages.json"),
        ),
        ("ages.svg", "ages.html", "ages.json"),
        prints=False,
    ),
    Scenario(
        "plan pairs",
        (
            *("plan", "pairs", "--n", "2000", "--epsilon-alone", "1", "--known", "20"),
            *("--figure", "pairs.png", "--report", "pairs.html", "-o", "pairs.csv"),
        ),
        ("pairs.png", "pairs.html", "pairs.csv"),
        prints=False,
    ),
    Scenario(
        "plan capacity",
        (
            *("plan", "capacity", "-d", "poisson:k=41,n=98511,mean=16", "--capacity", "1500000"),
            *(
                "--constraint",
                "fn",
                "--at-most",
                "0.1",
                "-p",
                "grr",
                "--figure",
                "capacity.png",
                "--report",
                "c.html",
                "-o",
                "c.json",
            ),
        ),
        ("capacity.png", "c.html", "c.json"),
        prints=False,
    ),
    Scenario(
        "plan classifier",
        (
            *("plan", "classifier", "in/model.skops", "in/people.csv", "--sensitive", "age", "-p", "ogpm"),
            *("--keep", "0.8", "--figure", "kept.svg", "--report", "kept.html", "-o", "kept.csv"),
        ),
        ("kept.svg", "kept.html", "kept.csv"),
        prints=False,
    ),
    Scenario(
        "mean",
        (
            *(
                "mean",
                "in/ages.txt",
                "--period",
                "100",
                "-e",
                "1",
                "--seed",
                "1",
                "--figure",
                "mean.svg",
                "--report",
                "mean.html",
                "-o",
                "mean.txt",
            ),
        ),
        ("mean.svg", "mean.html", "mean.txt"),
        prints=False,
    ),
    Scenario(
        "error",
        (
            *("error", "-p", "ogpm", "pm", "-e", "1", "2"),
            *("--figure", "error.svg", "--report", "error.html", "-o", "error.csv"),
        ),
        ("error.svg", "error.html", "error.csv"),
        prints=False,
    ),
    Scenario(
        "optimal",
        (
            "optimal",
            "-e",
            "1",
            "--intervals",
            "8",
            "-o",
            "best.json",
            "--figure",
            "best.svg",
            "--report",
            "best.html",
        ),
        ("best.json", "best.svg", "best.html"),
    ),
    *(
        Scenario(
            f"trajectory to {ending}",
            (
                *("trajectory", "privatize", "in/walks.csv", "--space", "0,0,1,1", "-p", "tracs_c"),
                *("--seed", "1", "-o", f"walks.{ending}"),
            ),
            (f"walks.{ending}",),
        )
        for ending in ("csv", "geojson", "parquet", "ldp")
    ),
    Scenario(
        "trajectory heatmap",
        (
            *("trajectory", "heatmap", "in/places.ldp", "--columns", "4", "--rows", "4"),
            *("--figure", "map.svg", "--report", "map.html", "-o", "map.csv"),
        ),
        ("map.svg", "map.html", "map.csv"),
        prints=False,
    ),
    Scenario(
        "trajectory, figure, page",
        (
            *("trajectory", "privatize", "in/few.csv", "--space", "0,0,1,1", "-p", "tracs_c", "--seed", "1"),
            *("-o", "few.csv", "--figure", "few.svg", "--report", "few.html"),
        ),
        ("few.csv", "few.svg", "few.html"),
    ),
    Scenario(
        "trajectory evaluate",
        (
            *("trajectory", "evaluate", "in/few.csv", "--space", "0,0,1,1", "-p", "tracs_c", "--seed", "1"),
            *("--figure", "off.svg", "--report", "off.html", "-o", "off.csv"),
        ),
        ("off.svg", "off.html", "off.csv"),
        prints=False,
    ),
    Scenario(
        "trajectory recommend",
        (
            *("trajectory", "recommend", "--space", "0,0,10,5", "-e", "4"),
            *("--figure", "which.svg", "--report", "which.html", "-o", "which.txt"),
        ),
        ("which.svg", "which.html", "which.txt"),
        prints=False,
    ),
    *(
        Scenario(
            f"prepare {kind}",
            ("datasets", "prepare", kind, *words, "-o", f"{kind}.csv"),
            (f"{kind}.csv",),
            prints=False,
        )
        for kind, words in (
            ("grid", ("in/walks.csv", "--x", "x", "--y", "y")),
            ("values", ("in/values.txt",)),
            ("numbers", ("in/ages.txt",)),
        )
    ),
    Scenario(
        "plan survey",
        (
            *("plan", "survey", "in/town.toml", "-e", "2", "-o", "planned.toml"),
            *("--figure", "ways.svg", "--report", "ways.html"),
        ),
        ("planned.toml", "ways.svg", "ways.html"),
    ),
    Scenario(
        "plan cluster",
        (
            *("plan", "cluster", "--people", "1000000", "-p", "olh", "--domain", "64", "-e", "1"),
            *("--figure", "day.svg", "--report", "day.html", "-o", "day.csv"),
        ),
        ("day.svg", "day.html", "day.csv"),
        prints=False,
    ),
    Scenario(
        "collection new",
        (
            *("collection", "new", "commute.toml", "--purpose", "How people travel.", "--question", "way"),
            *("--text", "How do you travel?", "--domain", "walk,bike,bus", "--n", "20000", "-e", "1"),
            *("--start", "2026-12-01"),
        ),
        ("commute.toml",),
        prints=False,
    ),
    Scenario(
        "collection sign",
        ("collection", "sign", "in/planned.toml", "--unsigned", "-o", "town.json"),
        ("town.json",),
        prints=False,
    ),
    Scenario(
        "collection simulate",
        (
            *("collection", "simulate", "in/planned.toml", "--n", "2000", "-r", "4"),
            *("--report", "rehearsal.html", "-o", "rehearsal.json"),
        ),
        ("rehearsal.html", "rehearsal.json"),
        prints=False,
    ),
    *(
        Scenario(name, (*name.split(), *words, "-o", output), (output,), prints=False)
        for name, output, words in (
            ("collection check", "checked.txt", ("in/planned.toml",)),
            ("collection show", "shown.json", ("in/planned.toml",)),
            ("inspect", "facts.csv", ("in/reports.ldp",)),
            ("datasets show", "values.json", ("in/values.txt",)),
            ("mechanisms", "mechanisms.csv", ("--kind", "frequency")),
            ("collector verify", "verified.csv", ("--data", "in/data")),
        )
    ),
    Scenario(
        "collector backup",
        ("collector", "backup", "copy.db", "--data", "in/data"),
        ("copy.db",),
        prints=False,
    ),
    Scenario(
        "spec vectors",
        ("spec", "vectors", "--lines", "--only", "grr", "-o", "vectors.txt"),
        ("vectors.txt",),
        prints=False,
    ),
    Scenario(
        "reproduce",
        ("reproduce", "optimus", "--quick", "-o", "claims"),
        ("claims/claims.csv", "claims/claims.json"),
    ),
)

LEFT_OUT = {
    "collection diff": "it writes as 'collection show' does",
    "collection keygen": "a key is random; tests/cli/test_collection_command.py fills its disk",
    "collector estimates": "it asks a service, and writes as 'estimate' does",
    "collector export": "a service gives reports in random order; script/attack-collector stops services",
    "collector erase": "it writes nothing here, but asks a service to delete",
    "collector restore": "it keeps what it replaces, and a lock; tests/collector/test_verify.py stops it",
    "collector tokens": "a token is random, in one transaction; a list is written as by 'collector verify'",
    "datasets list": "it writes as 'datasets show' does",
    "serve": "script/attack-collector kills it",
    "spec check": "it writes as 'mechanisms' does",
    "trajectory privatize --memo": "the store of a device has a scenario of its own",
}
"""Commands, or options of them, that write and are not here, and why."""


def make_inputs(folder: Path) -> list[tuple[str, ...]]:
    """Write the input files, and return the commands that make the others."""
    folder.mkdir()
    (folder / "values.txt").write_text("".join(f"{number * number % 16}\n" for number in range(200_000)))
    (folder / "ages.txt").write_text("".join(f"{number * 7 % 100}\n" for number in range(200_000)))
    (folder / "clicks.dat").write_text(
        "".join(f"{number % 97} {number % 89} {number % 7}\n" for number in range(100_000))
    )
    walks = (f"{number // 10},{number % 89 / 89},{number % 97 / 97}\n" for number in range(50_000))
    (folder / "walks.csv").write_text("id,x,y\n" + "".join(walks))
    steps = (f"{number // 10},{number % 89 / 89},{number % 97 / 97}\n" for number in range(200))
    (folder / "few.csv").write_text("id,x,y\n" + "".join(steps))
    (folder / "town.toml").write_text(SURVEY)
    _fill_database(folder / "data")
    people = [(number * 7 % 100 / 100, number * 13 % 97 / 97) for number in range(40)]
    (folder / "people.csv").write_text("age,bmi\n" + "".join(f"{age},{bmi}\n" for age, bmi in people))
    _save_model(folder / "model.skops", people)
    report = ("privatize", "in/values.txt", "-p", "grr", "-e", "1", "--domain", "16", "-o", "in/reports.ldp")
    places = ("trajectory", "privatize", "in/walks.csv", "--space", "0,0,1,1", "-o", "in/places.ldp")
    planned = ("plan", "survey", "in/town.toml", "-e", "2", "-o", "in/planned.toml")
    return [report, places, planned]


def _save_model(file: Path, people: list[tuple[float, float]]) -> None:
    import skops.io
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(people, [age > bmi for age, bmi in people])
    skops.io.dump(model, file)


def _fill_database(folder: Path) -> None:
    """Let devices answer a collector, and keep its database."""
    folder.mkdir()
    with inside(SqliteDatabase(folder / "collector.db"), collection_file()) as service:
        service.send(range(20_000))
