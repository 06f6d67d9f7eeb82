"""A complete OpenID Connect provider: it signs with real keys, checks PKCE, client and redirect, and uses codes once.

``spoil`` changes the claims or the token on their way, for tests of what a service must refuse. ``requests`` are the
paths that were asked for; while ``held`` is clear, no token is given.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

CLIENT, SECRET = "askance", "a secret/of the client"


class Server(ThreadingHTTPServer):
    """Takes many connections at the same time."""

    request_queue_size = 128


class Provider:
    """Whoever comes is ``claims``."""

    def __init__(self):
        self.keys = {"first": (rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256")}
        self.number = "first"
        self.claims = {"sub": "u-1", "email": "ana@example.org", "email_verified": True, "groups": ["reviewers"]}
        self.spoil_claims = lambda claims: claims
        self.spoil_token = lambda token: token
        self.spoil_about = lambda about: about
        self.codes, self.used, self.requests = {}, set(), []
        self.held = threading.Event()
        self.held.set()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                provider.get(self)

            def do_POST(self):
                provider.post(self)

            def log_message(self, *words):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self.server.server_port}/realm"

    def add_key(self, number, key, algorithm):
        self.keys[number], self.number = (key, algorithm), number

    def add_curve_key(self):
        self.add_key("second", ec.generate_private_key(ec.SECP256R1()), "ES256")

    def about(self):
        return {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
        }  # fmt: skip

    def jwks(self):
        names = {"RS256": jwt.algorithms.RSAAlgorithm, "ES256": jwt.algorithms.ECAlgorithm}
        return {
            "keys": [
                {**json.loads(names[algorithm].to_jwk(key.public_key())), "kid": number, "use": "sig", "alg": algorithm}
                for number, (key, algorithm) in self.keys.items()
            ]
        }

    def get(self, handler):
        parts = urlsplit(handler.path)
        self.requests.append(parts.path)
        if parts.path.endswith("/.well-known/openid-configuration"):
            return reply(handler, 200, self.spoil_about(self.about()))
        if parts.path.endswith("/keys"):
            return reply(handler, 200, self.jwks())
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["client_id"] == CLIENT
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        handler.send_response(302)
        back = urlencode({"code": code, "state": asked["state"]})
        handler.send_header("Location", f"{asked['redirect_uri']}?{back}")
        handler.end_headers()
        return None

    def post(self, handler):
        self.requests.append(handler.path)
        self.held.wait()
        length = int(handler.headers["content-length"])
        form = {name: values[0] for name, values in parse_qs(handler.rfile.read(length).decode()).items()}
        code = form.get("code")
        asked = self.codes.get(code)
        pair = base64.b64decode(handler.headers.get("authorization", "").removeprefix("Basic ")).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode()
        if (
            asked is None or code in self.used or challenge.rstrip("=") != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"] or pair != "askance:a%20secret%2Fof%20the%20client"
        ):  # fmt: skip
            return reply(handler, 400, {"error": "invalid_grant"})
        self.used.add(code)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.claims,
        }
        key, algorithm = self.keys[self.number]
        token = jwt.encode(self.spoil_claims(claims), key, algorithm, headers={"kid": self.number})
        return reply(handler, 200, {"access_token": "x", "token_type": "Bearer", "id_token": self.spoil_token(token)})


def reply(handler, status, document):
    content = json.dumps(document).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def providing():
    """A provider until the block ends."""
    provider = Provider()
    threading.Thread(target=provider.server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield provider
    finally:
        provider.held.set()
        provider.server.shutdown()
        provider.server.server_close()
