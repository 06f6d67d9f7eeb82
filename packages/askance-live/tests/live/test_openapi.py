"""The OpenAPI document says what the service does: schemathesis tries it, and every route is in it."""

import json
from pathlib import Path

import pytest
from tests.patience import PATIENCE

from askance_live import routes
from askance_live.http.openapi import as_markdown, document
from askance_live.http.routing import ROUTES

pytestmark = pytest.mark.hostile

routes.load()
schemathesis = pytest.importorskip("schemathesis")


def test_every_route_but_the_pages_is_described():
    paths = document()["paths"]
    for route in ROUTES:
        assert route.is_page or route.method.lower() in paths[route.path], route.path
    assert json.loads(json.dumps(document())) == document()


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all()
    running.send("a", "b", "c")
    running.next()
    running.log_in(running.tokens(root="admin")["root"])
    return running


@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
        if path != "/v1/live"
    ],
)
def test_whatever_is_sent_comes_back_as_described(service, method, path):
    from hypothesis import HealthCheck, given, settings
    from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

    schema = schemathesis.openapi.from_dict(document())
    operation = schema[path][method]

    @given(case=operation.as_strategy())
    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    def try_it(case):
        response = case.call(base_url=service.url, headers=service.headers, timeout=PATIENCE)
        assert response.status_code < 500 or response.status_code == 503, response.text
        # test_access.py tries every scope; that a label must be one of the classes, no schema knows
        case.validate_response(response, excluded_checks=[ignored_auth, positive_data_acceptance])

    try_it()


def test_the_page_about_http_is_up_to_date():
    page = Path(__file__).parents[4] / "docs" / "http.md"
    assert page.read_text() == as_markdown()
