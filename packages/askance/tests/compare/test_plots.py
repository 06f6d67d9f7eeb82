"""Plots: files that are what their names say."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from tests.compare.streams import blobs

from askance.compare import Candidate, Results, Sweep
from askance.compare.plots import plot_curves, save_curves
from askance.errors import AskanceError, InvalidParameter
from askance.extras import how_to_install

pytest.importorskip("matplotlib", reason="plots need matplotlib, the extra 'plots'")


@pytest.fixture(scope="module")
def results():
    algorithms = ["PAA-I", "RPA-I", "SOL-diag", Candidate("SOAL-diag", fixed={"eta": 30.0})]
    return Sweep(blobs(), algorithms, [0.02, 0.1, 0.3], permutations=3, search_permutations=2).run(workers=1)


def test_png_and_svg_are_written(results, tmp_path):
    save_curves(results, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    save_curves(results, tmp_path / "curves.svg", x="labels", metric="accuracy")
    drawing = (tmp_path / "curves.svg").read_text()
    assert ElementTree.fromstring(drawing).tag.endswith("svg")
    for candidate in results.candidates:
        assert candidate in drawing  # as text, not as outlines


def test_the_same_results_give_the_same_file(results, tmp_path):
    save_curves(results, tmp_path / "a.svg")
    save_curves(results, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_names_at_the_curves_do_not_overlap(results):
    figure = plot_curves(results)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == len(results.candidates)
    for at, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[at + 1 :])


def test_ticks_stand_at_the_wanted_ratios(results):
    figure = plot_curves(results)
    figure.canvas.draw()
    words = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert words == ["2 %", "10 %", "30 %"]


def test_several_data_sets_get_a_panel_each(results, tmp_path):
    _, X, y = blobs(seed=3)
    other = Sweep(("other", X, y), ["PAA-I", "RPA-I"], [0.1, 0.3], permutations=2).run(workers=1)
    figure = plot_curves(Results.merge([results, other]))
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["blobs", "other"]


def test_an_unknown_axis_is_refused(results):
    with pytest.raises(InvalidParameter, match='x must be "ratio" or "labels"'):
        plot_curves(results, x="time")


def test_without_matplotlib_there_is_a_sentence(results, monkeypatch):
    import builtins

    real = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(AskanceError, match=re.escape(how_to_install("plots"))):
        plot_curves(results)


def test_the_figure_says_what_the_bands_are(results):
    assert "band: one standard deviation either side of the mean over 3 permutations" in words_of(results)
    single = Sweep(blobs(), ["PAA-I"], [0.1], permutations=1, search_permutations=1).run(workers=1)
    assert "band" not in words_of(single)


def words_of(results):
    return plot_curves(results).get_supxlabel()


def test_budgets_are_drawn_by_number_of_labels():
    at_budgets = Sweep(blobs(), ["PAA-I", "RPA-I"], budgets=[20, 100], permutations=2).run(workers=1)
    figure = plot_curves(at_budgets)
    figure.canvas.draw()
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["20", "100"]
    assert words_of(at_budgets).startswith("labels bought")
    assert plot_curves(at_budgets, x="ratio").get_supxlabel().startswith("share of labels bought")
