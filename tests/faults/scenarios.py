"""What is put to the test: the commands that write, and what they write.

Add a command here and every fault is tried on it. It must be repeatable (a seed), so that
a whole output is one that equals the output of an undisturbed run, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
        ("estimate", "in/reports.ldp", "-o", "estimate.csv", "--save-tally", "all.tally"),
        ("estimate.csv", "all.tally"),
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
        "bench --report --figure",
        (*SMALL_BENCH, "--report", "page.html", "--figure", "bench.svg"),
        ("page.html", "bench.svg"),
    ),
    Scenario(
        "bench --task mean",
        ("bench", "--task", "mean", "-d", "gaussian:n=2000", "-p", "pm", "hm", "-r", "5", "-o", "mean.json"),
        ("mean.json", "mean.json.run"),
        keeps=("mean.json.run",),
    ),
    Scenario(
        "datasets prepare",
        ("datasets", "prepare", "transactions", "in/clicks.dat", "--top", "64", "-o", "items.csv"),
        ("items.csv",),
        prints=False,
    ),
    Scenario(
        "plan budget --figure",
        (
            *("plan", "budget", "-d", "zipf:k=16,n=20000", "-p", "grr", "-u", "mae", "--at-most", "0.02"),
            *("--figure", "budget.png"),
        ),
        ("budget.png",),
    ),
    Scenario(
        "recommend --figure",
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
        ),
        ("r.svg",),
    ),
    Scenario(
        "longitudinal --figure",
        ("longitudinal", "--reports", "20", "--devices", "50", "--figure", "attack.png"),
        ("attack.png",),
    ),
    Scenario(
        "audit --report",
        ("audit", "in/reports.ldp", "--reports", "20000", "--seed", "1", "--report", "audit.html"),
        ("audit.html",),
    ),
    Scenario(
        "risk --figure",
        ("risk", "-p", "grr", "-e", "1", "--domain", "10", "--figure", "risk.svg"),
        ("risk.svg",),
    ),
    Scenario(
        "density --figure",
        (
            *("density", "in/ages.txt", "--low", "0", "--high", "99", "-e", "1", "--seed", "1"),
            *("--figure", "ages.svg"),
        ),
        ("ages.svg",),
    ),
    Scenario(
        "plan pairs --figure",
        (
            *("plan", "pairs", "--n", "2000", "--epsilon-alone", "1", "--known", "20"),
            *("--figure", "pairs.png"),
        ),
        ("pairs.png",),
    ),
    Scenario(
        "plan capacity --figure",
        (
            *("plan", "capacity", "-d", "poisson:k=41,n=98511,mean=16", "--capacity", "1500000"),
            *("--constraint", "fn", "--at-most", "0.1", "-p", "grr", "--figure", "capacity.png"),
        ),
        ("capacity.png",),
    ),
    Scenario(
        "plan classifier --figure",
        (
            *("plan", "classifier", "in/model.skops", "in/people.csv", "--sensitive", "age", "-p", "ogpm"),
            *("--keep", "0.8", "--figure", "kept.svg"),
        ),
        ("kept.svg",),
    ),
    Scenario(
        "mean --figure",
        (*("mean", "in/ages.txt", "--period", "100", "-e", "1", "--seed", "1", "--figure", "mean.svg"),),
        ("mean.svg",),
    ),
    Scenario(
        "error --figure",
        ("error", "-p", "ogpm", "pm", "-e", "1", "2", "--figure", "error.svg"),
        ("error.svg",),
    ),
    Scenario(
        "optimal",
        ("optimal", "-e", "1", "--intervals", "8", "-o", "best.json", "--figure", "best.svg"),
        ("best.json", "best.svg"),
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
            *("--figure", "map.svg"),
        ),
        ("map.svg",),
    ),
)


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
    people = [(number * 7 % 100 / 100, number * 13 % 97 / 97) for number in range(40)]
    (folder / "people.csv").write_text("age,bmi\n" + "".join(f"{age},{bmi}\n" for age, bmi in people))
    _save_model(folder / "model.skops", people)
    report = ("privatize", "in/values.txt", "-p", "grr", "-e", "1", "--domain", "16", "-o", "in/reports.ldp")
    places = ("trajectory", "privatize", "in/walks.csv", "--space", "0,0,1,1", "-o", "in/places.ldp")
    return [report, places]


def _save_model(file: Path, people: list[tuple[float, float]]) -> None:
    import skops.io
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(people, [age > bmi for age, bmi in people])
    skops.io.dump(model, file)
