"""Models from files: skops, ONNX, XGBoost and LightGBM as data; pickle and joblib only on demand."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from ldpkit.assurance.classifier.soundness import check_trees
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    MissingDependencyError,
)
from ldpkit.core.limits import check_memory

__all__ = ["load_model"]

_TAKES = 4  # so many bytes of memory a byte of the file takes, at the most: JSON and its objects
_PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: str | Path, *, unsafe_pickle: bool = False, trusted: list[str] | None = None) -> Any:
    """Return the model of a file.

    A .skops file holds no code, and is read within the limit on memory of every other file. What
    its numbers say is the author's. Trees are compiled code that takes them unseen: a forged one can
    end the process while it is loaded, so skops leaves it to the caller to trust them (`TREES`), and
    only what they lead to is checked here, before they are asked. Support vectors and neighbours
    are compiled as well, and nothing checks them.

    Parameters
    ----------
    path : path
        A .skops file; .onnx for a dense network; .json of XGBoost or LightGBM, or .txt of LightGBM, whose
        labels are 0, 1, ...; with `unsafe_pickle` also .pkl, .pickle or .joblib.
    unsafe_pickle : bool
        Whether to load a pickle. Loading one runs whatever code its author put into it, so this is
        for files that you made yourself.
    trusted : list of str, optional
        Types beyond those of scikit-learn that a .skops file may contain.

    Examples
    --------
    >>> import numpy as np, skops.io, tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = np.random.default_rng(1).random((50, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skops.io.dump(LogisticRegression().fit(people, people[:, 0] > 0.5), folder + "/model.skops")
    ...     load_model(folder + "/model.skops")
    LogisticRegression()
    """
    place = Path(path)
    if not place.is_file():
        raise InvalidInputError(f"there is no model file {str(path)!r}")
    suffix = place.suffix.lower()
    if suffix in _PICKLES:
        if not unsafe_pickle:
            raise InvalidParameterError(
                f"{str(path)!r} is a pickle, and loading one runs whatever code its author put into it: save "
                "the model with skops, or give --unsafe-pickle if you made the file yourself"
            )
        return _unpickled(place)
    if suffix == ".onnx":
        from ldpkit.assurance.classifier.onnx_files import read_onnx
        from ldpkit.assurance.classifier.stored import StoredNetwork

        return StoredNetwork(read_onnx(place))
    if suffix in (".json", ".txt"):
        return _boosted(place)
    if suffix != ".skops":
        raise InvalidParameterError(
            f"a model is read from a .skops, .onnx, .json or .txt file, got {str(path)!r}: save it with skops"
        )
    return _from_skops(place, trusted or [])


def _from_skops(place: Path, trusted: list[str]) -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingDependencyError("skops", "reading a model", "models") from None
    _check_size(place)
    known = trusted or []
    try:
        unknown = [each for each in skops.io.get_untrusted_types(file=place) if each not in known]
    except Exception as error:  # skops passes on what zip, JSON and NumPy raise
        raise _no_model(place, error) from None
    if unknown:
        raise InvalidInputError(
            f"{str(place)!r} contains {', '.join(unknown)}, which skops does not know: load it in Python "
            f"with load_model(path, trusted={unknown!r}) if you trust its author"
        )
    try:
        model = skops.io.load(place, trusted=known)
        check_trees(model)
    except InvalidInputError as error:
        raise FileFormatError(f"{str(place)!r} cannot be asked: {error}") from None
    except Exception as error:
        raise _no_model(place, error) from None
    return model


def _check_size(place: Path) -> None:
    """Refuse a file that unpacks to far more than its length gives reason for."""
    try:
        with zipfile.ZipFile(place) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except Exception as error:  # zipfile lets some errors of its parts through
        raise _no_model(place, error) from None
    check_memory(_TAKES * unpacked, place.stat().st_size, f"reading {str(place)!r}")


def _no_model(place: Path, error: Exception) -> FileFormatError:
    told = f"{type(error).__name__}: {error}"
    return FileFormatError(f"{str(place)!r} is not a skops file: {' '.join(told.split())[:200]}")


def _boosted(place: Path) -> Any:
    """Return the boosted trees of a JSON or text file."""
    from ldpkit.assurance.classifier.boosting import lightgbm_tables, lightgbm_trees, xgboost_trees
    from ldpkit.assurance.classifier.stored import StoredTrees

    try:
        text = place.read_text(encoding="utf-8")
        if place.suffix.lower() == ".txt":
            document = lightgbm_tables(text)
        else:
            document = json.loads(text)
            if not isinstance(document, dict) or not ({"learner", "tree_info"} & document.keys()):
                raise FileFormatError(
                    f"{str(place)!r} is not a model of XGBoost or LightGBM: it has neither 'learner' nor "
                    "'tree_info'"
                )
        if "learner" in document:
            return StoredTrees(xgboost_trees(document), document["learner"].get("feature_names"))
        return StoredTrees(lightgbm_trees(document), document.get("feature_names"))
    except LdpkitError:
        raise
    except (KeyError, IndexError) as error:
        raise FileFormatError(f"{str(place)!r} is not a model of boosted trees: it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"{str(place)!r} is not a model of boosted trees: {error}") from None


def _unpickled(place: Path) -> Any:
    try:
        import joblib
    except ImportError:
        raise MissingDependencyError("joblib", "reading a pickled model", "models") from None
    try:
        return joblib.load(place)
    except Exception as error:  # a pickle can raise anything
        raise FileFormatError(f"{str(place)!r} cannot be unpickled: {error}") from None
