"""Numbers from text, compiled and correctly rounded: the float64 that lies nearest to what is written.

The grammar is ``[+-] digits [. digits] [e [+-] digits]`` in ASCII, with digits before or after the point. Words such as
``nan`` and ``inf``, underscores and hexadecimal numbers are not numbers here.

Up to 19 digits fit a 64-bit integer w, so that the number is w 10^q. Three ways lead from there to a float64:

- w below 2^53 and |q| <= 22: both are exact in float64, and one multiplication or division rounds once, rightly;
- otherwise 128 bits of 5^q decide nearly always, after Lemire, "Number parsing at a gigabyte per second", Software:
  Practice and Experience 51 (2021), with the error bounds given there;
- what they do not decide (and more than 19 digits that matter) is left to Python: one in millions of cases.
"""

from __future__ import annotations

import functools
from math import ldexp
from typing import Any, NamedTuple

import numpy as np

from askance.compile import no_inline

NOT_A_NUMBER, NUMBER, HARD = 0, 1, 2

PLUS, MINUS, POINT, LOWER_E, UPPER_E, ZERO = 43, 45, 46, 101, 69, 48
MOST_DIGITS = 19  # that surely fit 64 bits
LARGEST_EXPONENT = 100_000  # digits of an exponent beyond it change nothing any more
LEAST_POWER, LARGEST_POWER = -342, 308  # of ten, beyond which 19 digits underflow or overflow
EXACT_INTEGERS = np.uint64(2**53)
EXACT_TENS = 22

TEN = np.uint64(10)
ONE, THREE = np.uint64(1), np.uint64(3)
LOW_HALF, HALF = np.uint64(2**32 - 1), np.uint64(32)
ALL_ONES = np.uint64(2**64 - 1)
UNDECIDED_BITS = np.uint64(2**64 - 1 >> 55)


class Tables(NamedTuple):
    """Powers that the kernels look up."""

    tens: np.ndarray
    """10^0 to 10^22 as float64, which has them exactly."""
    fives: np.ndarray
    """The leading 128 bits of 5^q, in two halves, for q from -342 to 308."""


@functools.cache
def tables() -> Tables:
    """The powers, computed once."""
    fives = np.empty((LARGEST_POWER - LEAST_POWER + 1, 2), np.uint64)
    for index, power in enumerate(range(LEAST_POWER, LARGEST_POWER + 1)):
        if power < 0:
            divisor = 5**-power
            size = (divisor - 1).bit_length()
            bits = 2 ** (size + 127 if power >= -27 else 2 * size + 128) // divisor + 1
        else:
            bits = 5**power
        surplus = bits.bit_length() - 128
        bits = bits >> surplus if surplus > 0 else bits << -surplus
        fives[index] = bits >> 64, bits & (2**64 - 1)
    return Tables(10.0 ** np.arange(EXACT_TENS + 1), fives)


