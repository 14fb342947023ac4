"""Keys that change while the server runs, and LibreTranslate's variables."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.ext.server.keys import Keys
from headway.ext.server.rejection import Rejection
from support.server import SHORT, Running


def test_keys_are_read_again_or_stay(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("first\n")
    keys = Keys(file)
    name = keys.check("first")
    file.write_text("second\nfirst\n")
    with pytest.raises(Rejection):
        keys.check("second")
    keys.read()
    assert keys.check("first") == name  # the client's rate continues
    assert keys.check("second") != name
    assert "second" not in keys.check("second")
    for broken in (b"# none\n", b"\xff"):
        file.write_bytes(broken)
        with pytest.raises(HeadwayError, match="keys"):
            keys.read()
        assert keys.check("second")
    file.unlink()
    with pytest.raises(OSError, match="keys"):
        keys.read()
    assert keys.check("second")


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"\xef\xbb\xbffirst\nsecond\n")
    keys = Keys(tmp_path / "keys")
    assert keys.check("first") != keys.check("second")


@pytest.mark.slow
def test_keys_and_models_are_read_again_without_a_lost_request(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys"
    file.write_text("first\nsecond\n")
    monkeypatch.setenv("LT_HOST", "localhost")
    monkeypatch.setenv("LT_CHAR_LIMIT", "9")
    monkeypatch.setenv("LT_URL_PREFIX", "/translations")
    monkeypatch.setenv("LT_REQUIRE_API_KEY_SECRET", "true")
    server = Running(tmp_path / "log", str(model_directory), *SHORT, "--keys", str(file))
    statuses: list[int] = []
    stop = threading.Event()

    def client() -> None:
        while not stop.is_set():
            statuses.append(server.post("/translate", q="the cat", api_key="second")[0])

    threads = [threading.Thread(target=client) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        assert server.post("/translate", q="the cat", api_key="first")[0] == 200
        file.write_text("second\nthird\n")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.post("/translate", q="the cat", api_key="third")[0] == 200)
        assert server.post("/translate", q="the cat", api_key="first")[0] == 403
        file.write_text("")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.metric('headway_reloads_total{outcome="done"}') == 2)
        assert server.post("/translate", q="the cat", api_key="third")[0] == 200
        assert server.post("/translate", q="0123456789", api_key="third")[0] == 400
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        server.stop()
    assert len(statuses) > 10
    assert set(statuses) == {200}
    assert f"the keys stay as they are: {file}: holds no key" in server.text()
    assert server.url.startswith("http://127.0.0.1:")
    warning = "not used here: LT_REQUIRE_API_KEY_SECRET, LT_URL_PREFIX; see docs/serving.md"
    assert server.text().count(warning) == 1


@pytest.mark.slow
def test_sighup_while_the_server_starts_is_remembered(
    model_directory: Path, tmp_path: Path
) -> None:
    keys, log = tmp_path / "keys", tmp_path / "log"
    os.mkfifo(keys)  # the server waits here for a writer
    (tmp_path / "later").write_text("second\n")
    words = ["serve", str(model_directory), "--port", "0", *SHORT, "--keys", str(keys)]
    with log.open("w") as file:
        process = subprocess.Popen([sys.executable, "-m", "headway.cli.main", *words], stderr=file)
    try:
        with keys.open("w") as pipe:
            (tmp_path / "later").replace(keys)
            process.send_signal(signal.SIGHUP)
            pipe.write("first\n")
        deadline = time.monotonic() + 200
        while "the keys were read again" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
    finally:
        process.terminate()
        assert process.wait(30) == 0, log.read_text()
