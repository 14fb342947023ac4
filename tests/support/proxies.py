"""Servers of others, models for them, and nginx and Caddy with the configurations in ``deploy/``, as processes under test."""

import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = {"nginx": "nginx.conf", "caddy": "Caddyfile"}
LISTEN = {"nginx": "listen 80 ", "caddy": "\n:80 {"}
PROXIES = [name for name in FILES if shutil.which(name)]


def check_command(kind, file):
    """Return the proxy's own command that checks a configuration."""
    if kind == "nginx":
        return ["nginx", "-t", "-e", "stderr", "-c", str(file)]
    return ["caddy", "validate", "--config", str(file), "--adapter", "caddyfile"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def copy_model(model, folder, pairs):
    """Copy a model for each pair of languages: the weights are the same, the translations nonsense."""
    found = []
    for pair in pairs:
        path = folder / pair
        path.mkdir(parents=True)
        settings = json.loads((model / "config.json").read_text(encoding="utf-8"))
        settings["languages"] = pair.split("-")
        settings.pop("pairs", None)
        (path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        for name in ("model.safetensors", "tokenizer.model", "quality.json"):
            if (model / name).exists():
                shutil.copyfile(model / name, path / name)
        found.append(path)
    return found


@contextmanager
def serving(command, url, log, environment=None):
    """Run a server of any kind, from when an address of it answers; it works in the directory of the log."""
    with log.open("ab") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, cwd=log.parent, env=environment
        )
    with answering(process, url, log):
        yield process


@contextmanager
def answering(process, url, log):
    """Wait until an address of a server answers, and end the server with the block."""
    # Not by the proxy that the environment may name.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        deadline, answers = time.monotonic() + 300, False
        while not answers:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(log.read_text())
            with suppress(OSError):
                direct.open(url, timeout=5).close()
                answers = True
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(60)


class Proxy:
    """A proxy on a free port of this machine.

    Args:
        kind: nginx or caddy.
        upstream: Port of the server behind the proxy.
        folder: For the configuration with these two ports, and the log.
    """

    def __init__(self, kind, upstream, folder):
        self.port = free_port()
        shipped = (DEPLOY / FILES[kind]).read_text(encoding="utf-8")
        here = LISTEN[kind].replace("80", str(self.port))
        assert LISTEN[kind] in shipped
        text = shipped.replace(LISTEN[kind], here).replace(
            "127.0.0.1:5000", f"127.0.0.1:{upstream}"
        )
        text = text.replace("/run/nginx.pid", str(folder / "nginx.pid"))
        file = folder / FILES[kind]
        file.write_text(text, encoding="utf-8")
        command = ["caddy", "run", "--config", str(file), "--adapter", "caddyfile"]
        if kind == "nginx":
            command = ["nginx", "-e", "stderr", "-g", "daemon off;", "-c", str(file)]
        with (folder / "proxy.log").open("w") as log:
            self.process = subprocess.Popen(command, stderr=log, cwd=folder)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.02)
        self.stop()
        raise AssertionError((folder / "proxy.log").read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
