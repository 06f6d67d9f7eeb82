"""Numbers as people read them: never rounded to all or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askance.cli.output import percent
from askance.evaluate.metrics.format import in_digits, in_percent


@given(st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_a_share_that_is_not_all_or_nothing_is_never_shown_as_such(share):
    for shown in (in_percent(share), in_digits(share)):
        if shown.replace(".", "").isdigit():
            assert float(shown) not in (0.0, 100.0 if shown == in_percent(share) else 1.0)


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "0.0%"), (1.0, "100.0%"), (0.9998, "99.98%"), (1 - 1e-9, "over 99.99%"), (0.5, "50.0%")]
)
def test_shares_on_the_screen(share, shown):
    assert percent(share) == shown
