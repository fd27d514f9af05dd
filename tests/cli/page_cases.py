"""A small case of every command that writes a figure and a page; tests and `script/pages` run them.

A case is the words of a command. Inputs are made once in a folder, by the same command line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

SPACE = ("--space", "0,0,10,5")
WAYS = ("bus", "tram", "bicycle", "car", "on foot", "ferry")
SURVEY = """id = "town"
purpose = "How do people in town live?"
people = 20000
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


def make_inputs(folder: Path, run: Callable[..., object]) -> None:
    """Write what the cases read; `run` is called with the words of a command."""
    rng = np.random.default_rng(7)
    ways = rng.choice(WAYS, 4000, p=[0.34, 0.22, 0.18, 0.16, 0.08, 0.02])
    (folder / "commute.csv").write_text("way\n" + "\n".join(ways.tolist()) + "\n")
    counts = "".join(f"{way},{int((ways == way).sum())}\n" for way in WAYS)
    (folder / "counts.csv").write_text(f"value,count\n{counts}")
    ages = np.clip(rng.normal(41, 15, 3000), 18, 95).round()
    (folder / "ages.csv").write_text("age\n" + "\n".join(f"{age:g}" for age in ages) + "\n")
    headings = rng.vonmises(1.2, 2.0, 2000) % (2 * np.pi) * 180 / np.pi
    (folder / "headings.csv").write_text("heading\n" + "\n".join(f"{each:.2f}" for each in headings) + "\n")
    amounts = np.bincount(rng.poisson(16, 3000), minlength=41)[:41]
    water = "".join(f"{amount},{count}\n" for amount, count in enumerate(amounts.tolist()))
    (folder / "water.csv").write_text(f"value,count\n{water}")
    steps = np.abs(
        np.cumsum(rng.normal(0, 0.25, (3, 120, 2)), axis=1) + np.array([[[5, 2.5]], [[2, 1]], [[8, 4]]])
    )
    points = np.clip(steps, 0, [10, 5])
    lines = [
        f"{who},{x:.4f},{y:.4f}" for who, line in zip("abc", points, strict=True) for x, y in line.tolist()
    ]
    (folder / "walks.csv").write_text("\n".join(["user,lon,lat", *lines]) + "\n")
    (folder / "survey.toml").write_text(SURVEY)
    options = ("--domain", ",".join(WAYS), "-e", 2, "--seed", 3, "-o", folder / "ways.ldp")
    run("privatize", folder / "commute.csv", "-p", "oue", *options)
    run("privatize", folder / "ages.csv", "-p", "pm", "--low", 0, "--high", 120, "-e", 2, "--seed", 3,
        "-o", folder / "ages.ldp")  # fmt: skip


def make_model(folder: Path) -> None:
    """Write a classifier and its people, which needs libraries that not every machine has."""
    import pandas
    import skops.io
    from sklearn.linear_model import LogisticRegression

    people = pandas.DataFrame(np.random.default_rng(1).random((40, 2)), columns=["age", "bmi"])
    skops.io.dump(LogisticRegression(C=50).fit(people, people.age > 0.5), folder / "model.skops")
    people.to_csv(folder / "people.csv", index=False)


