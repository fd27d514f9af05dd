"""Texts of options: domains, parameters, populations, metrics, bounds, limits and plugin paths.

The first line of an input is the option, the rest is its text.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzz.mutate import HOSTILE_TEXTS, change_text
from fuzz.target import Target, refused_if, require
from fuzz.targets.examples import planes
from ldpkit.bench.experiment import Experiment
from ldpkit.bench.numeric_data import load_numbers
from ldpkit.bench.numeric_experiment import _check_label
from ldpkit.bench.results import format_of
from ldpkit.cli.datasets import _corners
from ldpkit.cli.longitudinal import _whole_numbers
from ldpkit.cli.making import is_for_numbers, make_numeric, make_oracle
from ldpkit.cli.parsing import (
    parse_budgets,
    parse_domain,
    parse_interval,
    parse_numbers,
    parse_parameters,
    parse_shares,
    split,
)
from ldpkit.cli.spaces import parse_space
from ldpkit.client.labels import check_name, check_secret
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.limits import VARIABLE, allowed_memory
from ldpkit.core.parameters import check_epsilon
from ldpkit.core.registry import load_plugin
from ldpkit.core.wholefile import check_target
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.lookup import list_mechanisms
from ldpkit.planning.constraint import Constraint, Direction
from ldpkit.protocols.people import person_keys
from ldpkit.simulation.datasets import load
from ldpkit.simulation.metrics import METRICS, metric_for
from ldpkit.simulation.populations import POPULATIONS, from_spec, is_spec

__all__ = ["OPTIONS"]

_MUCH = 100_000  # people or values that somebody may ask for, if they wait


def _is_much(text: str) -> bool:
    """Whether a population is one that takes long because it was asked for."""
    numbers = re.findall(r"\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?", text.lower())
    return any(_MUCH < float(number.replace("_", "")) <= 1 << 26 for number in numbers)


def _domain(text: str, folder: Path) -> None:
    refused_if(text.startswith("@") and not text.startswith("@a"), "files of this folder only")
    (folder / "a.txt").write_text("a\nb\n")
    domain = parse_domain(f"@{folder}/{text[1:]}" if text.startswith("@") else text)
    require(
        len(domain) >= 2 and domain.encode([domain.labels[-1]])[0] == len(domain) - 1, "a label is not found"
    )


def _space(text: str, folder: Path) -> None:
    refused_if(text.startswith("@"), "files have an option of their own here")
    _check_plane(parse_space(text))


def _region(text: str, folder: Path) -> None:
    (folder / "a.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    _check_plane(parse_space(f"@{folder}/a.json"))


def _check_plane(plane: PlaneDomain) -> None:
    again = PlaneDomain.from_json(json.loads(json.dumps(plane.to_json())))
    require(again == plane and hash(again) == hash(plane), "another region comes back")
    require(np.isfinite(plane.region.centre).all() and plane.region.area > 0, "a region has no inside")
    repr(plane), str(plane)


def _parameters(text: str, folder: Path) -> None:
    for value in parse_numbers(text.split(" ")).values():
        require(isinstance(value, (int, float)), "a parameter is no number")


def _population(text: str, folder: Path) -> None:
    is_spec(text)
    refused_if(_is_much(text), "a large population, as asked for")
    _, counts = from_spec(text)
    require((counts >= 0).all() and counts.dtype == np.int64 and counts.sum() > 0, "nobody is there")


def _data(text: str, folder: Path) -> None:
    refused_if(text == "-" or _is_much(text), "standard input, or a large population")
    load(text)


def _numbers(text: str, folder: Path) -> None:
    refused_if(text == "-" or _is_much(text), "standard input, or many numbers")
    require(np.isfinite(load_numbers(text).values).all(), "numbers are not finite")


def _mechanism(text: str, folder: Path) -> None:
    name, *parameters = text.split(" ")
    given = parse_parameters(parameters)
    size = given.pop("domain", "4")
    if is_for_numbers(name):
        high = parse_numbers([f"high={given.pop('high', '1')}"])["high"]
        interval = parse_interval(0.0, high)
        assert interval is not None  # both ends are given
        exact = make_numeric(name, interval, None, given).exact_epsilon()
    else:
        exact = make_oracle(name, parse_domain(size), None, given).exact_epsilon()
    require(math.isfinite(exact), "epsilon is not finite")


def _constraint(text: str, folder: Path) -> None:
    metric, _, rest = text.partition(" ")
    direction, _, omega = rest.partition("=")
    side: Direction = "at least" if direction == "at-least" else "at most"
    made = Constraint(metric, side, omega)  # type: ignore[arg-type]  # text, as a caller may give it
    str(made), made.holds(np.array([0.1, 0.2]))


def _metric(text: str, folder: Path) -> None:
    values = metric_for(text)([0.5, 0.25, 0.25], [[0.25, 0.25, 0.5]])
    require(values.shape == (1,), "a metric has another shape")


def _epsilons(text: str, folder: Path) -> None:
    for word in split([text]):
        try:
            number = float(word)
        except ValueError:
            refused_if(True, "no number, as the command says")
        check_epsilon(number)


def _budgets(text: str, folder: Path) -> None:
    for number in parse_budgets([text]):
        check_epsilon(number)


def _shares(text: str, folder: Path) -> None:
    require(np.isfinite(parse_shares([text], "a share")).all(), "shares are not finite")


def _memory(text: str, folder: Path) -> None:
    refused_if("\0" in text, "no variable can hold a NUL")
    before = os.environ.get(VARIABLE)
    try:
        os.environ[VARIABLE] = text.encode("utf-8", "replace").decode()
        require(allowed_memory(1) >= 0, "a limit is negative")
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def _plugin(text: str, folder: Path) -> None:
    refused_if(Path(text).is_absolute() if "\0" not in text else False, "files of this folder only")
    load_plugin(folder / text)


def _output(text: str, folder: Path) -> None:
    check_target(folder / text)
    format_of(Path(text))


def _names(text: str, folder: Path) -> None:
    person_keys(text.split(","))
    check_name(text, "the question")
    check_secret(text.encode("utf-8", "surrogatepass"))


def _experiment(text: str, folder: Path) -> None:
    words = text.split(" ")
    Experiment(np.array([3, 4]), [1.0], words[:1], words[1:2], words[2:3], repeats=1)


_OPTIONS: dict[str, tuple[Callable[[str, Path], None], tuple[str, ...]]] = {
    "domain": (_domain, ("3", "red, green", "10,20", "1.5,2", "@a.txt", "a,b,c,é")),
    "space": (_space, ("0,0,10,5", "degrees:-88,41,-87,42", "utm:2,48,3,49", "disc:1,2,3", "globe")),
    "region": (_region, tuple(json.dumps(each.to_json()) for each in planes())),
    "parameters": (_parameters, ("buckets=8", "epsilon_inf=2.5 epsilon_1=1", "d=-3")),
    "population": (
        _population,
        (
            *(f"{name}:k=8,n=1000" for name in POPULATIONS),
            "zipf:k=8,n=1e3,s=1,seed=2",
            "gaussian:k=5,n=9,sd=1",
        ),
    ),
    "data": (_data, ("zipf:k=8,n=100", "uniform:k=2,n=10", "nothing.csv", "kosarak2")),
    "numbers": (_numbers, ("gaussian:n=100", "beta", "uniform:n=5")),
    "mechanism": (
        _mechanism,
        (
            *(f"{name} epsilon=1" for name in list_mechanisms() if not MECHANISMS.get(name).can("tabled")),
            "lgrr epsilon_inf=2 epsilon_1=1",
        ),
    ),
    "constraint": (_constraint, ("mae at-most=0.1", "kendall_tau at-least=0.5")),
    "metric": (_metric, (*METRICS, "topk_precision@2")),
    "epsilons": (_epsilons, ("1", "0.5,1 2", "1e0")),
    "budgets": (_budgets, ("1", "0.5,1 2", "1e0")),
    "shares": (_shares, ("0.5", "0.25,0.75")),
    "bounds": (lambda text, _: require(len(_corners(text)) == 4, "four corners"), ("0,0,1,1", "-1.5,2,3,4")),
    "changes": (lambda text, _: require(_whole_numbers(text) is not None, "numbers"), ("0,3", "1")),
    "memory": (_memory, ("500M", "4G", "12", " 3t ")),
    "plugin": (_plugin, ("a.py", "nothing.txt", "a/b.py", ".")),
    "output": (_output, ("a.csv", "b.json", "c/d.parquet")),
    "names": (_names, ("page-of-sixteen-x", "1,2,003,ann")),
    "label": (lambda text, _: require(_check_label(text, "mean"), "label"), ("pm", "sw+ems", "hm")),
    "experiment": (_experiment, ("grr none mae", "oue norm_sub kl")),
}
_WORDS = (
    "k=",
    "n=",
    "epsilon=",
    "=",
    ",",
    ":",
    "@",
    "@a.txt",
    "+",
    "1e3",
    "inf",
    "nan",
    " ",
    "at-least=",
    *list_mechanisms(),
)


def _seeds() -> list[bytes]:
    return [f"{name}\n{text}".encode() for name, (_, texts) in _OPTIONS.items() for text in texts]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    name, _, text = data.decode("utf-8", "surrogatepass").partition("\n") if _is_text(data) else ("", "", "")
    if name not in _OPTIONS or rng.random() < 0.02:
        name = rng.choice(list(_OPTIONS))
        text = rng.choice(_OPTIONS[name][1])
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = change_text(rng, text, _WORDS)
    if rng.random() < 0.03:
        text = rng.choice(HOSTILE_TEXTS)
    return f"{name}\n{text}".encode("utf-8", "surrogatepass")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _check(data: bytes, folder: Path) -> None:
    refused_if(not _is_text(data), "options are text")
    name, _, text = data.decode("utf-8", "surrogatepass").partition("\n")
    refused_if(name not in _OPTIONS, "no such option")
    _OPTIONS[name][0](text, folder)


OPTIONS = Target("options", _seeds, _mutate, _check)
