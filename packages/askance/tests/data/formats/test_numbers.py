"""Numbers from text: the nearest float64, always."""

import os
import struct
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from askance.compile import specialise
from askance.data.formats.numbers import HARD, NOT_A_NUMBER, NUMBER, read_number, tables


def parse(text):
    data = np.frombuffer(text.encode() + b"\n", np.uint8)
    return specialise(read_number)(data, 0, tables())


def check(text):
    value, end, kind = parse(text)
    assert end == len(text)
    if kind == NUMBER:
        assert struct.pack("d", value) == struct.pack("d", float(text)), text
    else:
        assert kind == HARD


@settings(max_examples=2000, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False).map(repr))
@example("5e-324")
@example("2.2250738585072011e-308")
@example("2.2250738585072014e-308")
@example("1.7976931348623157e308")
@example("1.7976931348623159e308")
@example("9007199254740993")
@example("9007199254740992.5")
@example("1e23")
@example("8.98846567431158e307")
@example("123456789012345678901234567890")
@example("0.000000000000000000000000000000000000000000001")
@example("1e-400")
@example("1e400")
@example("00000000000000000000000001")
@example("0e999999999999")
@example("1e-99999999999999999999")
@example("-0.0")
def test_what_python_writes_comes_back_to_the_last_bit(text):
    check(text)


@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 10**25), st.integers(-360, 330))
def test_any_digits_with_any_exponent_are_rounded_rightly(digits, exponent):
    check(f"{digits}e{exponent}")


@settings(max_examples=1000, deadline=None)
@given(st.integers(2**52, 2**53 - 1), st.integers(-60, 60), st.sampled_from([-1, 0, 1]))
def test_numbers_half_way_between_two_floats_are_rounded_rightly(mantissa, exponent, nudge):
    middle = Decimal(2 * mantissa + 1) * Decimal(2) ** exponent
    text = format(middle, "f")
    if nudge:
        text += ("" if "." in text else ".") + "0" * 5 + "1" if nudge > 0 else ""
    check(text)


@settings(max_examples=500, deadline=None)
@given(st.from_regex(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,4})?", fullmatch=True))
def test_every_form_of_a_number_is_read(text):
    if text.isascii():
        check(text)


@pytest.mark.parametrize("text", ["", "-", "+", ".", "e5", "1e", "1e+", "-.", "nan", "inf", "x", ".e1"])
def test_what_is_no_number_is_told(text):
    assert parse(text)[2] == NOT_A_NUMBER


@pytest.mark.parametrize(
    ("text", "length"), [("1_000", 1), ("0x10", 1), ("1,5", 1), ("1.2.3", 3), ("1e5e5", 3), ("1 2", 1)]
)
def test_reading_stops_where_the_number_ends(text, length):
    assert parse(text)[1] == length


def test_hard_cases_are_rare():
    rng = np.random.default_rng(0)
    texts = [repr(value) for value in rng.standard_normal(20_000).tolist()]
    assert all(parse(text)[2] == NUMBER for text in texts)


def test_interpreted_and_compiled_parsers_agree():
    code = """
from tests.data.formats.test_numbers import check
for text in "0.1 1e23 123456789012345678901e-5 5e-324 1.7976931348623157e308 9007199254740993 -17.25".split():
    check(text)
"""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
