"""``headway serve`` as a process under test."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHORT = ("--search.max-extra", "7", "--server.split-sentences", "false")


class Running:
    """A server under test."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headway.cli.main", "serve", "--port", "0", *arguments],
                stderr=file,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
        try:
            self.wait(lambda: "listening at" in self.text(), 200)  # a busy machine imports slowly
            self.url = re.findall(r"listening at (\S+)", self.text())[0]
            self.port = int(self.url.rpartition(":")[2])
            self.wait(lambda: not isinstance(self.ask_health(), Exception))
        except AssertionError:
            self.process.kill()
            self.process.wait()
            raise

    def text(self) -> str:
        return self.log.read_text()

    def ask_health(self) -> Any:
        try:
            return self.get("/health")
        except OSError as error:
            return error

    def wait(self, holds: Callable[[], bool], seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(self.text())
            time.sleep(0.02)

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(self.url + "/metrics", timeout=10) as answer:
            return sum(
                float(line.rpartition(" ")[2])
                for line in answer.read().decode().splitlines()
                if line.startswith(name)
            )

    def texts_are(self, count: int) -> bool:
        return self.metric("headway_queue_texts") == count

    def post(self, path: str, **fields: Any) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path,
            json.dumps({"source": "en", "target": "de", **fields}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)
