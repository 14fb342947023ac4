"""The processes that share work: each has a name and a file that it touches as long as it lives.

The ages of these files are measured by the clock of their file system, so the machines' own clocks need
not agree.
"""

import os
import secrets
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

INTERVAL = 5.0  # seconds between two touches
LEASE = 60.0  # seconds after the last touch until a process counts as dead


class Member:
    """This process, as one of those that share work. As a context manager it is alive inside the block.

    Args:
        directory: The shared directory.

    Attributes:
        name: The name of this process, which no other process has had.
    """

    def __init__(self, directory: Path) -> None:
        self._folder = directory / "members"
        self.name = f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._file = self._folder / self.name
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Member":
        self._folder.mkdir(exist_ok=True)
        self._file.touch()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()
        with suppress(OSError):
            self._file.unlink()

    def is_alive(self, name: str) -> bool:
        """Return whether a process lives; of this machine at once, of others by the age of its file."""
        if name == self.name:
            return True
        machine, process, _ = name.rsplit("-", 2)
        if machine == _machine() and not _runs(int(process)):
            return False
        try:
            touched = (self._folder / name).stat().st_mtime
            os.utime(self._file)
            return self._file.stat().st_mtime - touched < LEASE
        except FileNotFoundError:
            return False

    def list_others(self) -> list[str]:
        """Return the names of the other processes that live."""
        names = (file.name for file in self._folder.iterdir())
        return [name for name in names if name != self.name and self.is_alive(name)]

    def _beat(self) -> None:
        while not self._end.wait(INTERVAL):
            with suppress(OSError):  # the work is done and its directory is gone
                os.utime(self._file)


def _machine() -> str:
    """Return the name of the machine, or of the container, whose process numbers these are."""
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}-{namespace}".replace("/", "_")


def _runs(process: int) -> bool:
    """Return whether a process of this machine runs; one that has ended may not be reaped yet."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user, or there is no /proc
        return True
    return state not in "ZX"
