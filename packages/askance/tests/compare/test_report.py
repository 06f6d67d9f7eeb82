"""The report: one valid file that needs nothing else."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compare.streams import blobs

from askance.compare import Candidate, Results, Sweep
from askance.compare.charts import DARK, LIGHT, nice_ticks, separate_labels
from askance.compare.curves import chart_of, styles
from askance.compare.findings import findings
from askance.compare.report import report, save_report
from askance.compare.statistics import lines, p_value
from askance.evaluate.metrics.format import in_digits

VOID = {"meta", "br", "path", "line", "circle", "link", "img"}


class Checker(HTMLParser):
    """Every tag that opens is closed in order; collects tags, attributes and text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    for name, value in checker.attributes:
        if name in ("src", "href", "xlink:href", "action", "srcset", "data"):
            assert value.startswith("data:"), value
    assert not re.search(r"https?://|@import|url\(", page)
    assert not {"link", "iframe", "img", "object", "embed"} & set(checker.tags)
    assert "nan" not in re.findall(r'd="[^"]*"|[xy12]+="[^"]*"', page).__repr__().lower()
    return checker


@pytest.fixture(scope="module")
def results():
    algorithms = ["PAA-I", "RPA-I", Candidate("SOAL-diag", {"eta": [0.03, 30.0]}), "SOL-diag", "UOAL-entropy"]
    return Sweep(blobs(), algorithms, [0.03, 0.1, 0.3], permutations=4, search_permutations=2).run(workers=1)


def test_the_page_is_valid_and_needs_no_network(results, tmp_path):
    save_report(results, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    checker = check(page)
    assert page.startswith("<!doctype html>")
    text = " ".join(checker.text)
    for candidate in results.candidates:
        assert candidate in text
    assert checker.tags.count("svg") == 2 * (6 + 3)  # six metrics and three ratios, each wide and narrow
    assert "prefers-color-scheme" in page
    assert 'name="viewport"' in page.replace("&quot;", '"')


def test_what_could_not_be_reached_is_said(results):
    page = report(results)
    off = [choice for choice in results.choices if not choice.reached]
    assert off, "UOAL-entropy cannot ask for so few"
    for choice in off:
        assert choice.note in page


@pytest.mark.parametrize(
    "options",
    [
        {"algorithms": ["PAA-I"], "ratios": [0.1], "permutations": 1},
        {"algorithms": ["PA-I"], "ratios": [0.1]},
        {"algorithms": ["PAA-I", "PA-I", "RPA-I"], "budgets": [10, 50], "metric": "cost"},
        {"algorithms": ["PAA-I"], "scales": [0.1, 1.0]},
        {"algorithms": ["PAA-I"], "ratios": [0.1], "metric": "auc"},
        {"algorithms": [Candidate("SOAL-diag", fixed={"eta": 100.0})], "ratios": [0.001]},
    ],
    ids=["one of everything", "passive only", "budgets", "scales", "auc", "nothing reached"],
)
def test_any_results_make_a_page(options):
    settings = {"permutations": 2, "search_permutations": 1} | options
    check(report(Sweep(blobs(), settings.pop("algorithms"), settings.pop("ratios", None), **settings).run(workers=1)))


def test_several_classes_and_several_data_sets_make_a_page():
    parts = []
    for name in ("first", "second"):
        _, X, y = blobs(n_classes=4)
        sweep = Sweep((name, X, y), ["MPAA-I", "MRPA-I"], [0.1, 0.3], permutations=2, metric="accuracy")
        parts.append(sweep.run(workers=1))
    page = report(Results.merge(parts))
    check(page)
    assert "first: what labels buy" in page
    assert "second: what labels buy" in page


def test_names_from_files_cannot_break_the_page():
    _, X, y = blobs()
    labels = np.where(y == "spam", "<script>alert(1)</script>", "b & c")
    candidate = Candidate("PAA-I", label='"><img src=x onerror=alert(2)>')
    results = Sweep(("<b>name", X, labels), [candidate, "RPA-I"], [0.1], permutations=2).run(workers=1)
    page = report(results)
    check(page)
    assert "<script>alert" not in page
    assert "<img" not in page


def test_the_findings_follow_from_the_numbers(results):
    sentences = findings(results, "blobs")
    assert 1 <= len(sentences) <= 3
    assert any("balanced accuracy" in sentence for sentence in sentences)


def test_every_candidate_looks_different():
    assert len(LIGHT) == len(DARK)
    many = Results({"targets": []})
    from askance.compare import TunedSetting

    many.choices = [TunedSetting("d", f"c{n}", "PAA-I", 0.1, {}, 1.0, 0.1, True, "", None, 1) for n in range(70)]
    looks = {(style.colour, style.marker) for style in styles(many).values()}
    assert len(looks) == 70


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT, "#ffffff"), (DARK, "#1b1d20")])
def test_lines_stand_out_from_the_ground(colours, ground):
    """A contrast of 3 : 1, what accessibility guidelines ask of graphics."""
    for colour in colours:
        bright, dim = sorted([luminance(colour), luminance(ground)], reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 3.0, colour


def test_labels_are_moved_apart_and_stay_inside():
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 19):
        places = rng.uniform(0, 100, count).tolist()
        moved = separate_labels(places, least=5.0, low=0.0, high=100.0)
        ordered = np.sort(moved)
        assert np.all(np.diff(ordered) >= 5.0 - 1e-9)
        assert ordered[0] >= 0.0
        assert ordered[-1] <= 100.0 + 1e-9
        assert np.argsort(moved).tolist() == np.argsort(places).tolist()


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.861, 0.864), (1_000, 15_000), (-0.2, 3.7), (0.5, 0.5001)])
def test_ticks_are_round_and_inside(low, high):
    ticks = nice_ticks(low, high, 6)
    assert 2 <= len(ticks) <= 6
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


