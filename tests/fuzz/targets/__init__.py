"""The targets: one module for each kind of input; add a parser here and it is fuzzed."""

from __future__ import annotations

from fuzz.target import Target
from fuzz.targets import (
    boosted,
    collections,
    columns,
    commands,
    contracts,
    decoded,
    estimates,
    histories,
    models,
    options,
    polar,
    reports,
    requests,
    runlogs,
    specs,
    stores,
    tables,
    tallies,
    walks,
)

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        reports.REPORTS,
        tallies.TALLIES,
        specs.SPECS,
        specs.TABLES,
        specs.CACHES,
        polar.POLAR,
        decoded.DECODED,
        estimates.ESTIMATES,
        stores.STORES,
        histories.HISTORIES,
        contracts.CONTRACTS,
        tables.TEXTS,
        tables.COUNTS,
        tables.PARQUET,
        columns.COLUMNS,
        columns.REPORT_TABLES,
        walks.WALKS,
        models.MODELS,
        boosted.BOOSTED,
        boosted.NETWORKS,
        runlogs.RUNLOGS,
        options.OPTIONS,
        commands.COMMANDS,
        collections.COLLECTION_FILES,
        collections.COLLECTION_TEXTS,
        requests.REQUESTS,
    )
}
"""Every target by its name."""
