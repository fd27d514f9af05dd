"""The public data sets that experiments in the literature use, and where to find them.

Only names, origins and checksums stand here; the files stay with the user, in the
directory that the environment variable LDPKIT_DATA names or in the cache directory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ldpkit.core.errors import InvalidInputError

__all__ = ["KNOWN", "KnownFile", "KnownSet", "find_file", "locate_file", "search_places"]

VARIABLE = "LDPKIT_DATA"


@dataclass(frozen=True)
class KnownFile:
    """One form of a known data set.

    Parameters
    ----------
    name : str
        The name of the file.
    sha256 : str or None
        The checksum of its bytes; None where every user prepares the file alone.
    value : str or tuple of str
        The column of values; several make joint labels.
    count : str, optional
        The column of counts; without it the file has one row for each person.
    """

    name: str
    sha256: str | None
    value: str | tuple[str, ...] = "value"
    count: str | None = None

    def verify(self, path: Path) -> None:
        """Refuse a file whose bytes are not the ones that the catalogue describes."""
        if self.sha256 is None:
            return
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != self.sha256:
            raise InvalidInputError(
                f"{str(path)!r} is not the file of the catalogue: its SHA-256 is {found[:16]}..., expected "
                f"{self.sha256[:16]}...: get it again, or load it without verification"
            )


@dataclass(frozen=True)
class KnownSet:
    """A public data set.

    Parameters
    ----------
    name, title : str
        Its name for `load`, and what it is.
    n, k : int
        The number of people and of values.
    source, licence : str
        The public origin and its terms.
    files : tuple of KnownFile
        The forms in which it is read, the preferred one first.
    least_count : int
        Values with fewer people are left out.
    """

    name: str
    title: str
    n: int
    k: int
    source: str
    licence: str
    files: tuple[KnownFile, ...]
    least_count: int = 0

    def find(self) -> tuple[KnownFile, Path] | None:
        """Return the first file that is on this machine, or None."""
        return find_file(self.files)

    def locate(self) -> tuple[KnownFile, Path]:
        """Return the first file that is on this machine, or say where to get it."""
        return locate_file(self.name, self.files, self.source)


def find_file(files: Sequence[KnownFile]) -> tuple[KnownFile, Path] | None:
    """Return the first of some forms of a data set that is on this machine, or None."""
    for place in search_places().values():
        for file in files:
            if (place / file.name).is_file():
                return file, place / file.name
    return None


def locate_file(name: str, files: Sequence[KnownFile], source: str) -> tuple[KnownFile, Path]:
    """Return the first of some forms of a data set that is on this machine, or say where to get it."""
    found = find_file(files)
    if found is None:
        names = " or ".join(file.name for file in files)
        places = ", ".join(str(place) for place in search_places().values())
        hint = "" if VARIABLE in search_places() else f"; {VARIABLE} can name another directory"
        raise InvalidInputError(
            f"the data set {name!r} is not here: ldpkit looked for {names} in {places}{hint}. Get it "
            f"from: {source}"
        )
    return found


def search_places() -> dict[str, Path]:
    """Return the directories in which known sets are looked for, in order, by what names them."""
    places = {}
    if os.environ.get(VARIABLE):
        places[VARIABLE] = Path(os.environ[VARIABLE]).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    places["cache"] = (Path(cache) if cache else Path.home() / ".cache") / "ldpkit"
    return places


_LDP3 = "Datasets/{} of github.com/alrzakh/LDPcubePlus through 'ldpkit datasets prepare values'; original: {}"
_ADULT = "the file of github.com/hharcolezi/multi-freq-ldpy without fnlwgt; original: UCI, Adult (1996)"
_NURSERY = "the file of github.com/hharcolezi/multi-freq-ldpy; original: UCI, Nursery (1997)"
_JRR = "github.com/ZhengYeah/JRR, aggregated to counts; original: {}"

_SINGLE = (
    KnownSet(
        "kosarak",
        "Kosarak clicks, top 128 pages",
        929_669,
        128,
        _LDP3.format("Kosarak.csv", "click stream of a Hungarian news portal, SPMF repository"),
        "MIT (copy); original not stated",
        (
            KnownFile(
                "kosarak_counts.csv",
                "72520e7d671be4db8ff81bafd80e001534203831cfdddeba2b95df6550537f51",
                count="count",
            ),
            KnownFile(
                "kosarak_values.parquet", "9442289f4b679761db7545b7f431b885ed14352c061bcbb1a8c5bd8a77967f82"
            ),
        ),
    ),
    KnownSet(
        "bms_pos",
        "BMS-POS purchases, top 256 items",
        500_000,
        256,
        _LDP3.format("BMS.csv", "baskets of an electronics retailer, github.com/cpearce/HARM"),
        "MIT (copy); original not stated",
        (
            KnownFile(
                "bms_pos_counts.csv",
                "e4767fd15a7c862795c57f6ac67e2b361cba8ef7b15bc0325fe5ae507d7b1885",
                count="count",
            ),
            KnownFile(
                "bms_pos_values.parquet", "a141d8c59dcdabea058e8742fd3124cef5101099e68bcbc670d44a483ee54209"
            ),
        ),
    ),
    KnownSet(
        "porto",
        "Porto taxi trips, start on a 15 x 15 grid",
        1_620_157,
        225,
        "train.csv of the ECML/PKDD 15 Taxi Service Prediction Challenge, first point of each trip, "
        "through 'ldpkit datasets prepare grid --rows 15 --columns 15'",
        "terms of the challenge",
        (KnownFile("porto_counts.csv", None, count="count"),),
    ),
    KnownSet(
        "adult_age",
        "Adult, age from 17 as 0..73",
        45_222,
        74,
        _LDP3.format("Adult.csv", "UCI, Adult (1996), complete rows"),
        "MIT (copy); UCI terms apply",
        (
            KnownFile(
                "adult_age_index_counts.csv",
                "53199b1df69709c60239c42660f56cad0ba272ec36c6f211ad9088d1439feb67",
                count="count",
            ),
            KnownFile(
                "adult_age_index_values.parquet",
                "1c2d3b2f2040351632fd634f02d2941d073fa742d3ef4f394b991e16990af737",
            ),
        ),
    ),
    KnownSet(
        "msnbc",
        "MSNBC, each visitor's main category",
        989_818,
        17,
        "UCI, msnbc.com anonymous web data (28 September 1999), copy in github.com/numenta/nupic-legacy; "
        "most visited category of each user, ties to the one visited first",
        "not stated",
        (
            KnownFile(
                "msnbc_category_counts.csv",
                "1f8ba4a18f1ee61a686044698ba324a16d2ae1b7f600bd9f9a8a32f0752b9260",
                "name",
                "users_dominant_category",
            ),
        ),
    ),
    KnownSet(
        "emoji",
        "Emoji on Twitter, 500,000 uses or more",
        26_222_407_440,
        764,
        "counts of emojitracker.com on 2 July 2019, github.com/abushoeb/emojitracker-data",
        "MIT",
        (
            KnownFile(
                "emojitracker_2019-07-02_counts.csv",
                "7596b23d1edb81896bfa1ba09cdb36c9944c779883538547bd584974470e0839",
                "name",
                "count",
            ),
        ),
        least_count=500_000,
    ),
    KnownSet(
        "amazon_beauty",
        "Amazon beauty ratings, 1 to 5 stars",
        10_000,
        5,
        _JRR.format("Amazon product reviews"),
        "MIT (copy); original terms apply",
        (
            KnownFile(
                "amazon_beauty_rating_counts.csv",
                "4ed75d0349ca69995241879bba79d5889bdd8105bf93c1d37477e19cdfa062e9",
                "rating",
                "count",
            ),
        ),
    ),
    KnownSet(
        "ipums",
        "IPUMS 2010, group quarters x race",
        10_000,
        28,
        _JRR.format("IPUMS USA 2010, columns GQ and RACE"),
        "MIT (copy); original terms apply",
        (
            KnownFile(
                "ipums_gq_race_counts.csv",
                "409695a5265513feffc90507d12d0694126760bfbc544f4d162b972d5a6379eb",
                ("GQ", "RACE"),
                "count",
            ),
        ),
    ),
)


def _columns(
    prefix: str, title: str, n: int, source: str, file: str, sha256: str, sizes: dict[str, int]
) -> tuple[KnownSet, ...]:
    """Return one data set for each column of a table."""
    return tuple(
        KnownSet(
            f"{prefix}_{column.lower()}",
            f"{title}, {column.lower().replace('_', ' ')}",
            n,
            k,
            source,
            "MIT (copy); UCI terms apply",
            (KnownFile(file, sha256, column),),
        )
        for column, k in sizes.items()
    )


KNOWN: dict[str, KnownSet] = {
    known.name: known
    for known in (
        *_SINGLE,
        *_columns(
            "adult",
            "Adult",
            48_842,
            _ADULT,
            "uci_adult.csv.gz",
            "972a890f25f5fdd5b67aad444f31123923001774daf86b89746064b0bab62fe4",
            {
                "workclass": 9,
                "education": 16,
                "marital_status": 7,
                "occupation": 15,
                "relationship": 6,
                "race": 5,
                "sex": 2,
                "native_country": 42,
                "income": 2,
            },
        ),
        *_columns(
            "nursery",
            "Nursery",
            12_960,
            _NURSERY,
            "uci_nursery.csv.gz",
            "57c9e9ca5998b38436acb5c48c8a3f21a4a4a715ad98efd353e2b55430fa962b",
            {
                "parents": 3,
                "has_nurs": 5,
                "form": 4,
                "children": 4,
                "housing": 3,
                "finance": 2,
                "social": 3,
                "health": 3,
                "NURSERY": 5,
            },
        ),
    )
}
"""Known public data sets by name."""
