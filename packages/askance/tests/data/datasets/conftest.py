"""A registry of a few small sets, a cache of one's own, and a server that can be told to misbehave."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import askance.data.datasets.registry as registry_module


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test reads or fills the cache of whoever runs it, nor a local folder of data sets."""
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ASKANCE_DATA", raising=False)
    return tmp_path / "cache" / "data"


@pytest.fixture
def use_table(tmp_path, monkeypatch):
    """Call it with the text of a registry to have it used instead of the real one."""

    def use(text):
        path = tmp_path / "registry.toml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(registry_module, "TABLE", path)
        registry_module.entries.cache_clear()

    yield use
    registry_module.entries.cache_clear()


@pytest.fixture
def server():
    """A server on this machine; ``server.answers[path] = (status, body, content length or None)``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            status, body, length = answers.get(self.path, (404, b"", None))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    answers, asked = {}, []
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.answers, running.asked = answers, asked
    running.address = f"http://127.0.0.1:{running.server_address[1]}"
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()
