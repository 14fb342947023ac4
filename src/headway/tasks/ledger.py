"""The ledger of shared work: a directory that holds the result of each finished task.

A task has a name such as ``clean/000012``, and its result is the directory of that name. The result is
written under a temporary name and renamed when it is on disk. So a task is either finished or not begun,
whenever its process is killed, and a task that is done twice has one result.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headway.files import TEMPORARY, remove, sync
from headway.tasks.members import Member

_SEPARATOR = "+"  # between the process and the task in the name of an unfinished result


def task_name(stage: str, number: int = 0) -> str:
    """Return the name of a task: its stage and its number in the stage."""
    return f"{stage}/{number:06}"


class Ledger:
    """The results of tasks.

    Args:
        directory: An existing directory, which all processes share.
        member: The name of this process: see `headway.tasks.members`.
    """

    def __init__(self, directory: Path, member: str) -> None:
        self.directory = directory
        self._member = member
        self._failure = directory / "failure.json"

    @property
    def exists(self) -> bool:
        """Whether no other process has ended the work and removed the directory."""
        return self.directory.is_dir()

    def result(self, stage: str, number: int = 0) -> Path:
        """Return the directory of a task's result, which need not exist."""
        return self.directory / task_name(stage, number)

    def is_done(self, name: str) -> bool:
        """Return whether a task is finished."""
        return (self.directory / name).is_dir()

    def list_done(self, stage: str) -> set[int]:
        """Return the numbers of the finished tasks of a stage."""
        try:
            entries = list((self.directory / stage).iterdir())
        except FileNotFoundError:
            return set()
        return {int(entry.name) for entry in entries}

    @contextmanager
    def commit(self, name: str) -> Iterator[Path]:
        """Yield an empty directory for the result of a task, and rename it once it is on disk.

        If the task has been finished meanwhile, its result is kept and this one is deleted.
        """
        temporary = (
            self.directory / f"{TEMPORARY}{self._member}{_SEPARATOR}{name.replace('/', '-')}"
        )
        remove(temporary)
        temporary.mkdir()
        try:
            yield temporary
            for part in (*temporary.rglob("*"), temporary):
                sync(part)
            final = self.directory / name
            final.parent.mkdir(exist_ok=True)
            try:
                temporary.rename(final)
            except OSError:
                if not final.is_dir():
                    raise
            else:
                sync(final.parent)
        finally:
            with suppress(OSError):
                remove(temporary)

    def write_text(self, name: str, text: str) -> None:
        """Write a file atomically, which other processes and machines may write at the same time."""
        temporary = self.directory / f"{TEMPORARY}{self._member}{_SEPARATOR}{name}"
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        temporary.replace(self.directory / name)
        sync(self.directory)

    def remove_unfinished(self, member: Member) -> None:
        """Delete the unfinished results of processes that were killed.

        Args:
            member: This process, which knows whether the others live.
        """
        for leftover in self.directory.glob(f"{TEMPORARY}*{_SEPARATOR}*"):
            owner = leftover.name.removeprefix(TEMPORARY).partition(_SEPARATOR)[0]
            if not member.is_alive(owner):
                remove(leftover)

    def remove_failure(self) -> None:
        """Forget a failure, so that the failed task is tried again."""
        remove(self._failure)

    def record_failure(self, message: str) -> None:
        """Let every process end with this message, because a task cannot succeed."""
        self.write_text(self._failure.name, json.dumps(message))

    def failure(self) -> str | None:
        """Return the message of a failure, if there was one."""
        try:
            return str(json.loads(self._failure.read_bytes()))
        except FileNotFoundError:
            return None
