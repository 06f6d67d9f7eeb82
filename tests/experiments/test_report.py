"""The report: one valid file that needs nothing else."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.experiments.streams import blobs

from askance.experiments import Candidate, Results, Sweep
from askance.experiments.curves import DARK, LIGHT, spread_out, styles
from askance.experiments.findings import findings
from askance.experiments.report import report, save_report
from askance.experiments.svg import nice_ticks

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
    assert any("F1" in sentence for sentence in sentences)


def test_every_candidate_looks_different():
    assert len(LIGHT) == len(DARK)
    many = Results({"targets": []})
    from askance.experiments import Choice

    many.choices = [Choice("d", f"c{n}", "PAA-I", 0.1, {}, 1.0, 0.1, True, "", None, 1) for n in range(70)]
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
        moved = spread_out(places, least=5.0, low=0.0, high=100.0)
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
