"""Every rule that we ship keeps the contract that rule writers are held to."""

import pytest

from askance import queries, updates
from askance.learner.presets import PRESETS
from askance.learner.rule import QueryRule, UpdateRule
from askance.testing import check_query_rule, check_update_rule


def rules_in(module, kind):
    found = (getattr(module, name) for name in module.__all__)
    return [rule for rule in found if isinstance(rule, type) and issubclass(rule, kind) and rule is not kind]


@pytest.mark.parametrize("rule", rules_in(updates, UpdateRule), ids=lambda rule: rule.__name__)
def test_an_update_rule_keeps_the_contract(rule):
    partners = [row.query for row in PRESETS if row.update is rule]
    check_update_rule(rule, query=partners[-1]() if partners else None)


@pytest.mark.parametrize("rule", rules_in(queries, QueryRule), ids=lambda rule: rule.__name__)
def test_a_query_rule_keeps_the_contract(rule):
    partners = [row.update for row in PRESETS if row.query is rule]
    check_query_rule(rule, update=partners[-1]() if partners else None)


def test_a_rule_that_forgets_keeps_it_too():
    check_update_rule(updates.Probit(decay=0.99), query=queries.Entropy())