ALGORITHMS = {"R": "RPA-I", "P": "PAA-I"}


def made(values, labels, metric="f1", algorithms=ALGORITHMS, parameters=None):
    """Results with given plays: candidates by target, each with a value per permutation."""
    from askance.compare import TunedSetting

    settings = {"kind": "ratio", "targets": sorted({target for _, target in values}), "metric": metric}
    results = Results(settings)
    for (candidate, target), plays in values.items():
        letters = (parameters or {}).get(candidate, {})
        algorithm = algorithms[candidate]
        results.choices.append(TunedSetting("d", candidate, algorithm, target, letters, 1.0, target, True, "", None, 1))
        for permutation, value in enumerate(plays):
            row = {"dataset": "d", "candidate": candidate, "target": target, "permutation": permutation}
            results.records.append(row | {metric: value, "labels": labels[target]})
    return results


LABELS = {0.05: 50, 0.1: 100, 0.3: 300}
NOISE = np.array([0.02, -0.02, 0.03, -0.03])
REALLY = {
    ("P", 0.05): 0.468 + NOISE, ("R", 0.05): 0.467 - NOISE,
    ("P", 0.1): 0.7 + NOISE, ("R", 0.1): 0.6 + NOISE,
    ("P", 0.3): 0.8 + NOISE, ("R", 0.3): 0.699 - NOISE,
}  # fmt: skip


def test_a_saving_is_claimed_only_where_the_test_agrees():
    """Asking at random has a slightly lower mean at 5 %, which is chance; only at 10 % is it really worse."""
    by_chance = {
        ("P", 0.05): 0.468 + NOISE, ("R", 0.05): 0.467 - NOISE,
        ("P", 0.3): 0.469 + NOISE, ("R", 0.3): 0.4695 - NOISE,
    }  # fmt: skip
    said = " ".join(findings(made(by_chance, LABELS), "d"))
    assert "Choosing pays" not in said
    assert "(not significantly different from at least one other everywhere)" in said
    said = " ".join(findings(made(REALLY, LABELS), "d"))
    assert "(not significantly different from at least one other at 5 %)" in said
    begins = (
        "Choosing pays: <i>P</i> reaches 0.700 with 100 labels. Its random baseline <i>R</i> is significantly worse "
        "with 100 (0.600) and"
    )
    never = f"{begins} does not reach 0.700 within the label counts compared: its best is"
    assert f"{never} 0.699 with 300 (not significantly different)." in said
    worse = REALLY | {("R", 0.3): 0.6 + NOISE[::-1]}
    assert f"{never} 0.600 with 100." in " ".join(findings(made(worse, LABELS), "d"))
    as_good = REALLY | {("R", 0.3): 0.6996 - NOISE}
    assert f"{begins} reaches 0.700 or better with 300 (0.700), the smallest number compared that does." in " ".join(
        findings(made(as_good, LABELS), "d")
    )


