"""TLS by the service itself."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import time

import httpx
import pytest
from tests.live.running import Running
from tests.patience import PATIENCE

from askance_live.clock import DAY
from askance_live.http import tls
from askance_live.http.tls import TlsFiles, end_of, examine_tls, make_context
from askance_live.problems import StartError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed here")


def make_certificate(folder, name="localhost", days=30, password=None):
    """A certificate that vouches for itself, and its key."""
    folder.mkdir(exist_ok=True)
    files = TlsFiles(str(folder / "cert.pem"), str(folder / "key.pem"))
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    words += ["-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", str(days)]
    words += ["-passout", f"pass:{password}"] if password else ["-nodes"]
    subprocess.run([*words, "-out", files.certificate, "-keyout", files.key], check=True, capture_output=True)
    return files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate") / "a")


def trusting(files):
    return ssl.create_default_context(cafile=files.certificate)


@pytest.fixture
def start(tmp_path, nursery):
    made = []

    def started(files, **options):
        names = {"tls_cert": files.certificate, "tls_key": files.key}
        service = Running(tmp_path, nursery=nursery, server={**names, **options}).create()
        service.trusted = trusting(files)
        made.append(service)
        return service.start()

    yield started
    for service in made:
        if service.process is not None and service.process.poll() is None:
            service.stop()


def test_everything_goes_by_tls_and_cookies_by_nothing_else(start, files):
    service = start(files)
    assert service.url.startswith("https://127.0.0.1:")
    assert service.send("a")[0]["status"] == 201
    secret = service.tokens(ana="label read")["ana"]
    response = service.client.post("/login", data={"token": secret}, headers={"Sec-Fetch-Site": "same-origin"})
    assert response.status_code == 303
    assert "; secure" in response.headers["set-cookie"].lower()
    assert service.client.get("/label", headers={"Accept": "text/html"}).status_code == 200
    with pytest.raises(httpx.TransportError):
        httpx.get(service.url.replace("https", "http"), timeout=PATIENCE)
    with pytest.raises(httpx.TransportError):  # nobody vouches for it
        httpx.get(service.url, timeout=PATIENCE)


def test_a_renewed_certificate_is_taken_up_while_the_service_runs_and_a_broken_one_is_not(tmp_path, files, monkeypatch):
    monkeypatch.setattr(tls, "LOOK", 0.01)
    used = TlsFiles(str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))
    renewed = make_certificate(tmp_path / "b", name="renewed")

    def put(source):
        for before, after in zip(source, used, strict=True):
            part = tmp_path / "part"
            shutil.copy(before, part)
            part.rename(after)

    def shown(context):
        """The certificate that a client sees."""
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        one = client.wrap_bio(to_client, to_server)
        other = context.wrap_bio(to_server, to_client, server_side=True)
        for side in (one, other, one):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
        return ssl.DER_cert_to_PEM_cert(one.getpeercert(binary_form=True))

    def pem(source):
        with open(source.certificate) as file:
            return file.read()

    async def live():
        put(files)
        context = make_context(used)
        task = asyncio.get_running_loop().create_task(tls.follow_files(context, used))
        await asyncio.sleep(0)  # it has looked once
        assert shown(context) == pem(files)
        with open(used.certificate, "w") as file:
            file.write("broken")
        await asyncio.sleep(0.1)  # it may look, or not: what it shows stays
        assert shown(context) == pem(files)
        put(renewed)
        deadline = time.monotonic() + PATIENCE
        while shown(context) != pem(renewed):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(live())


def test_what_cannot_be_used_is_refused_at_the_start_in_a_sentence(tmp_path, nursery, files):
    other = make_certificate(tmp_path / "other")
    locked = make_certificate(tmp_path / "locked", password="secret")
    (tmp_path / "text.pem").write_text("no certificate")
    for given, sentence in (
        ({"tls_cert": files.certificate}, "server.tls_key (--tls-key) is missing"),
        ({"tls_key": files.key}, "server.tls_cert (--tls-cert) is missing"),
        ({"tls_cert": "missing.pem", "tls_key": files.key}, "No such file"),
        ({"tls_cert": files.certificate, "tls_key": other.key}, "are no certificate with its key"),
        ({"tls_cert": str(tmp_path / "text.pem"), "tls_key": files.key}, "are no certificate with its key"),
        ({"tls_cert": locked.certificate, "tls_key": locked.key}, "without a password"),
    ):
        folder = tmp_path / f"service-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        service = Running(folder, nursery=nursery, server=given).create()
        done = service.run("serve", check=False)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_the_options_of_the_command_name_files_where_it_is_run(tmp_path, nursery, files):
    service = Running(tmp_path, nursery=nursery).create()
    words = ["--tls-cert", files.certificate, "--tls-key", files.key]
    service.serve_words = lambda: ["serve", "--config", str(service.config), *words]
    service.trusted = trusting(files)
    service.start()
    try:
        assert service.get("/readyz").status_code == 200
    finally:
        service.stop()


def test_doctor_says_when_a_certificate_ends_and_who_can_read_its_key(tmp_path, files):
    now = time.time()
    assert abs(end_of(files) - (now + 30 * DAY)) < DAY
    assert examine_tls(files, now) == []
    (sentence,) = examine_tls(files, now + 20 * DAY)
    assert sentence.endswith("; renew it.")
    assert "ends at" in sentence
    loose = make_certificate(tmp_path / "loose")
    (tmp_path / "loose" / "key.pem").chmod(0o644)
    (sentence,) = examine_tls(loose, now)
    assert sentence.endswith("can be read by anybody (mode 644); chmod 600 it.")
    assert "No such file" in examine_tls(TlsFiles(str(tmp_path / "none.pem"), files.key), now)[0]
    with pytest.raises(StartError):
        make_context(TlsFiles(files.key, files.certificate))
    ended = make_certificate(tmp_path / "ended")
    words = ["openssl", "x509", "-in", ended.certificate, "-signkey", ended.key, "-days", "-1"]
    subprocess.run([*words, "-out", ended.certificate], check=True, capture_output=True)
    assert "has ended" in examine_tls(ended, now)[0]


def test_doctor_tells_of_it(tmp_path, nursery):
    files = make_certificate(tmp_path / "short", days=3)
    service = Running(tmp_path, nursery=nursery, server={"tls_cert": "short/cert.pem", "tls_key": files.key}).create()
    done = service.run("doctor", check=False)
    assert done.returncode == 2
    assert "short/cert.pem' ends at" in done.stdout
    assert "1 problem." in done.stdout
