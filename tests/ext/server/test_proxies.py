"""The configurations of nginx and Caddy that Headway ships."""

import http.client
import json
import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress

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


def post(url, **fields):
    body = json.dumps({"source": "en", "target": "de", **fields}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def post_from(client, url, pretended=""):
    """Send as many texts as a client may send in a minute; return the status.

    Args:
        client: Address of this machine that the connection comes from.
        url: Of the proxy.
        pretended: An address that the client itself writes into X-Forwarded-For.
    """
    host, _, port = url.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), 30, source_address=(client, 0))
    headers = {"Content-Type": "application/json"}
    if pretended:
        headers["X-Forwarded-For"] = pretended
    body = json.dumps({"q": ["a"] * REQ_LIMIT, "source": "en", "target": "de"})
    try:
        connection.request("POST", "/translate", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_answers_and_errors_pass_through(proxy):
    server, url = proxy
    status, body, headers = post(f"{url}/translate", q="the cat sees")
    assert (status, json.loads(body)) == server.post("/translate", q="the cat sees")
    assert "form-action 'self'" in headers["content-security-policy"]
    status, body, _ = post(f"{url}/translate", q="")
    assert (status, json.loads(body)) == (400, {"error": "Invalid request: missing q parameter"})
    status, body, _ = post(f"{url}/stream", q="the cat")
    assert status == 200
    assert b"event: done\n" in body


def test_addresses_of_files_are_those_of_the_proxy(proxy):
    _, url = proxy
    kind = "multipart/form-data; boundary=x"
    fields = {'file"; filename="a.txt"': "the cat", 'source"': "en", 'target"': "de"}
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    body = "".join([*parts, "--x--\r\n"]).encode()
    request = urllib.request.Request(f"{url}/translate_file", body, {"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=30) as answer:
        found = json.load(answer)["translatedFileUrl"]
    assert found.startswith(f"{url}/download_file/")
    with urllib.request.urlopen(found, timeout=10) as answer:
        assert answer.status == 200
    # A client of HTTP/1.0 may send no host.
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert b" 200 OK\r\n" in connection.makefile("rb").readline()


def test_the_inside_and_large_bodies_are_closed(proxy):
    _, url = proxy
    assert post(f"{url}/metrics")[0] == 404
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{url}/metrics", timeout=10)
    assert caught.value.code == 404
    caught.value.close()
    for size in (1_500_000, 900_000):  # over the limit of the proxy, of the server
        with suppress(urllib.error.URLError):  # closed while this was sending
            assert post(f"{url}/translate", q="x" * size)[0] in (400, 413)


def test_the_server_sees_the_client_and_not_the_proxy(proxy):
    """Rates count the address in X-Forwarded-For, which a client cannot choose.

    Linux gives this machine all addresses that begin with 127. If rates counted the proxy, the
    second client would be rejected for the texts of the first.
    """
    _, url = proxy
    first, second = "127.0.0.2", "127.0.0.3"
    assert [post_from(client, url) for client in (first, first, second)] == [200, 429, 200]
    assert post_from(first, url, pretended="127.0.0.4") == 429
    assert post_from("127.0.0.4", url) == 200


def test_a_server_that_is_gone_gives_503(proxy):
    server, url = proxy
    server.stop()
    status, body, headers = post(f"{url}/translate", q="the cat")
    assert status == 503
    assert headers["retry-after"] == "5"
    assert json.loads(body) == {"error": "The server restarts, try again later"}