def read_number(data: np.ndarray, i: int, powers: Tables) -> tuple[float, int, int]:
    """The number that begins at ``data[i]``: its value, where it ends, and whether it is one (or is HARD).

    Some byte that no number contains must follow. Too large a number is infinite; HARD ones are left to Python.
    """
    negative = data[i] == MINUS
    if negative or data[i] == PLUS:
        i += 1
    mantissa = np.uint64(0)
    digits: Any = 0
    exponent: Any = 0
    cut: Any = False
    first = i
    while True:
        digit = np.int64(data[i]) - ZERO
        if digit < 0 or digit > 9:
            break
        if digits < MOST_DIGITS:
            mantissa = mantissa * TEN + np.uint64(digit)
            digits += mantissa > 0
        else:
            exponent += 1
            cut |= digit > 0
        i += 1
    found = i - first
    if data[i] == POINT:
        i += 1
        first = i
        while True:
            digit = np.int64(data[i]) - ZERO
            if digit < 0 or digit > 9:
                break
            if digits < MOST_DIGITS:
                mantissa = mantissa * TEN + np.uint64(digit)
                digits += mantissa > 0
                exponent -= 1
            else:
                cut |= digit > 0
            i += 1
        found += i - first
    if found == 0:
        return 0.0, i, NOT_A_NUMBER
    if data[i] == LOWER_E or data[i] == UPPER_E:
        i += 1
        shrinks = data[i] == MINUS
        if shrinks or data[i] == PLUS:
            i += 1
        written: Any = 0
        first = i
        while True:
            digit = np.int64(data[i]) - ZERO
            if digit < 0 or digit > 9:
                break
            if written < LARGEST_EXPONENT:
                written = written * 10 + digit
            i += 1
        if i == first:
            return 0.0, i, NOT_A_NUMBER
        exponent += -written if shrinks else written
    kind = NUMBER
    value = 0.0
    if mantissa > 0:
        if cut:
            value, kind = nearest(mantissa, exponent, powers.fives)
            above, _ = nearest(mantissa + ONE, exponent, powers.fives)
            if value != above:  # the digits left out decide
                kind = HARD
        elif mantissa <= EXACT_INTEGERS and -EXACT_TENS <= exponent <= EXACT_TENS:
            value = np.float64(mantissa)
            if exponent < 0:
                value /= powers.tens[-exponent]
            else:
                value *= powers.tens[exponent]
        else:
            value, kind = nearest(mantissa, exponent, powers.fives)
    return -value if negative else value, i, kind


@no_inline
def nearest(mantissa: np.uint64, exponent: int, fives: np.ndarray) -> tuple[float, int]:
    """The float64 nearest to ``mantissa * 10**exponent``, and whether that is certain (NUMBER) or not (HARD)."""
    if exponent < LEAST_POWER:
        return 0.0, NUMBER
    if exponent > LARGEST_POWER:
        return np.inf, NUMBER
    shift = leading_zeros(mantissa)
    mantissa <<= np.uint64(shift)
    index = exponent - LEAST_POWER
    high, low = product(mantissa, fives[index, 0])
    if (high & UNDECIDED_BITS) == UNDECIDED_BITS:
        carry, _ = product(mantissa, fives[index, 1])
        low += carry
        if carry > low:
            high += ONE
    if low == ALL_ONES and not -27 <= exponent <= 55:
        return 0.0, HARD
    top: Any = np.int64(high >> np.uint64(63))
    bits = high >> np.uint64(top + 9)
    power = ((217706 * exponent) >> 16) + 63 + top - shift + 1023  # 217706 / 2^16 = log2(10)
    if power <= 0:  # below the normal numbers
        if power <= -63:
            return 0.0, NUMBER
        bits >>= np.uint64(1 - power)
        bits += bits & ONE
        return ldexp(np.float64(bits >> ONE), -1074), NUMBER
    if low <= ONE and -4 <= exponent <= 23 and (bits & THREE) == ONE and (bits << np.uint64(top + 9)) == high:
        bits &= ~ONE  # exactly half way: to even
    bits += bits & ONE
    bits >>= ONE
    if power >= 2047:
        return np.inf, NUMBER
    return ldexp(np.float64(bits), int(power - 1075)), NUMBER


def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The high and the low half of a 128-bit product."""
    a0, a1, b0, b1 = a & LOW_HALF, a >> HALF, b & LOW_HALF, b >> HALF
    corner, across, down = a0 * b0, a0 * b1, a1 * b0
    middle = (corner >> HALF) + (across & LOW_HALF) + (down & LOW_HALF)
    return a1 * b1 + (across >> HALF) + (down >> HALF) + (middle >> HALF), a * b


def leading_zeros(number: np.uint64) -> int:
    """How many bits above the highest one that is set; ``number`` is not 0."""
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if number >> np.uint64(64 - step) == 0:
            number <<= np.uint64(step)
            zeros += step
    return zeros
