"""One server of each broker for the tests that do not kill it."""

import pytest
from tests.brokers.servers import SERVERS, serve


@pytest.fixture(scope="module", params=SERVERS)
def broker(request, tmp_path_factory):
    server = serve(request.param, tmp_path_factory.mktemp(request.param))
    yield server
    server.kill()
