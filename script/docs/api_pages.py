"""The pages about the Python interface: every public name, grouped, from its docstring.

MkDocs loads this file as a hook. The groups follow from where a name lives in the package, so a new public
name is on its page without a line here, and one that fits no group stops the build.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = ["GROUPS", "documented", "grouped", "group_page", "overview", "summary"]


@dataclass(frozen=True)
class Group:
    """A page: its title, whose names stand on it, and what is documented beside them."""

    slug: str
    title: str
    homes: tuple[str, ...]
    further: tuple[str, ...] = field(default=())


GROUPS = (
    Group(
        "contract",
        "Mechanisms, domains, randomness, errors",
        ("mechanisms.base", "mechanisms.lookup", "core.domains", "core.parameters", "core.registry", "core"),
    ),
    Group("categories", "Frequencies of categories", ("mechanisms.categorical",)),
    Group(
        "again",
        "Asked again and again",
        ("mechanisms.longitudinal", "protocols.device", "protocols.history", "client.store"),
        ("ldpkit.assurance.longitudinal.longitudinal_attack", "ldpkit.assurance.longitudinal.success_bound"),
    ),
    Group(
        "numbers",
        "Numbers",
        ("mechanisms.numeric", "mechanisms.adaptive", "mechanisms.optimal", "protocols.adaptive_mean"),
        ("ldpkit.mechanisms.numeric.window.WindowMechanism",),
    ),
    Group("circles", "Angles and times of day", ("mechanisms.circular", "core.domains.circle")),
    Group(
        "places",
        "Locations and trajectories",
        (
            "mechanisms.spatial",
            "core.domains.cellgrid",
            "core.domains.plane",
            "core.domains.polygons",
            "core.domains.projection",
            "core.domains.regions",
            "core.domains.trajectories",
            "estimation.heatmap",
            "estimation.hotspots",
            "estimation.origin_destination",
            "estimation.remap",
            "protocols.trajectories",
            "simulation.trajectories",
            "planning.locations",
        ),
        ("ldpkit.files.trajectories.read_trajectories", "ldpkit.files.trajectories.write_trajectories"),
    ),
    Group("pairs", "People in pairs and groups", ("mechanisms.joint", "assurance.joint")),
    Group(
        "estimates",
        "Tallies, estimates and results",
        ("mechanisms.tally", "estimation", "core.results", "core.provenance"),
    ),
    Group(
        "collections",
        "Surveys, collections, devices and report files",
        (
            "protocols.survey",
            "protocols.survey_estimate",
            "protocols.attributes",
            "client",
            "collector",
            "files",
        ),
        (
            "ldpkit.client.samplers.read_sampler",
            "ldpkit.client.samplers.Sampler",
            "ldpkit.client.samplers.MemorySampler",
            "ldpkit.client.epsilon.covers",
            "ldpkit.client.places.place_of",
            "ldpkit.protocols.ledger.Ledger",
        ),
    ),
    Group(
        "planning",
        "Planning before a collection",
        ("planning",),
        (
            "ldpkit.planning.capacity.outliers.outlier_cost",
            "ldpkit.planning.capacity.periods.run_periods",
        ),
    ),
    Group("assurance", "Audit and risk", ("assurance",)),
    Group(
        "classifier",
        "Classifiers with private inputs",
        ("assurance.classifier",),
        (
            "ldpkit.assurance.classifier.sklearn.Privatize",
            "ldpkit.assurance.classifier.sklearn.utility_scorer",
            "ldpkit.assurance.classifier.loading.load_model",
            "ldpkit.assurance.classifier.relaxations.relaxations",
            "ldpkit.assurance.classifier.gaussian.GaussianNoise",
            "ldpkit.assurance.classifier.information.information",
        ),
    ),
    Group(
        "benchmarks",
        "Benchmarks and contract checks",
        ("bench", "testing"),
    ),
    Group(
        "engines",
        "Beyond one machine",
        ("engines",),
        (
            "ldpkit.engines.local.tally",
            "ldpkit.engines.spark.tally",
            "ldpkit.engines.spark.batch_writer",
            "ldpkit.engines.spark.read_batches",
            "ldpkit.engines.spark.simulate",
            "ldpkit.engines.dask.tally",
            "ldpkit.engines.dask.likelihood",
            "ldpkit.engines.dask.simulate",
            "ldpkit.engines.tallies.Tallies",
            "ldpkit.files.arrow.decode_column",
            "ldpkit.files.arrow.write_parquet",
        ),
    ),
)
"""The pages, in reading order. A name goes to the group with the longest matching home."""

_MODULES = {"errors": "ldpkit.core.errors", "random": "ldpkit.core.random"}
_NAMESPACES = {"plan": "ldpkit.planning.public", "bench": "ldpkit.bench", "testing": "ldpkit.testing"}


def grouped() -> dict[str, list[str]]:
    """Return the dotted names of each page, public ones first."""
    import ldpkit

    found: dict[str, list[str]] = {group.slug: [] for group in GROUPS}
    homes = {name: home for home, names in ldpkit._HOMES.items() for name in names}
    homes |= ldpkit._NAMESPACES
    for name in ldpkit.__all__:
        if name not in _NAMESPACES:
            fits = [
                (len(own), group.slug) for group in GROUPS for own in group.homes if _within(homes[name], own)
            ]
            if not fits:
                raise ValueError(f"ldpkit.{name} lives in {homes[name]}, which no group of {__file__} has")
            found[max(fits)[1]].append(_MODULES.get(name, f"ldpkit.{name}"))
    for names in found.values():
        names.sort(key=lambda dotted: shown(dotted).lower())
    for slug, module in (("planning", "plan"), ("benchmarks", "bench"), ("benchmarks", "testing")):
        home = _NAMESPACES[module]
        members = importlib.import_module(home).__all__
        found[slug] += [f"{home}.{name}" for name in members if name not in ldpkit.__all__]
    for group in GROUPS:
        found[group.slug] += group.further
    return {slug: list(dict.fromkeys(names)) for slug, names in found.items()}


def _within(home: str, room: str) -> bool:
    return home == room or home.startswith(f"{room}.")


def documented() -> list[str]:
    """Return every dotted name that is on a page."""
    return [name for names in grouped().values() for name in names]


def find(dotted: str) -> object:
    """Return what a dotted name stands for."""
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        home, _, name = dotted.rpartition(".")
        return getattr(find(home), name)


def summary(dotted: str) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(find(dotted)) or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def shown(dotted: str) -> str:
    """Return a name as people write it."""
    for name, home in (*_MODULES.items(), ("plan", _NAMESPACES["plan"])):
        if dotted == home or dotted.startswith(f"{home}."):
            return f"ldpkit.{name}{dotted.removeprefix(home)}"
    return dotted


def overview() -> str:
    """Return the page that lists every name with its first sentence."""
    parts = [
        "# Python",
        "",
        "Everything public, by task. `import ldpkit` is enough for names without a dot, and for those in",
        "`ldpkit.plan`, `ldpkit.bench`, `ldpkit.testing`, `ldpkit.random` and `ldpkit.errors`. Import the",
        "others from their modules: `from ldpkit.engines.dask import tally`. The tests run every example.",
        "",
        "<style>@media (min-width: 45em) { .md-typeset td:first-child code { white-space: nowrap } }</style>",
        "",
    ]
    for group in GROUPS:
        parts += [f"## [{group.title}](api/{group.slug}.md)", "", "| name | what it is |", "| --- | --- |"]
        for dotted in grouped()[group.slug]:
            parts.append(f"| [`{shown(dotted).removeprefix('ldpkit.')}`][{dotted}] | {summary(dotted)} |")
        parts.append("")
    return "\n".join(parts)


def group_page(group: Group) -> str:
    """Return the page of a group, which mkdocstrings fills."""
    parts = [f"# {group.title}", "", "[All names](../api.md)", ""]
    for dotted in grouped()[group.slug]:
        parts += [
            f"::: {dotted}",
            "    options:",
            "      heading_level: 2",
            f"      heading: {shown(dotted)}",
        ]
        if inspect.isfunction(find(dotted)):  # a class has its parameters in a table, a function may not
            parts.append("      separate_signature: true")
        parts.append("")
    return "\n".join(parts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "reference/api.md", content=overview()))
    for group in GROUPS:
        files.append(File.generated(config, f"reference/api/{group.slug}.md", content=group_page(group)))
    return files
