"""The documentation site leaves nothing out. That it builds without a warning is for ``make docs``."""

import importlib.util
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import askance
from askance.learner.presets import PRESETS

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])


def test_every_algorithm_has_a_page_of_its_family(parts):
    from site_parts.families import FAMILIES

    homes = {row.update.__module__.rpartition(".")[2] for row in PRESETS}
    assert {family.module for family in FAMILIES} == homes
    listed = (DOCS / "algorithm-families.md").read_text()
    assert all(f"generated/algorithms/{home}\n" in listed for home in homes)


def test_every_algorithm_has_a_page_of_its_own(parts):
    """With the formulas of both rules, every parameter in words, and a name that no other page has."""
    from site_parts import algorithm_pages
    from site_parts.families import FAMILIES
    from site_parts.formulas import QUERIES, UPDATES

    assert {row.update.__name__ for row in PRESETS} == set(UPDATES)
    assert {row.query.__name__ for row in PRESETS} == set(QUERIES)
    names = [algorithm_pages.page_name(row) for row in PRESETS] + [family.module for family in FAMILIES]
    assert len(set(names)) == len(names)
    for row in PRESETS:
        assert all(len(algorithm_pages.meaning_of(row, letter).split()) > 1 for letter in row.parameters)
        assert row in algorithm_pages.rows_of(algorithm_pages.family_of(row))


def test_the_reference_has_every_public_module(parts):
    from site_parts.generate import API

    modules = {f"askance.{name}" for name in askance.__all__ if inspect.ismodule(getattr(askance, name))}
    assert modules <= set(API)


def test_every_page_can_be_reached():
    trees = "\n".join(
        tree
        for page in DOCS.glob("*.md")
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(), re.DOTALL)
    )
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert pages <= set(trees.split("\n"))


def test_a_dead_link_is_found(parts, tmp_path):
    from site_parts.links import dead_links

    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#here"></a><a href="https://x.org/no"></a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="a.html#top"></a><a href="#"></a>')
    assert dead_links(tmp_path) == []
    (tmp_path / "b.html").write_text('<a href="a.html#bottom"></a><img src="c.png">')
    assert dead_links(tmp_path) == ["a.html: b.html#here", "b.html: a.html#bottom", "b.html: c.png"]


def test_the_advice_on_algorithms_has_the_numbers_of_the_benchmark():
    measured = (DOCS.parent / "benchmarks" / "AUTO.md").read_text()
    rows = dict(re.findall(r"^\| ([A-Z][\w-]*) \| (.*) \|$", measured, re.MULTILINE))
    advice = (DOCS / "which-algorithm.md").read_text().replace("**many classes**: ", "")
    shown = re.findall(r"^\| ([A-Z][\w-]*).* \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", advice, re.MULTILINE)
    assert len(shown) == 5
    for name, *values in shown:
        assert values == rows[name].split(" | ")[::2], name


def picture():
    """The script that draws the picture on the front page."""
    spec = importlib.util.spec_from_file_location("first_stream", DOCS / "images" / "first_stream.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_on_the_front_page_is_drawn_by_the_code_below_it(tmp_path):
    script = picture()
    readme, front = ((DOCS / name).read_text(encoding="utf-8") for name in ("../README.md", "index.md"))
    code, call = script.first_run(readme)
    assert script.first_run(front) == (code, call)
    assert call["objective"] == script.METRIC  # what the axis shows is what is optimized
    traces = script.play(readme)
    trace = traces["chosen"][0]
    described = script.describe(traces)
    assert re.search(r"!\[(.*)\]\(docs/images/first-stream.svg\)", readme)[1] == described
    assert re.search(r":alt: (.*)", front)[1] == described
    assert described in script.PICTURE.read_text(encoding="utf-8")
    accuracy, estimate = np.mean(trace.predicted == trace.truth), askance.quality.estimate(trace).accuracy
    assert f"# {trace} {accuracy:.4f}, over" in readme
    assert f"# {estimate}, from" in readme
    assert f"# {trace} {estimate}\n" in front
    late = np.mean(trace.predicted[-1000:] != trace.truth[-1000:])
    assert f"{100 * late:.1f}% of the predictions are wrong with {trace.asked.sum()} labels chosen" in described


def test_what_the_documents_measure_of_auto_is_what_it_optimizes():
    """Whoever prints an accuracy, and not the balanced one that is optimized by itself, sets the objective."""
    for path in (DOCS.parent / "README.md", DOCS / "index.md", *sorted((DOCS / "tutorials").glob("*.py"))):
        text = path.read_text(encoding="utf-8")
        measured = re.search(r"\.accuracy\b|accuracy \{|\[.accuracy.\]", re.sub("balanced accuracy", "", text))
        for call in re.findall(r"(?:make|build|AlgorithmSpec)\(\s*\"auto(?:-random)?\"[^)]*\)", text):
            assert "objective" in call or not measured, f"{path.name}: {call}"
