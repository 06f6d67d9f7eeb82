"""Transformers of scikit-learn stand before run, ask and tell."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import askance
from askance.errors import InvalidInput, InvalidType

TEXTS = ["win a prize", "lunch today", "claim your prize now", "see you at lunch"] * 30
LABELS = ["spam", "ham"] * 60


def texts_model(**options):
    return askance.make_pipeline(HashingVectorizer(n_features=2**10), askance.make("PAA-I", random_state=0, **options))


def test_ask_and_tell_equal_run():
    whole, told = texts_model(), texts_model(classes=["ham", "spam"], n_features=2**10)
    trace = whole.run(TEXTS, LABELS)
    for text, label, asked in zip(TEXTS, LABELS, trace.asked, strict=True):
        decision = told.ask(text)
        assert decision.asked == asked
        if decision.asked:
            told.tell(ticket=decision.ticket, y=label)
    np.testing.assert_array_equal(told.predict_proba(TEXTS), whole.predict_proba(TEXTS))
    assert told.pending == []


def test_batches_equal_one_call():
    whole, parts = texts_model(), texts_model()
    expected = whole.run(TEXTS, LABELS)
    found = parts.run((TEXTS[i : i + 7], LABELS[i : i + 7]) for i in range(0, 120, 7))
    np.testing.assert_array_equal(found.margin, expected.margin)


def test_transformers_that_learn_are_fitted_to_the_first_events_and_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 3.0, size=(1500, 4))
    model = askance.make_pipeline(StandardScaler(), askance.make("PAA-I", random_state=0))
    model.run(X, X[:, 0] > 5)
    np.testing.assert_array_equal(model[0].mean_, StandardScaler().fit(X[:1000]).mean_)
    before = model[0].mean_.copy()
    model.partial_fit(X + 1.0, X[:, 0] > 4)
    model.tell(X[0], True)
    np.testing.assert_array_equal(model[0].mean_, before)
    with pytest.raises(NotFittedError, match="the transformer 'standardscaler' is not fitted"):
        clone(model).ask(X[0])


def test_a_table_goes_through_a_column_transformer_row_by_row():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=300), "city": rng.choice(["Oslo", "Bern"], 300)})
    columns = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["size"]))
    model = askance.make_pipeline(columns, askance.make("SOAL-diag", random_state=0))
    model.run(table, table["city"] == "Oslo")
    assert model.ask(table.iloc[0]).label == model.ask(table[:1]).label == (table["city"][0] == "Oslo")
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(table), model.predict(table))


def test_what_cannot_work_is_said_in_a_sentence():
    with pytest.raises(InvalidType, match="the last step must be a classifier such as"):
        askance.make_pipeline(StandardScaler())
    with pytest.raises(InvalidInput, match="y is the labels themselves"):
        texts_model().run(TEXTS, "label")


@pytest.mark.parametrize("event", [{"text": "win a prize"}, "win a prize"])
def test_raw_events_that_no_transformer_changes_are_asked_about(event):
    model = askance.make_pipeline("passthrough", askance.make("PAA-I", classes=["ham", "spam"], random_state=0))
    alone = askance.make("PAA-I", classes=["ham", "spam"], random_state=0)
    assert model.ask(event) == alone.ask(event)
    assert model.tell(event, "spam").ask(event) == alone.tell(event, "spam").ask(event)