def test_no_saving_is_claimed_where_the_baseline_with_as_many_labels_was_not_compared():
    """Worse with fewer labels than the best had, and as good with more: nothing shows what as many would give."""
    gap = {("P", 0.1): 0.7 + NOISE, ("R", 0.05): 0.5 - NOISE, ("R", 0.3): 0.71 - NOISE}
    assert "Choosing pays" not in " ".join(findings(made(gap, LABELS), "d"))


shares = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@st.composite
def tables(draw):
    """Values of an algorithm, its random baseline and, at times, all labels; often equal as they are shown."""
    metric = draw(st.sampled_from(["f1", "mistakes"]))
    scale = {"f1": 1.0, "mistakes": 2000.0}[metric]
    base = draw(st.lists(shares, min_size=1, max_size=3))
    values = st.builds(
        lambda middle, off, spread: scale * np.clip(middle + off + spread * NOISE, 0.0, 1.0),
        st.sampled_from(base),
        st.sampled_from([0.0, 0.0004, -0.0004, 0.004, -0.004, 0.01, -0.05]),
        st.sampled_from([0.01, -0.01, 1.0]),
    )
    counts = dict(
        zip((0.05, 0.1, 0.3), sorted(draw(st.sets(st.integers(1, 999), min_size=3, max_size=3))), strict=True)
    )
    places = [(name, target) for name in "PR" for target in counts]
    played = draw(st.lists(st.sampled_from(places), min_size=1, max_size=6, unique=True))
    table = {place: draw(values) for place in played}
    return metric, table, counts, draw(values) if draw(st.booleans()) else None


def read(text):
    return float(text.replace(",", ""))


NUMBER = r"([\d.,]*\d)"


@given(tables())
def test_what_a_sentence_claims_follows_from_the_numbers_it_shows(case):
    metric, table, counts, everything = case
    results = made(table, counts, metric, {**ALGORITHMS, "A": "PA-I"})
    if everything is not None:
        add_all_labels(results, metric, everything)
    shown = {
        (line.candidate, round(line.labels)): (1 if metric == "f1" else -1) * read(in_digits(line.mean))
        for line in lines(results, metric, "d")
    }
    of_random = {labels: value for (name, labels), value in shown.items() if name == "R"}
    sign = 1 if metric == "f1" else -1
    for sentence in findings(results, "d", metric):
        if match := re.search(
            rf"<i>P</i> reaches {NUMBER} with {NUMBER} labels.*worse with {NUMBER} \({NUMBER}", sentence
        ):
            value, labels, as_many, less = map(read, match.groups())
            value, less = sign * value, sign * less
            assert shown["P", labels] == value > less == of_random[as_many]
            assert as_many * 1.2 > labels
            reached = [count for count, other in sorted(of_random.items()) if other >= value]
            if "does not reach" in sentence:
                found = re.search(rf"its best is {NUMBER} with {NUMBER}", sentence)
                assert reached == []
                assert sign * read(found[1]) == of_random[read(found[2])] == max(of_random.values()) < value
                assert f"does not reach {match[1]} " in sentence
            else:
                found = re.search(rf"reaches {NUMBER} or better with {NUMBER} \({NUMBER}\)", sentence)
                assert (read(found[1]), read(found[2])) == (sign * value, reached[0])
                assert sign * read(found[3]) == of_random[reached[0]] >= value
                assert reached[0] > as_many
        elif match := re.search(
            rf"the labels \({NUMBER}\), <i>(.)</i> (.*) <i>A</i> .*: {NUMBER}, against {NUMBER}\.", sentence
        ):
            value, full = sign * read(match[4]), sign * read(match[5])
            assert shown[match[2], read(match[1])] == value
            off = (full - value) / max(abs(full), 1e-9)
            assert match[3] == "equals or beats" if value > full else off <= 0.05 + 2e-3 / max(abs(full), 1e-9)
        elif "at every number" in sentence:
            name = re.search("<b>(.)</b>", sentence)[1]
            for labels in counts.values():
                there = {who: value for (who, count), value in shown.items() if count == labels}
                assert not there or there[name] == max(there.values())
        else:
            assert re.match("Best |All labels would|<b>", sentence), sentence


