"""Checks for whoever writes a rule: does it do what every rule must, and if not, what is to be mended?

>>> from askance.queries import Margin
>>> from askance.testing import check_query_rule
>>> check_query_rule(Margin(delta=0.5))
"""

from askance.errors import BrokenContract
from askance.testing.query_rule import check_query_rule
from askance.testing.update_rule import check_update_rule

__all__ = ["BrokenContract", "check_query_rule", "check_update_rule"]
