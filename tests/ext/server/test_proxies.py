"""The configurations of nginx and Caddy that Headway ships."""

import socket
import subprocess
from contextlib import suppress

import httpx2
import pytest

from support.proxies import DEPLOY, FILES, PROXIES, Proxy, check_command
from support.server import SHORT, Running

pytestmark = pytest.mark.slow
REQ_LIMIT = 50  # texts a minute for each client


@pytest.mark.parametrize("kind", FILES)
def test_the_proxy_accepts_its_configuration(kind, tmp_path):
    if kind not in PROXIES:
        pytest.skip(f"{kind} is not installed")
    file = tmp_path / FILES[kind]
    shipped = (DEPLOY / FILES[kind]).read_text(encoding="utf-8")
    file.write_text(shipped.replace("/run/nginx.pid", str(tmp_path / "pid")), encoding="utf-8")
    checked = subprocess.run(check_command(kind, file), capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    file.write_text(file.read_text(encoding="utf-8").replace("8s", "x"))
    assert subprocess.run(check_command(kind, file), capture_output=True, check=False).returncode


@pytest.fixture(scope="module", params=FILES)
def proxy(request, model_directory, tmp_path_factory):
    if request.param not in PROXIES:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("proxy")
    options = ("--server.trusted-proxies", "127.0.0.1", "--server.req-limit", str(REQ_LIMIT))
    server = Running(folder / "log", str(model_directory), *SHORT, *options)
    found = Proxy(request.param, server.port, folder)
    yield server, f"http://127.0.0.1:{found.port}"
    found.stop()
    server.stop()


def post(url, *, client="127.0.0.1", pretended="", **fields):
    """Send a request and return the answer.

    Args:
        url: An address of the proxy.
        client: Address of this machine that the connection comes from.
        pretended: An address that the client itself writes into X-Forwarded-For.
        fields: More fields of the request.
    """
    headers = {"X-Forwarded-For": pretended} if pretended else {}
    with httpx2.Client(transport=httpx2.HTTPTransport(local_address=client), timeout=30) as own:
        return own.post(url, json={"source": "en", "target": "de", **fields}, headers=headers)


def test_answers_and_errors_pass_through(proxy):
    server, url = proxy
    answer = post(f"{url}/translate", q="the cat sees")
    assert (answer.status_code, answer.json()) == server.post("/translate", q="the cat sees")
    assert "form-action 'self'" in answer.headers["content-security-policy"]
    answer = post(f"{url}/translate", q="")
    assert answer.status_code == 400
    assert answer.json() == {"error": "Invalid request: missing q parameter"}
    answer = post(f"{url}/stream", q="the cat")
    assert answer.status_code == 200
    assert "event: done\n" in answer.text


def test_addresses_of_files_are_those_of_the_proxy(proxy):
    _, url = proxy
    fields, files = {"source": "en", "target": "de"}, {"file": ("a.txt", b"the cat")}
    answer = httpx2.post(f"{url}/translate_file", data=fields, files=files, timeout=30)
    found = answer.json()["translatedFileUrl"]
    assert found.startswith(f"{url}/download_file/")
    assert httpx2.get(found).status_code == 200
    # A client of HTTP/1.0 may send no host.
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert b" 200 OK\r\n" in connection.makefile("rb").readline()


def test_the_inside_and_large_bodies_are_closed(proxy):
    _, url = proxy
    assert post(f"{url}/metrics").status_code == httpx2.get(f"{url}/metrics").status_code == 404
    for size in (1_500_000, 900_000):  # over the limit of the proxy, of the server
        with suppress(httpx2.TransportError):  # closed while this was sending
            assert post(f"{url}/translate", q="x" * size).status_code in (400, 413)


def test_the_server_sees_the_client_and_not_the_proxy(proxy):
    """Rates count the address in X-Forwarded-For, which a client cannot choose.

    Linux gives this machine all addresses that begin with 127. If rates counted the proxy, the
    second client would be rejected for the texts of the first.
    """
    _, url = proxy

    def send(client, pretended=""):  # as many texts as a client may send in a minute
        texts = ["a"] * REQ_LIMIT
        return post(f"{url}/translate", client=client, pretended=pretended, q=texts).status_code

    first, second = "127.0.0.2", "127.0.0.3"
    assert [send(client) for client in (first, first, second)] == [200, 429, 200]
    assert send(first, pretended="127.0.0.4") == 429
    assert send("127.0.0.4") == 200


def test_a_server_that_is_gone_gives_503(proxy):
    server, url = proxy
    server.stop()
    answer = post(f"{url}/translate", q="the cat")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.json() == {"error": "The server restarts, try again later"}
