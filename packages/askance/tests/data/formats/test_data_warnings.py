"""What looks wrong in the first rows, and what does not."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from askance.data import open_stream
from askance.data.formats.stream import warnings_of


def warn(names: str, rows: list[str]) -> list[str]:
    return warnings_of(open_stream(io.BytesIO("\n".join([names, *rows]).encode() + b"\n"), format="csv"))


@pytest.mark.parametrize("amount", ["$1200.50", "1200 €", "EUR 12", "($5.00)", '"£1,200"', "-$3"])
def test_amounts_of_money(amount: str) -> None:
    (sentence,) = warn("a,label", [f"{amount},{'xy'[k % 2]}" for k in range(40)])
    assert "holds amounts of money" in sentence


@pytest.mark.parametrize(
    "date", ["3/1/2024", "01.03.2024", "2024/03/01", "1 Mar 2024", '"March 1, 2024"', "3/1/24 10:30"]
)
def test_dates_that_are_not_iso(date: str) -> None:
    (sentence,) = warn("a,label", [f"{date},{'xy'[k % 2]}" for k in range(40)])
    assert "holds dates such as" in sentence


def test_codes_with_zeros_before_them() -> None:
    (sentence,) = warn("zip,label", [f"{('0123', '8001', '9000')[k % 3]},{'xy'[k % 2]}" for k in range(40)])
    assert sentence.startswith(
        "The field 'zip' holds codes such as '0123', which are learned as numbers; --field zip=cat"
    )
    assert warn("month,label", [f"{k % 12 + 1:02},{'xy'[k // 12 % 2]}" for k in range(240)]) == []
    assert warn("share,label", [f"0.{k % 7},{'xy'[k % 2]}" for k in range(40)]) == []


def test_what_is_well_is_not_warned_of() -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal():.3f},{rng.integers(9)},v{rng.integers(5)},2024-03-{k % 28 + 1:02},group{k % 2}"
        for k in range(300)
    ]
    assert warn("measured,count,version,day,label", rows) == []


def test_labels_that_differ_in_accents_look_alike() -> None:
    (sentence,) = warn("a,label", [f"{k % 7},{('naive', 'naïve')[k % 2]}" for k in range(40)])
    assert "The labels 'naive' and 'naïve' look like one" in sentence


def test_a_size_that_tells_the_answer() -> None:
    (sentence,) = warn("a,b,label", [f"{k * 37 % 400},{k % 7},{('no', 'yes')[k * 37 % 400 > 250]}" for k in range(400)])
    assert "The field 'a' alone gives the answer away in 100.0% of the first events" in sentence


def test_a_rare_class_makes_no_field_suspect() -> None:
    assert warn("a,b,label", [f"{k % 2},{k % 5},{('no', 'yes')[k == 7]}" for k in range(400)]) == []
    rare = [k % 40 == 7 for k in range(800)]
    assert warn("a,b,label", [f"{k % 3},{k % 5},{('no', 'yes')[yes]}" for k, yes in enumerate(rare)]) == []


def test_a_field_that_tells_a_rare_class_gives_the_answer_away() -> None:
    rows = [f"{k % 3},{('', 'chargeback')[k % 40 == 7] or 'none'},{('ok', 'fraud')[k % 40 == 7]}" for k in range(800)]
    (sentence,) = warn("a,later,label", rows)
    assert "The field 'later' alone gives the answer away in 100.0% of the first events" in sentence


def test_json_rows_are_looked_at_alike() -> None:
    rows = [{"user": f"u{k}", "tags": ["a", "b"], "n": {"x": k % 3}, "label": "ab"[k % 2]} for k in range(50)]
    stream = open_stream(io.BytesIO("\n".join(map(json.dumps, rows)).encode()), format="jsonl")
    assert [sentence.split(" has ")[0] for sentence in warnings_of(stream)] == ["The field 'user'"]
