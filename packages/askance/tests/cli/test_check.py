"""``askance check`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.here import complaint, here

HEAD = "user_id,price,discount,sent,outcome,text,label"


def mixed(n: int = 300) -> list[str]:
    """Lines of a table in which much looks wrong."""
    lines = []
    for k in range(n):
        is_spam = k % 3 == 0
        label = {12: "sapm", 21: "Spam", 30: ""}.get(k, "spam" if is_spam else "ham")
        price, text = f'"${1000 + k * 37 % 900:,}.50"', "win a prize now" if is_spam else "lunch on friday ok"
        sent, outcome = f"{k % 12 + 1:02}/{k % 28 + 1:02}/2024", "blocked" if is_spam else "sent"
        lines.append(f"{k * 7919 % 100_003},{price},{k % 50}%,{sent},{outcome},{text},{label}")
    return lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join([HEAD, *mixed()]) + "\n")
    return path


def test_a_file_is_described_and_what_looks_wrong_is_said_in_a_sentence_each(file: Path) -> None:
    result = here("check", "mixed.csv", cwd=file.parent)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "mixed.csv: 300 events" in said
    assert "field kind missing such as" in said
    assert "user_id number 0.0% 0, 7919, 15838" in said
    assert "label label 0.3% spam, ham, sapm" in said
    assert "Labels: ham 66.9%, spam 32.4%, sapm 0.3%, Spam 0.3%." in said
    assert "1 event has no label: predicted, but never asked." in said
    assert "would play auto and buy about 5.0% of the labels, 15, and up to 40 more at the start." in said
    for sentence in (
        "The labels 'spam' and 'sapm' look like one",
        "The labels 'spam' and 'Spam' look like one",
        "The field 'user_id' has another value in nearly every event, as a key has",
        "The field 'price' holds amounts of money such as '$1,000.50'",
        "The field 'discount' holds percentages such as '0%'",
        "The field 'sent' holds dates such as '01/01/2024'",
        "The field 'outcome' alone gives the answer away in 99.3% of the first events",
    ):
        assert said.count(sentence) == 1


def test_json_has_the_same_and_run_warns_alike(file: Path) -> None:
    told = json.loads(here("check", str(file), "--json").stdout)
    assert [field["kind"] for field in told["fields"]][-2:] == ["text", "label"]
    assert told["labels"] == {"ham": 200, "spam": 97, "sapm": 1, "Spam": 1}
    assert told["obstacle"] is None
    played = json.loads(here("run", str(file), "-a", "MPAA-I", "--json").stdout)
    assert played["warnings"] == told["warnings"]
    assert len(told["warnings"]) == 7


@pytest.mark.parametrize(
    ("content", "obstacle"),
    [
        ("x,label\n1,a\n2,a\n", "has only one class, 'a'"),
        ("x,label\n1,\n2,NA\n", "has no labels; name the field they are in with --label"),
        ("x,price\n" + "".join(f"{k},{k}.25\n" for k in range(99)), "which look like a quantity"),
    ],
)
def test_what_run_would_refuse_is_said(tmp_path: Path, content: str, obstacle: str) -> None:
    (tmp_path / "x.csv").write_text(content)
    result = here("check", "x.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "'askance run' would refuse it: " in result.stdout
    assert obstacle in result.stdout.replace("\n", " ")


def test_bad_lines_are_counted_and_run_is_told_to_leave_them_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x,label\n" + "1,a\n2,b\n" * 20 + "1,2,3\n")
    said = here("check", "x.csv", cwd=tmp_path).stdout
    assert "1 line could not be read and was left out; the first: line 42 of 'x.csv'" in said
    assert "'askance run x.csv --skip-bad-lines' would play auto" in said


def test_what_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no file or folder 'nowhere.csv'" in complaint("check", "nowhere.csv", cwd=tmp_path)


def test_what_is_missing_is_said_to_be_of_the_first_rows(tmp_path: Path) -> None:
    rows = "".join(f"{k % 7 if k >= 1200 else ''},{k % 3},{'ab'[k % 2]}\n" for k in range(3000))
    (tmp_path / "late.csv").write_text(f"late,x,label\n{rows}")
    said = " ".join(here("check", "late.csv", cwd=tmp_path).stdout.split())
    assert "field kind missing in the first 999 such as" in said
    assert "late number 100.0%" in said
    assert json.loads(here("check", "late.csv", "--json", cwd=tmp_path).stdout)["first_rows"] == 999


def test_an_example_is_on_one_line(tmp_path: Path) -> None:
    rows = "".join(f'"see you at\nnoon {k}",{"ham" if k % 2 else "spam"}\n' for k in range(30))
    (tmp_path / "notes.csv").write_text(f"text,label\n{rows}")
    lines = here("check", "notes.csv", cwd=tmp_path).stdout.splitlines()
    (shown,) = [line for line in lines if line.startswith("text ")]
    assert "see you at noon 0, see you at noon 1" in shown
