"""Models from files: what is forged is refused before it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.targets.models import MODELS, forged
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.assurance.classifier.reading import Unread, regions
from ldpkit.assurance.classifier.soundness import TREES, check_trees
from ldpkit.assurance.classifier.table import record_table
from ldpkit.core.errors import FileFormatError, InvalidInputError

pytest.importorskip("skops.io")
pytest.importorskip("sklearn")

ROWS = np.array([[0.2, 0.4], [0.9, 0.9]])


def test_sound_models_are_loaded_and_asked(tmp_path):
    for data in MODELS.seeds():
        (tmp_path / "a.skops").write_bytes(data)
        assert record_table(load_model(tmp_path / "a.skops", trusted=[*TREES]), ROWS).predict(
            ROWS
        ).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a tree with a wrong child", "leads to a node that is not among its"),
        ("a tree with a wrong child that is its parent", "leads to a node that is not among its"),
        ("a tree with a wrong column", "asks for a column that is not among its 2"),
        ("a packed model of 128 MiB", "MiB of memory, a file of .* bytes may take 256"),
        ("a model without a description", "is not a skops file: KeyError"),
        ("a description of 50,000 brackets", "is not a skops file: RecursionError|is not a skops file: JSON"),
    ],
)
def test_forged_models_are_refused(tmp_path, name, message):
    (tmp_path / "a.skops").write_bytes(forged()[name])
    with pytest.raises((FileFormatError, InvalidInputError), match=message):
        load_model(tmp_path / "a.skops", trusted=[*TREES])


def test_trees_are_refused_unless_they_are_trusted(tmp_path):
    (tmp_path / "a.skops").write_bytes(MODELS.seeds()[2])
    with pytest.raises(InvalidInputError, match="Tree, which skops does not know"):
        load_model(tmp_path / "a.skops")


def test_a_model_that_fails_is_told_in_one_line():
    def fails(rows):
        raise ZeroDivisionError("nothing to divide by")

    with pytest.raises(
        InvalidInputError, match="cannot predict these records: ZeroDivisionError: nothing to"
    ):
        record_table(fails, ROWS).predict(ROWS)


def test_a_model_whose_parts_do_not_fit_is_only_asked():
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(ROWS, [0, 1])
    table = record_table(model, ROWS)
    labels = table.predict(ROWS)
    model.intercept_ = np.array([0.0, 1.0, 2.0])
    asked = record_table(lambda rows: labels[: len(rows)], ROWS)
    with pytest.raises(Unread, match="do not fit together"):
        regions(type(asked)(asked.values, asked.names, _Odd(model, labels), asked.wrap), ROWS, labels, [0])


class _Odd:
    """A model that answers, and whose coefficients say nothing."""

    def __new__(cls, model, labels):
        model.predict = lambda rows: labels[: len(rows)]
        return model


def test_check_trees_takes_what_scikit_learn_makes():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.random(200), rng.integers(0, 5, 200)])
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[1])
    check_trees(model.fit(rows, rows[:, 1] > 2))


def test_file_errors_are_of_the_tree(tmp_path):
    (tmp_path / "a.skops").write_bytes(b"PK")
    with pytest.raises(FileFormatError, match="BadZipFile"):
        load_model(tmp_path / "a.skops")
