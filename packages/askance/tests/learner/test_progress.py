"""The bar of ``run`` shows how far it is, in a notebook and in a terminal, and changes no decision."""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from rich.console import Console

import askance
from askance.learner import progress
from askance.learner.progress import InTerminal

X = np.random.default_rng(0).normal(size=(1200, 3)).round(3)
Y = np.where(X[:, 0] + X[:, 1] > 0, "spam", "ham")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text="win a prize now")
EVENTS = {"array": X, "sparse": sp.csr_matrix(X), "table": FRAME}


@pytest.mark.parametrize("form", EVENTS)
@pytest.mark.parametrize("algorithm", ["auto", "SOAL-diag"])
def test_a_bar_changes_no_decision(form, algorithm, monkeypatch):
    monkeypatch.setattr(progress, "LEAST_EVENTS", 7)
    traces = [
        askance.make(algorithm, budget=100, random_state=0).run(EVENTS[form], Y, progress=shown)
        for shown in (False, True)
    ]
    for name in ("predicted", "margin", "probability", "asked"):
        assert np.array_equal(getattr(traces[0], name), getattr(traces[1], name)), name


def test_a_bar_in_a_terminal_ends_with_all_events(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    askance.make("PAA-I", budget=50, random_state=0).run(X, Y, progress=True)
    assert "100% 1,200 events, 50 labels" in screen.getvalue().replace("\x1b[0m", "").replace("\x1b[35m", "")


def test_without_a_terminal_or_a_notebook_nothing_is_shown(capsys):
    askance.make("PAA-I", budget=50, random_state=0).run(X, Y, progress=True)
    assert capsys.readouterr() == ("", "")


def test_a_bar_of_an_unknown_number_of_events_only_counts():
    screen = io.StringIO()
    bar = InTerminal(Console(file=screen, force_terminal=True, width=100))
    bar.show(None, "500 events")
    bar.end()
    assert "500 events" in screen.getvalue()
    assert "%" not in screen.getvalue()


@pytest.mark.parametrize("how", ["run(X, y, progress=True)", "run(((X[k:], y[k:]) for k in (0, 400)), progress=True)"])
def test_a_bar_in_a_real_notebook_is_one_output_that_says_all_at_the_end(how):
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient, a part of the extra 'test'")
    pytest.importorskip("ipykernel", reason="needs ipykernel, a part of the extra 'test'")
    import nbformat

    lines = (
        "import askance, numpy as np",
        "X = np.random.default_rng(0).normal(size=(1200, 3))",
        "y = np.where(X[:, 0] > 0, 'spam', 'ham')",
        f"trace = askance.make('PAA-I', budget=50, random_state=0).{how}",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(lines))])
    nbclient.NotebookClient(notebook, timeout=300).execute()
    (shown,) = [output for output in notebook.cells[0].outputs if output.output_type == "display_data"]
    assert shown.data["text/html"].startswith('<div><progress max="1" value="1.000"')
    assert shown.data["text/plain"].startswith(f"100%, {1200 if 'for' not in how else 2000:,} events, 50 labels, ")
