"""Shares as people read them."""

from __future__ import annotations


def in_percent(share: float) -> str:
    """A share as a percentage, without the sign. What is not all or nothing is never rounded to it.

    >>> in_percent(0.123), in_percent(1.0), in_percent(0.9998), in_percent(0.999999), in_percent(0.00004)
    ('12.3', '100.0', '99.98', 'over 99.99', 'under 0.01')
    """
    for digits in (1, 2):
        shown = f"{100 * share:.{digits}f}"
        if not (float(shown) == 100.0 and share < 1.0) and not (float(shown) == 0.0 and share > 0.0):
            return shown
    return "over 99.99" if share > 0.5 else "under 0.01"


def in_digits(value: float) -> str:
    """A metric's value with as many digits as are worth reading; what is not 1 or 0 is never rounded to it.

    >>> in_digits(0.8236), in_digits(1.0), in_digits(0.99984), in_digits(0.9999999), in_digits(0.0003)
    ('0.824', '1.000', '0.9998', '0.9999', '0.0003')
    """
    if value < 0.0:
        return f"-{in_digits(-value)}"
    if value >= 10:
        return f"{value:,.0f}"
    shown = f"{value:.3f}"
    if shown == "1.000" and value < 1.0:
        return f"{min(value, 0.9999):.4f}"
    return f"{max(value, 0.0001):.4f}" if shown == "0.000" and value > 0.0 else shown