def add_all_labels(results, metric, values):
    from askance.compare import TunedSetting

    results.choices.append(TunedSetting("d", "A", "PA-I", 1.0, {}, None, 1.0, True, "", None, 1))
    for permutation, value in enumerate(values):
        row = {"dataset": "d", "candidate": "A", "target": 1.0, "permutation": permutation}
        results.records.append(row | {metric: value, "labels": 1000})


def test_one_small_p_among_many_tests_is_no_saving():
    """At 5 % the twin is worse with p = 0.04, one of nine tests; nothing else tells the two from each other."""
    less = 0.02 + np.array([0.01, -0.01, 0.01, -0.01])
    lucky = REALLY | {("P", 0.05): 0.5 + NOISE, ("R", 0.05): 0.5 + NOISE - less}
    lucky |= {("P", 0.1): 0.51 + NOISE, ("R", 0.1): 0.505 - NOISE, ("P", 0.3): 0.511 + NOISE, ("R", 0.3): 0.51 - NOISE}
    assert 0.03 < p_value(lucky["R", 0.05], lucky["P", 0.05]) < 0.05
    assert "Choosing pays" not in " ".join(findings(made(lucky, LABELS), "d"))


@pytest.mark.parametrize(
    ("algorithms", "parameters"),
    [
        ({"R": "RPA-I", "P": "auto"}, {}),  # another learner
        ({"R": "RPA-I", "P": "SOAL-diag"}, {}),
        ({"R": "RPA-I", "P": "OA3-diag"}, {}),  # no twin at all
        ({"R": "RPA-I", "P": "PAA-I"}, {"R": {"C": 1e-6, "rate": 0.1}, "P": {"C": 1.0, "delta": 1.0}}),
        ({"R": "auto-random", "P": "auto"}, {"P": {"objective": "f1"}}),
    ],
)
def test_no_saving_is_claimed_beside_another_learner(algorithms, parameters):
    said = " ".join(findings(made(REALLY, LABELS, algorithms=algorithms, parameters=parameters), "d"))
    assert "Best F1" in said or "best F1" in said
    assert "Choosing pays" not in said


@pytest.mark.parametrize(
    ("twin", "algorithm"), [("RPA-I", "OAAL"), ("SORL-diag", "SOAL-diag"), ("auto-random", "auto"), ("R-ADA", "D-ADA")]
)
def test_a_saving_is_claimed_beside_the_twin(twin, algorithm):
    scale = {"OAAL": "delta_pos", "SOAL-diag": "delta", "auto": "rate", "D-ADA": "b"}[algorithm]
    parameters = {"R": {"rate": 0.1}, "P": {scale: 0.3}}
    said = " ".join(findings(made(REALLY, LABELS, algorithms={"R": twin, "P": algorithm}, parameters=parameters), "d"))
    assert "Choosing pays" in said


def test_a_single_permutation_claims_no_saving_and_has_no_spread():
    single = {("P", 0.05): [0.8], ("R", 0.05): [0.5], ("P", 0.3): [0.9], ("R", 0.3): [0.6]}
    assert "Choosing pays" not in " ".join(findings(made(single, LABELS), "d"))
    page = report(Sweep(blobs(), ["PAA-I", "RPA-I"], [0.1, 0.3], permutations=1).run(workers=1))
    assert "±" not in page
    assert "standard deviation" not in page
    assert "1 permutation<" in page


def test_there_are_findings_for_every_metric_shown(results):
    page = report(results)
    assert page.count('<ul class="findings"') == 6
    assert page.count('<ul class="findings" hidden') == 5
    assert any("accuracy" in sentence for sentence in findings(results, "blobs", "accuracy"))
    assert "not significantly different from the best" in page


@pytest.mark.parametrize("metric", ["f1", "mistakes"])
def test_the_axis_holds_the_bands(metric):
    values = {("P", 0.05): [0.1, 0.5], ("P", 0.3): [0.5, 0.52], ("R", 0.3): [0.49, 0.5]}
    drawn = chart_of(made(values, LABELS, metric), metric, "d")
    low, high = drawn.y_range
    assert low <= min((series.values - series.spread).min() for series in drawn.series)
    assert high >= max((series.values + series.spread).max() for series in drawn.series)
