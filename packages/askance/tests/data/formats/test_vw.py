"""Vowpal Wabbit's text format, in and out; columns are compared with those of the real vw."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.here import complaint, here
from tests.data.formats import slow

import askance
from askance.data import open_stream, write_vw
from askance.data.encoding.hashing import hash_of
from askance.data.formats.vw import Head, LineError, Namespaces, read_head, split_line
from askance.errors import BadLine, InvalidInput

LINES = """\
1 |f 13:3.9656971e-02 24:3.4 prize
0 1 'third_house | price:.53 sqft:.32 age:.87 1924
-1 2.5 tag|ns:2.5 a:2 b x:y |12 7 8:3 q
| a b:2 c:word :3 :4 d:0
 'later |m n:-1e3 m |m n
1 x|f é:2 日本
"""


def read(content, **options):
    return open_stream(io.BytesIO(content), format="vw", **({"raw": True} | options))


def rows_of(content, **options):
    return slow.played(read(content, **options))


def hashed(name, namespace=""):
    return hash_of(name, hash_of(namespace) if namespace else 0) % 2**18


# --- lines -----------------------------------------------------------------------------------------------


def test_columns_values_label_importance_and_tag_are_those_of_vw():
    vw = pytest.importorskip("vowpalwabbit", reason="the real vw is in the extra peers")
    workspace = vw.Workspace("--quiet --noconstant -b 18")
    namespaces = Namespaces(18)
    for line in LINES.splitlines():
        example = workspace.parse(line)
        theirs = [
            (example.feature(place, i) % 2**18, example.feature_weight(place, i))
            for place in range(example.num_namespaces())
            for i in range(example.num_features_in(place))
        ]
        head, rest = split_line(line.encode())
        ours, found = namespaces.read(rest), read_head(head)
        pairs = sorted(zip(ours.columns, ours.values, strict=True))
        assert [column for column, _ in pairs] == [column for column, _ in sorted(theirs)]
        np.testing.assert_allclose([value for _, value in pairs], [value for _, value in sorted(theirs)], rtol=1e-6)
        assert found.tag == example.get_tag()
        assert found.importance == example.get_simplelabel_weight()
        label = example.get_simplelabel_label()
        assert (found.label is None and label > 1e38) or float(found.label) == label
        workspace.finish_example(example)
    workspace.finish()


def test_names_are_hashed_with_their_namespace_and_digits_stand_for_themselves():
    rows, labels = rows_of(b"1 |f prize 7:2 |g prize |12 3\n0 | prize 5\n")
    seed = hash_of("f")
    assert rows == [
        {hashed("prize", "f"): 1.0, (seed + 7) % 2**18: 2.0, hashed("prize", "g"): 1.0, 15: 1.0},
        {hashed("prize"): 1.0, 5: 1.0},
    ]
    assert labels == [1, 0]


def test_a_word_after_the_colon_is_hashed_with_its_name_and_a_feature_without_a_name_counts_on():
    rows, _ = rows_of(b"1 |f:3 city:Oslo :2 :4\n")
    seed = hash_of("f")
    assert rows == [{hash_of("Oslo", hash_of("city", seed)) % 2**18: 1.0, seed % 2**18: 6.0, (seed + 1) % 2**18: 12.0}]


def test_repeated_features_are_added_zeros_and_missing_values_left_out():
    assert rows_of(b"1 | 3:1 3:2 4:0 5:nan 6:-1 6:1\n")[0] == [{3: 3.0}]


def test_a_number_of_hundreds_of_digits_is_a_name_like_others():
    digits = "9" * 5000
    assert rows_of(f"1 | {digits}\n".encode())[0] == [{(10**5000 - 1) % 2**18: 1.0}]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("", Head(None, 1.0, "")),
        ("1 ", Head("1", 1.0, "")),
        ("1", Head(None, 1.0, "1")),  # it touches the bar, and so is the tag
        ("-1 0.5 ", Head("-1", 0.5, "")),
        ("spam 2 mail7", Head("spam", 2.0, "mail7")),
        ("1 'a ", Head("1", 1.0, "a")),
        ("1 2.5 a ", Head("1", 2.5, "a")),
        ("key\t1 2 ", Head("1", 2.0, "")),
        ("1\t", Head("1", 1.0, "")),
    ],
)
def test_heads(head, found):
    assert read_head(head.encode()) == found


def test_a_third_word_is_the_tag_where_that_is_known():
    assert read_head(b"1 2.5 17 ", third_is_tag=True) == Head("1", 2.5, "17")
    with pytest.raises(LineError, match="initial prediction '17' is not supported; write a tag as '17"):
        read_head(b"1 2.5 17 ")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 2 3", "there is no | before the features"),
        ("1 -2 | a", "the importance '-2' is not a number of 0 or more"),
        ("1 x 'a | b", "the importance 'x' is not a number of 0 or more"),
        ("1:2:0.5 | a", "the label '1:2:0.5' has costs or actions"),
        ("1 1 1 1 1 | a", "5 words stand before the features"),
        ("1 |f a:inf", "'inf' is not finite"),
        ("1 |f a:1e200", "'a:1e200' is too large"),
        ("1 |f a: b", "there is no value after the colon of 'a:'"),
        ("1 |:2 a", "the namespace ':2' has no name"),
        ("1 |f:x a", "the weight of the namespace 'f:x' is not a number"),
    ],
)
def test_a_bad_line_is_refused_in_a_sentence_or_left_out(line, reason):
    content = f"1 | a\n{line}\n0 | b\n".encode()
    with pytest.raises(BadLine, match=r"^line 2 of .*" + slow.re.escape(reason)):
        rows_of(content)
    stream = read(content, skip_bad_lines=True)
    assert [batch.X.shape[0] for batch in stream] == [2]
    assert stream.bad_lines == 1


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=" |:'\t1-a.é\0_en", max_size=40))
def test_no_line_is_answered_with_anything_but_rows_or_a_sentence(line):
    stream = read(line.encode() + b"\n1 | a\n", skip_bad_lines=True)
    for batch in stream:
        assert np.isfinite(batch.X.data).all()
        assert batch.X.shape[1] == 2**18


# --- streams ---------------------------------------------------------------------------------------------


def test_importances_are_weights_of_the_batch_and_tags_are_ids():
    stream = read(b"1 2.5 'a| x\n\n'b| y\n0 | z\n", origins=True)
    (batch,) = stream
    assert batch.weights.tolist() == [2.5, 1.0, 1.0]
    assert batch.y.tolist() == [1, None, 0]
    assert batch.origins["id"].tolist() == ["a", "b", None]
    assert batch.origins["line"].tolist() == [1, 3, 4]
    assert "1 events of" in stream.warnings[0]


def test_numbers_are_standardised_and_words_of_a_namespace_have_unit_length():
    rng = np.random.default_rng(0)
    sizes = rng.normal(1000, 300, 50)
    content = "".join(f"1 | size:{size!r} |t a b b |u c\n" for size in sizes.tolist())
    (batch,) = read(content.encode(), raw=False)
    X = batch.X.toarray()
    seen = [(sizes[k] - sizes[: k + 1].mean()) / (sizes[: k + 1].std() or 1.0) for k in range(50)]
    np.testing.assert_allclose(X[:, 0], seen, atol=1e-9)
    third = 1 / np.sqrt(3)
    words = {hashed("a", "t"): third, hashed("b", "t"): 2 * third, hashed("c", "u"): 1.0}
    for column, value in words.items():
        np.testing.assert_allclose(X[:, 1 + column], value)
    assert np.count_nonzero(X[-1]) == 4


@pytest.mark.parametrize("values", ["ones", "numbers"])
def test_decisions_are_those_of_the_same_rows_in_a_libsvm_file(values):
    rng = np.random.default_rng(1)
    X = sp.csr_matrix(sp.random(400, 30, 0.3, "csr", rng=rng))
    X.data = np.ones_like(X.data) if values == "ones" else rng.normal(5, 3, X.data.size)
    told_by = X.toarray()[:, :5].sum(axis=1)
    y = np.where(told_by > np.median(told_by), 1, -1)
    libsvm, vw = [], []
    for row, label in zip(map(X.getrow, range(400)), y.tolist(), strict=True):
        pairs = [f"{column + 1}:{value!r}" for column, value in zip(row.indices, row.data.tolist(), strict=True)]
        libsvm.append(f"{label} " + " ".join(pairs))
        vw.append(f"{label} | " + " ".join(pairs))
    traces = []
    for lines, form in ((libsvm, "libsvm"), (vw, "vw")):
        clf = askance.make("SOAL-diag", classes=[-1, 1], intercept=True, random_state=0)
        stream = open_stream(io.BytesIO("\n".join(lines).encode()), format=form)
        traces.append(clf.run((batch.X, batch.y) for batch in stream))
    one, other = traces
    np.testing.assert_array_equal(one.asked, other.asked)
    np.testing.assert_array_equal(one.margin, other.margin)
    assert 0 < one.asked.sum() < 400


@pytest.mark.parametrize("raw", [True, False])
def test_batches_and_going_on_with_a_state_change_nothing(raw):
    rng = np.random.default_rng(2)
    lines = [
        f"{rng.choice([-1, 1])} |n size:{rng.normal()!r} |t {' '.join(rng.choice(list('abcdefg'), 4))}\n".encode()
        for _ in range(60)
    ]
    (whole,) = read(b"".join(lines), raw=raw, hash_bits=8)
    pieces = sp.vstack([batch.X for batch in read(b"".join(lines), raw=raw, hash_bits=8, batch_rows=7)])
    np.testing.assert_array_equal(whole.X.toarray(), pieces.toarray())
    first = read(b"".join(lines[:25]), raw=raw, hash_bits=8)
    (begun,) = first
    (rest,) = open_stream(io.BytesIO(b"".join(lines[25:])), format="vw", state=first.state())
    np.testing.assert_array_equal(sp.vstack([begun.X, rest.X]).toarray(), whole.X.toarray())


def test_a_damaged_state_and_one_of_another_format_are_refused():
    state = read(b"1 | a:2\n0 | a:3\n", raw=False).state()
    for damage in ({"numbers": [5, 4]}, {"numbers": [2**18]}, {"numbers": "x"}, {"hash_bits": 99}):
        with pytest.raises(ValueError, match="saved state|hash_bits"):
            open_stream(io.BytesIO(b"1 | a\n"), format="vw", state=state | damage)
    with pytest.raises(InvalidInput, match="trained on 'vw' data"):
        open_stream(io.BytesIO(b"1 1:1\n"), format="libsvm", state=state)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"1 |f a:2 b\n-1 |f c b:3\n", "vw"),
        (b"| price:2 a\n'x | price:3 b\n", "vw"),
        (b"1 2.0 'tag|f a:2 b |g c\n", "vw"),
        (b"a|b|c\n1|2|3\n4|5|6\n", "csv"),
        (b"1 | 2 | 3\n4 | 5 | 6\n", "csv"),
        (b"time | x\n1 | 08:30 z\n", "csv"),
    ],
)
def test_the_format_is_told_by_the_content_if_it_is_clear(content, form):
    stream = open_stream(io.BytesIO(content * 5))
    assert (type(stream).__name__ == "VwStream") == (form == "vw")


# --- out -------------------------------------------------------------------------------------------------


def test_what_is_written_is_read_back_as_it_was(tmp_path):
    X = sp.random(50, 200, 0.1, "csr", rng=np.random.default_rng(3))
    y = np.random.default_rng(3).choice([-1.0, 1.0], 50)
    importance = 1 / np.random.default_rng(4).random(50)
    assert write_vw(tmp_path / "x.vw", X, y, importance=importance, tags=range(50)) == 50
    (batch,) = open_stream(tmp_path / "x.vw", raw=True, origins=True)
    np.testing.assert_array_equal(batch.X.toarray()[:, :200], X.toarray())
    assert batch.y.tolist() == y.tolist()
    assert batch.y.dtype.kind == "i"
    np.testing.assert_array_equal(batch.weights, importance)
    assert batch.origins["id"].tolist() == [str(tag) for tag in range(50)]


def test_the_real_vw_learns_from_what_is_written_what_it_learns_from_the_same_features(tmp_path):
    vw = pytest.importorskip("vowpalwabbit", reason="the real vw is in the extra peers")
    X = np.random.default_rng(5).normal(size=(200, 6)).round(3)
    y = np.where(X[:, 2] > 0, 1, -1)
    write_vw(tmp_path / "x.vw", X, y)
    lines = (tmp_path / "x.vw").read_text().splitlines()
    workspace = vw.Workspace("--quiet --noconstant --loss_function logistic -b 10")
    for line in lines:
        workspace.learn(line)
    predicted = np.array([workspace.predict(line.partition("|")[1] + line.partition("|")[2]) for line in lines])
    weights = np.array([workspace.get_weight(column) for column in range(6)])
    workspace.finish()
    np.testing.assert_allclose(predicted, X @ weights, rtol=1e-4, atol=1e-4)
    assert (np.sign(predicted) == y).mean() > 0.95


def test_named_fields_are_written_by_their_kinds_and_what_cannot_be_in_names_is_replaced(tmp_path):
    rows = [
        {"size": "1200", "from": "New York", "text": "Win: a|prize", "7": 2, "tags": ["a b", "7"]},
        {"size": None, "from": None, "text": "", "7": 1, "tags": []},
    ] * 3
    write_vw(tmp_path / "x.vw", rows, ["a b", None] * 3)
    first, second = (tmp_path / "x.vw").read_text().splitlines()[:2]
    assert first == "a_b | size:1200.0 _7:2.0 |from New_York |text win a prize |tags a_b _7"
    assert second == "| _7 |from missing"


def test_tables_and_texts_are_written_too(tmp_path):
    import pandas as pd

    write_vw(tmp_path / "x.vw", pd.DataFrame({"size": [1.5, 2.5], "city": ["Oslo", "Lima"]}), [1, 0])
    assert (tmp_path / "x.vw").read_text() == "1 | size:1.5 |city Oslo\n0 | size:2.5 |city Lima\n"
    write_vw(tmp_path / "x.vw", pd.DataFrame({"sent": pd.to_datetime(["2026-05-01 10:03", "2026-05-02 23:30"])}))
    assert (tmp_path / "x.vw").read_text() == "|sent Friday 10_h\n|sent Saturday 23_h\n"
    write_vw(tmp_path / "x.vw", ["Win a prize", "Lunch?"])
    assert (tmp_path / "x.vw").read_text() == "|text win a prize\n|text lunch\n"


@pytest.mark.parametrize(
    ("X", "options", "reason"),
    [
        ([[1.0]], {}, r"row 0 of X is \[1.0\]; each event is a dict of fields, or a text"),
        (3, {}, "X must be an array"),
        (np.ones(3), {}, "X must have two dimensions"),
        (np.array([[np.nan]]), {}, "not finite"),
        (np.ones((2, 1)), {"y": [1]}, "there are 2 events, but y has 1 entries"),
        (np.ones((1, 1)), {"importance": [2.0]}, "an importance stands after a label"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_no_file(X, options, reason, tmp_path):
    with pytest.raises(InvalidInput, match=reason):
        write_vw(tmp_path / "x.vw", X, **options)
    assert list(tmp_path.iterdir()) == []


# --- commands --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mail")
    rng = np.random.default_rng(6)
    with open(folder / "mail.csv", "w") as file:
        file.write("id,size,text,label\n")
        for k in range(400):
            is_spam = rng.random() < 0.4
            words = rng.choice(["prize", "win", "now"] if is_spam else ["lunch", "friday", "hello"], 4)
            file.write(f"m{k},{rng.normal(500):.3f},{' '.join(words)},{1 if is_spam else -1}\n")
    return folder


def test_a_csv_file_becomes_lines_that_are_played_checked_compared_and_predicted(mail):
    assert here("convert", "mail.csv", "mail.vw", cwd=mail).stdout == "mail.vw: 400 events.\n"
    lines = (mail / "mail.vw").read_text().splitlines()
    assert lines[0].split("|")[0] in ("1 'm0", "-1 'm0")
    played = here("run", "mail.vw", "--algorithm", "PAA-I", "--save", "m.model", "--json", cwd=mail)
    assert '"accuracy": 0.9' in played.stdout
    assert "hashed features, numbers standardised" in here("check", "mail.vw", "--json", cwd=mail).stdout
    assert (
        here("compare", "mail.vw", "-a", "PAA-I:C=1", "--ratios", "0.2", "--permutations", "1", cwd=mail).returncode
        == 0
    )
    predicted = here("predict", "mail.vw", "--load", "m.model", cwd=mail).stdout
    assert "m399" in predicted
    assert here("run", "mail.vw", "--load", "m.model", cwd=mail).returncode == 0


def test_slips_of_convert_are_answered_in_a_sentence(mail):
    assert "does not end with .vw" in complaint("convert", "mail.csv", "out.txt", cwd=mail)
    assert "no folder" in complaint("convert", "mail.csv", "none/out.vw", cwd=mail)
