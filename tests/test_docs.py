"""What the documents show runs, and what they list is complete."""

import os
import re
from pathlib import Path

import pytest

import askance

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_in_a_document_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": path.stem}
    for code in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(code, str(path), "exec"), names)


def test_the_readme_lists_every_algorithm_with_its_parameters():
    readme = (ROOT / "README.md").read_text()
    for row in askance.algorithms():
        head = f"| {row['name']} | {', '.join(row['aliases'])} | {row['paper'] or ''} |"
        line = f"{head} {row['update']} | {row['query']} |"
        assert f"{line} {', '.join(row['parameters'])} |" in readme


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text()):
        assert os.path.exists(path.parent / target), target
