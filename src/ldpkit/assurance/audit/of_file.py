"""What is checked of a file: what it records of itself, and whether people could have made its counts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ldpkit.assurance.audit.record import Check, Outcome
from ldpkit.core.provenance import Provenance
from ldpkit.estimation.plausible import can_be_judged, impossible_counts
from ldpkit.files.reportfile import ReportFile
from ldpkit.mechanisms.kinds import is_frequency
from ldpkit.mechanisms.tally import Tally

__all__ = ["check_provenance", "check_reports", "file_hash"]

_MOST_VALUES = 1 << 24  # that are counted


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, by which a reviewer knows it again."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_reports(collected: ReportFile | Tally) -> list[Check]:
    """Compare the counts of a file with what any people could have made; of categories only."""
    mechanism = collected.mechanism
    if not is_frequency(mechanism) or collected.n == 0:
        return []
    if mechanism.size > _MOST_VALUES:
        return [Check("reports", "not checked", f"{mechanism.size:,} values are too many to count")]
    tally = collected if isinstance(collected, Tally) else collected.tally()
    if not can_be_judged(tally):
        return [Check("reports", "not checked", "reports of this mechanism may depend on each other")]
    found = impossible_counts(tally)
    if found is None:
        finding = f"the counts of these {tally.n:,} reports are possible; this does not prove them genuine"
        return [Check("reports", "pass", finding)]
    headline = "no people could have made its counts with this mechanism"
    return [Check("reports", "fail", found, headline=headline)]


def check_provenance(provenance: Provenance | None) -> list[Check]:
    """Judge what is recorded: a seed undoes the reports, so it fails; the rest is for the reader to weigh."""
    if provenance is None:
        return []
    judged: dict[str, Outcome] = {"secure": "pass", "seeded": "fail", "unknown": "warn"}
    public: Outcome = "pass" if provenance.domain == "stated" else "warn"
    said = {
        "secure": "recorded as secure",
        "seeded": "made with a seed: whoever knows the seed can undo the noise, so these reports "
        "protect nobody",
        "stated": "stated in advance",
        "data": "taken from the values: it is not hidden that these values exist",
        "unknown": "not recorded",
    }
    short = {
        "seeded": "its reports were made with a seed: whoever knows it can undo them",
        "unknown": "what randomness made its reports is not recorded",
    }
    domain = {
        "data": "its list of values was taken from the data",
        "unknown": "it is not recorded whether its list of values was stated in advance",
    }
    drawn, listed = provenance.randomness, provenance.domain
    checks = [
        Check("randomness", judged[drawn], said[drawn], headline=short.get(drawn, "")),
        Check("domain", public, said[listed], headline=domain.get(listed, "")),
    ]
    if provenance.devices is not None:
        kept: Outcome = "pass" if provenance.devices == "kept" else "warn"
        words = {
            "kept": "they keep their permanent reports",
            "new": "stated to be new: asked again, they spend again",
            "unknown": "whether they keep their permanent reports is not recorded",
        }
        told = f"its devices: {words[provenance.devices]}"
        checks.append(Check("devices", kept, words[provenance.devices], headline=told))
    batches = provenance.batches
    if batches:
        return [*checks, Check("batch", "info", ", ".join(batches))]
    finding = "not recorded: copies cannot be recognised"
    return [*checks, Check("batch", "warn", finding, headline="its batch is not recorded")]
