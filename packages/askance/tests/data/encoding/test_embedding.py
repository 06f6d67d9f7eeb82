"""Fields of texts as vectors, by a real encoder: latent semantic analysis, hashed words and a truncated SVD."""

import copy
import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline
from tests.cli.here import complaint

import askance
from askance.data import open_stream
from askance.data.encoding.columns import encode
from askance.data.encoding.rows import RowFeatures
from askance.data.encoding.table import RawRows
from askance.data.generators import messages
from askance.errors import InvalidInput, InvalidParameter, ModelFileError

STREAM = messages(300, random_state=0)
TEXTS, LABELS = list(STREAM.texts), np.asarray(STREAM.labels)
DIMENSIONS = 12


class Lsa:
    """An encoder with ``encode``, as sentence-transformers' models have it; counts what it is asked for."""

    def __init__(self, dimensions=DIMENSIONS):
        self.asked = []
        self._pipeline = make_pipeline(HashingVectorizer(n_features=2**10), TruncatedSVD(dimensions, random_state=0))
        self._pipeline.fit(TEXTS)

    def encode(self, texts):
        self.asked += texts
        return self._pipeline.transform(texts).astype(np.float32)


@pytest.fixture(scope="module")
def lsa():
    return Lsa()


def make(encoder, **options):
    fields = {"text": askance.Embedding(encoder)}
    return askance.make("SOAL-diag", fields=fields, classes=["ham", "spam"], random_state=0, **options)


def events():
    return [{"text": text, "size": len(text)} for text in TEXTS]


def test_each_number_of_the_unit_vector_has_a_column_of_its_own(lsa):
    features = RowFeatures({"text": askance.Embedding(lsa)})
    rows = RawRows([{"size": 1, "text": "win a prize"}, {"size": 2, "text": None}, {"text": "lunch"}])
    X = encode(features, rows)[0].toarray()
    assert X.shape == (3, 1 + DIMENSIONS)
    for row, text in ((0, "win a prize"), (2, "lunch")):
        vector = lsa.encode([text])[0].astype(np.float64)
        np.testing.assert_allclose(X[row, 1:], vector / np.linalg.norm(vector), rtol=1e-12)
    assert not X[1, 1:].any()
    raw, _ = encode(RowFeatures({"text": askance.Embedding(lsa)}, raw=True), RawRows(["lunch"]))
    np.testing.assert_array_equal(raw.toarray()[0], lsa.encode(["lunch"])[0].astype(np.float64))


def test_run_pieces_frames_and_single_events_decide_alike_bit_for_bit(lsa):
    whole = make(lsa).run(events(), LABELS)
    assert 0 < whole.asked.sum() < 300
    assert (whole.predicted == LABELS)[100:].mean() > 0.8
    pieces = make(lsa).run(
        iter([(events()[start : start + 70], LABELS[start : start + 70]) for start in range(0, 300, 70)])
    )
    frame = make(lsa).run(pd.DataFrame(events()), LABELS)
    for other in (pieces, frame):
        np.testing.assert_array_equal(whole.margin, other.margin)
        np.testing.assert_array_equal(whole.asked, other.asked)
    # single events begin after the kinds of the other fields are settled
    clf, twin = make(lsa), make(lsa)
    rest = clf.run(events()[:100], LABELS[:100]) and clf.run(events()[100:], LABELS[100:])
    twin.run(events()[:100], LABELS[:100])
    for place, event in enumerate(events()[100:]):
        decision = twin.ask(event)
        assert (decision.margin, decision.asked) == (rest.margin[place], rest.asked[place])
        if decision.asked:
            twin.tell(ticket=decision.ticket, y=LABELS[100 + place])
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


def test_callables_work_too_and_texts_alone(lsa):
    one = make(lsa).run(TEXTS, LABELS)
    other = make(lambda texts: lsa.encode(texts).tolist()).run(TEXTS, LABELS)
    np.testing.assert_array_equal(one.margin, other.margin)


def test_vectors_are_kept_up_to_a_limit_and_texts_encoded_one_by_one():
    encoder = Lsa()
    embedding = askance.Embedding(encoder, cache=2)
    assert embedding.width == DIMENSIONS
    encoder.asked.clear()
    first = embedding.vectors(["a prize", "lunch", "a prize"])
    assert encoder.asked == ["a prize", "lunch"]
    np.testing.assert_array_equal(first[0], first[2])
    embedding.vectors(["a prize", "friday"])  # lunch is the one not used for longest
    embedding.vectors(["a prize", "lunch"])
    assert encoder.asked == ["a prize", "lunch", "friday", "lunch"]
    np.testing.assert_array_equal(embedding.vectors(["lunch"]), first[1:2])
    none = askance.Embedding(encoder, cache=0)
    np.testing.assert_array_equal(none.vectors(["lunch", "lunch"]), first[[1, 1]])