def cases(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the words of each case by its name."""
    ages = ("--low", 0, "--high", 120, "--unit", "years")
    return {
        "estimate": ("estimate", folder / "ways.ldp", "--title", "How 4,000 people come to work"),
        "estimate-mean": ("estimate", folder / "ages.ldp", "--unit", "years"),
        "mean": ("mean", folder / "ages.csv", *ages, "-e", 2, "-p", "pm", "--seed", 1),
        "mean-direction": ("mean", folder / "headings.csv", "--period", 360, "-e", 2, "--seed", 1,
                           "--unit", "degrees"),
        "density": ("density", folder / "ages.csv", *ages, "-e", 2, "--seed", 1),
        "density-circle": ("density", folder / "headings.csv", "--period", 360, "-e", 2, "--seed", 1,
                           "--bins", 24),
        "plan-budget": ("plan", "budget", "-d", folder / "counts.csv", "-p", "grr", "oue", "olh",
                        "--at-most", 0.02, "--search", "analytic"),
        "plan-mean": ("plan", "budget", "--low", 0, "--high", 100, "--within", 0.5, "--n", 100_000, "-p",
                      "hm", "pm", "duchi", "--unit", "years"),
        "plan-capacity": ("plan", "capacity", "-d", folder / "water.csv", "--capacity", 46_000,
                          "--constraint", "fn", "--at-most", 0.05, "-p", "grr", "oue"),
        "plan-pairs": ("plan", "pairs", "--n", 2000, "--epsilon-alone", 1, "-e", 2, "--ones-to", 800),
        "plan-survey": ("plan", "survey", folder / "survey.toml", "-e", 2),
        "plan-cluster": ("plan", "cluster", "--people", 1_000_000, "-p", "olh", "--domain", 64, "-e", 1),
        "recommend": ("recommend", "-d", folder / "counts.csv", "-e", 1, "-p", "grr", "oue", "olh", "-r", 8),
        "recommend-mean": ("recommend", "--n", 100_000, "--low", 0, "--high", 100, "--within", 0.5),
        "risk": ("risk", "-p", "grr", "oue", "ss", "-e", 0.5, 1, 2, 4, "--domain", 10),
        "risk-bars": ("risk", "-p", "grr", "oue", "olh", "ss", "-e", 1, "--domain", 10),
        "longitudinal": ("longitudinal", "--reports", 200, "--devices", 400, "--changes", "0,1,12"),
        "audit": ("audit", "-p", "grr", "--domain", 4, "-e", 1, "--reports", 20_000, "--seed", 1),
        "error": ("error", "-p", "pm", "sw", "hm", "-e", 0.5, 1, 2, 4),
        "optimal": ("optimal", "-e", 1, "--low", 0, "--high", 120, "--intervals", 16, "--unit", "years"),
        "trajectory-recommend": ("trajectory", "recommend", *SPACE, "-e", 4),
        "trajectory-privatize": ("trajectory", "privatize", folder / "walks.csv", *SPACE, "-e", 4,
                                 "--seed", 1, "-o", folder / "private.csv"),
        "trajectory-evaluate": ("trajectory", "evaluate", folder / "walks.csv", *SPACE, "-e", 4, "-p",
                                "tracs_c,planar_window", "--seed", 1, "--unit", "km"),
        "trajectory-heatmap": ("trajectory", "heatmap", folder / "walks.csv", *SPACE, "-e", 4, "-p", "oue",
                               "--columns", 6, "--rows", 3, "--seed", 1),
        "trajectory-hotspots": ("trajectory", "heatmap", folder / "walks.csv", *SPACE, "-e", 4, "-p", "oue",
                                "--columns", 6, "--rows", 3, "--seed", 1, "--hotspots", 3),
        "bench": ("bench", "-d", folder / "counts.csv", "-e", 0.5, 1, 2, "-p", "grr", "oue", "olh", "-m",
                  "none", "norm_sub", "norm", "-r", 6),
        "bench-mean": ("bench", "--task", "mean", "-d", "gaussian:n=2000,uniform:n=2000", "-p", "pm",
                       "duchi", "hm", "-e", 0.5, 1, 2, "-r", 6),
        "bench-density": ("bench", "--task", "density", "-d", "bimodal:n=2000", "-p", "sw", "pm", "-r", 2),
    }  # fmt: skip


def model_case(folder: Path) -> tuple[object, ...]:
    """Return the words of the case that needs a model."""
    asked = ("plan", "classifier", folder / "model.skops", folder / "people.csv", "--sensitive", "age,bmi")
    return (*asked, "--keep", 0.8, "-p", "ogpm", "grr")
