"""Real proxies in front of a service: nginx and Caddy, with the settings of docs/proxies."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE

EXAMPLES = Path(__file__).parents[4] / "docs" / "proxies"
NGINX = """\
{user}worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""
CADDY = """\
{{
	admin off
	auto_https off
}}
{sites}
"""


HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """A port for a program that cannot say which one it took: below those that the system gives to every connection."""
    first = int(HANDED_OUT.read_text().split()[0]) if HANDED_OUT.exists() else 49_152
    while True:
        with socket.socket() as found, contextlib.suppress(OSError):  # in use
            found.bind(("127.0.0.1", random.randrange(10_000, first)))
            return found.getsockname()[1]


def find(name):
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
    if program is None:
        pytest.skip(f"{name} is not installed here")
    return program


def make_certificate(folder):
    """A certificate for localhost that nobody has signed."""
    program = find("openssl")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    subprocess.run([program, *words.split(), *names], check=True, capture_output=True)


def nginx_example(folder, port, upstream, rewrites_host=False):
    """docs/proxies/nginx.conf on ports and with a certificate of a test's."""
    text = (EXAMPLES / "nginx.conf").read_text()
    changes = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "server_name labels.example.org;": "server_name localhost;",
        "/etc/ssl/labels.example.org.pem": f"{folder}/cert.pem",
        "/etc/ssl/labels.example.org.key": f"{folder}/key.pem",
        "http://127.0.0.1:8017": f"http://127.0.0.1:{upstream}",
    }
    if rewrites_host:
        changes["    proxy_set_header Host $http_host;\n"] = ""
    return changed(text, changes)


def caddy_example(folder, port, upstream):
    """docs/proxies/Caddyfile on ports and with a certificate of a test's."""
    site = f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {folder}/cert.pem {folder}/key.pem"
    text = (EXAMPLES / "Caddyfile").read_text()
    return changed(text, {"labels.example.org {": site, "127.0.0.1:8017": f"127.0.0.1:{upstream}"})


def changed(text, changes):
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


class Front:
    """A proxy that runs."""

    def __init__(self, words, folder, url, environment=None):
        self.url = url
        self.log = open(folder / "proxy.log", "wb")  # noqa: SIM115
        self.process = subprocess.Popen(words, cwd=folder, stdout=self.log, stderr=self.log, env=environment)
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, (folder / "proxy.log").read_text()
            assert time.monotonic() < deadline, (folder / "proxy.log").read_text()
            try:
                httpx.get(f"{url}/livez", verify=False, timeout=10)
                return
            except httpx.TransportError:
                time.sleep(0.05)

    def client(self, address="127.0.0.1", **options):
        """A client at this address of the machine's own."""
        transport = httpx.HTTPTransport(local_address=address, verify=False)
        return httpx.Client(base_url=self.url, transport=transport, timeout=PATIENCE, **options)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()


def start_nginx(folder, servers, url):
    program, is_root = find("nginx"), os.getuid() == 0
    (folder / "nginx.conf").write_text(
        NGINX.format(folder=folder, servers=servers, user="user root;\n" if is_root else "")
    )
    words = [program, "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"]
    return Front(words, folder, url)


def start_caddy(folder, sites, url):
    (folder / "Caddyfile").write_text(CADDY.format(sites=sites))
    own = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "PATH": "/usr/bin:/bin"}
    return Front([find("caddy"), "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"], folder, url, own)
