"""Models that a command saved, given tables, arrays and matrices in Python."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from tests.cli.here import here

import askance
from askance.errors import DataWarning, InvalidInput

X = np.random.default_rng(0).normal(size=(120, 3)) * [1.0, 20.0, 300.0]
Y = np.where(X[:, 0] + X[:, 1] / 20.0 > 0, "up", "down")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of the same rows, with and without names of columns."""
    folder = tmp_path_factory.mktemp("models")
    np.savez(folder / "array.npz", X=X, y=Y)
    pd.DataFrame(X).assign(label=Y).to_csv(folder / "bare.csv", header=False, index=False)
    named = pd.DataFrame(X, columns=["a", "b", "c"]).assign(city=np.where(X[:, 2] > 0, "Oslo", "Bern"), label=Y)
    named.to_csv(folder / "named.csv", index=False)
    named.drop(columns="label").to_csv(folder / "new.csv", index=False)
    for name in ("array.npz", "bare.csv", "named.csv"):
        here("run", name, "-a", "PAA-I", "--seed", "0", "--save", f"{name}.model", cwd=folder)
    return folder


@pytest.mark.parametrize("name", ["array.npz", "bare.csv"])
def test_columns_without_names_are_matched_by_their_numbers_and_scaled(folder, name):
    clf = askance.load(folder / f"{name}.model")
    expected = clf.decision_function([dict(zip("012", row, strict=True)) for row in X.tolist()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for events in (
            X,
            X.tolist(),
            pd.DataFrame(X),
            pd.DataFrame(X, columns=list("012")),
            pl.DataFrame(X, list("012")),
        ):
            assert np.array_equal(clf.decision_function(events), expected)
        assert clf.score(pd.DataFrame(X).assign(**{"3": Y}) if name == "bare.csv" else X, Y) > 0.8
    assert (
        clf.ask(X[0]).margin == askance.load(folder / f"{name}.model").ask(dict(zip("012", X[0], strict=True))).margin
    )
    with pytest.raises(InvalidInput, match=r"X has shape \(120, 2\), but the first events had 3 columns"):
        clf.predict(X[:, :2])
    with pytest.raises(InvalidInput, match=r"a sparse matrix has no names for them; pass X.toarray\(\)"):
        clf.predict(csr_matrix(X))


def test_a_table_that_lacks_a_column_is_warned_of_and_a_foreign_one_refused(folder):
    clf, new = askance.load(folder / "named.csv.model"), pd.read_csv(folder / "new.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (new, new.assign(id=1), pd.read_csv(folder / "named.csv")):
            clf.predict(table)
    renamed = "X has no column city, which the model has learned from, and has town, which the model does not know"
    for table in (new.rename(columns={"city": "town"}), pl.from_pandas(new).rename({"city": "town"})):
        with pytest.warns(DataWarning, match=renamed):
            assert len(clf.predict(table)) == len(X)
    with pytest.warns(DataWarning, match="X has no column a, b, which the model has learned from; was it renamed"):
        clf.partial_fit(new[["c", "city"]], Y)
    for act in (clf.predict, lambda table: clf.run(table, ["up"]), lambda table: clf.partial_fit(table, ["up"])):
        with pytest.raises(InvalidInput, match="X has the columns z, none of which is a field of the model"):
            act(pd.DataFrame({"z": [1.0]}))