def test_with_a_batch_texts_go_to_the_encoder_together():
    sizes = []

    def encode(texts):
        sizes.append(len(texts))
        return np.array([[len(text), 1.0] for text in texts])

    embedding = askance.Embedding(encode, batch=4)
    embedding.vectors([f"text {k}" for k in range(10)])
    assert sizes == [4, 4, 2, 1]  # the last to learn the width, had there been no text


def test_a_model_is_saved_without_its_encoder_and_goes_on_with_it(lsa, tmp_path):
    clf = make(lsa)
    clf.run(events()[:150], LABELS[:150])
    clf.save(tmp_path / "m.model")
    with pytest.raises(ModelFileError, match=r"embeds the field 'text' with an encoder of yours.*encoders=\{'text': "):
        askance.load(tmp_path / "m.model")
    with pytest.raises(ModelFileError, match="encoders names 'subject'"):
        askance.load(tmp_path / "m.model", encoders={"text": lsa, "subject": lsa})
    with pytest.raises(ModelFileError, match="gives vectors of 5 numbers, and the model learned from 12"):
        askance.load(tmp_path / "m.model", encoders={"text": Lsa(5)})
    again = askance.load(tmp_path / "m.model", encoders={"text": lsa})
    assert again.fields_ == {"text": "embedding", "size": "number"}
    one, other = clf.run(events()[150:], LABELS[150:]), again.run(events()[150:], LABELS[150:])
    np.testing.assert_array_equal(one.margin, other.margin)
    again.save(tmp_path / "again.model")
    assert "embeds the field 'text'" in complaint("predict", "x.csv", "--load", "again.model", cwd=tmp_path)
    assert "encoders names 'text'" in _refusal(tmp_path, lsa)


def _refusal(folder, lsa):
    """What is said of an encoder for a model that has no place for it."""
    askance.make("PAA-I").fit(TEXTS[:20], LABELS[:20]).save(folder / "plain.model")
    with pytest.raises(ModelFileError) as refused:
        askance.load(folder / "plain.model", encoders={"text": lsa})
    return str(refused.value)


def test_copies_share_the_encoder(lsa):
    clf = make(lsa).fit(TEXTS, LABELS)
    for copied in (clone(clf), copy.deepcopy(clf)):
        assert copied.fields["text"].encoder is lsa
    assert clone(clf).fit(TEXTS, LABELS).predict(TEXTS).tolist() == clf.predict(TEXTS).tolist()


def test_a_prediction_is_explained_by_the_field(lsa):
    clf = make(lsa, intercept=True).fit(events(), LABELS)
    found = dict(clf.explain(events()[0], "spam"))
    assert {name.partition("=")[0] for name in found} <= {"text", "size"}
    margin = clf.decision_function(events()[:1])[0]
    assert sum(found.values()) == pytest.approx(margin - clf.intercept_[0])


@pytest.mark.parametrize(
    ("encoder", "reason"),
    [
        (lambda texts: np.zeros(3), "gave an array of shape"),
        (lambda texts: np.zeros((len(texts) + 1, 3)), "it must give a row for each"),
        (lambda texts: np.zeros((len(texts), 0)), "gave an array of shape"),
        (lambda texts: np.full((len(texts), 3), np.nan), "not finite"),
        (lambda texts: [["x"] for _ in texts], "failed, or gave no array of numbers"),
        (lambda texts: np.ones((1, 2 if texts == ["text"] else 3)), "gave 3 numbers, and 2 before"),
    ],
)
def test_what_an_encoder_must_not_give_is_refused_in_a_sentence(encoder, reason):
    with pytest.raises(InvalidInput, match=reason):
        make(encoder).run(TEXTS, LABELS)


def test_an_encoder_that_fails_leaves_the_model_as_it_was(lsa):
    broken = []

    def encode(texts):
        if broken:
            raise ValueError("out of order")
        return lsa.encode(texts)

    clf, twin = make(encode), make(lsa)
    clf.run(events()[:100], LABELS[:100])
    twin.run(events()[:100], LABELS[:100])
    broken.append(True)
    with pytest.raises(InvalidInput, match="out of order"):
        clf.run([{"text": "never seen", "size": 7, "new": 3}], ["ham"])
    broken.clear()
    one, other = clf.run(events()[100:], LABELS[100:]), twin.run(events()[100:], LABELS[100:])
    np.testing.assert_array_equal(one.margin, other.margin)


def test_slips_are_answered_in_a_sentence():
    with pytest.raises(InvalidParameter, match="an encoder is a callable, or has a method encode, got str"):
        askance.Embedding("all-MiniLM-L6-v2")
    with pytest.raises(InvalidParameter, match="batch must be a whole number of 1 or more, got 0"):
        askance.Embedding(len, batch=0)
    with pytest.raises(InvalidParameter, match="the kind of field 'text' must be one of"):
        open_stream(io.BytesIO(b'{"text": "a"}\n'), format="jsonl", features={"text": askance.Embedding(len)})
    with pytest.raises(InvalidInput, match=r"field 'text.body' lies inside one that is embedded"):
        make(lambda texts: np.ones((len(texts), 2))).run([{"text": {"body": "x"}}] * 2, ["ham", "spam"])
