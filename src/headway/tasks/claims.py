"""Claims: which process works on which task, so that two processes rarely do the same."""

from contextlib import suppress
from pathlib import Path

from headway.tasks.members import Member


class Claims:
    """The claims of all processes: for each task in progress, the name of the process that does it.

    A claim holds as long as its process lives. If two processes take over the claim of a dead one in the
    same moment, both do the task, which is harmless: see `headway.tasks.ledger`.

    A claim is a symbolic link whose target is the name: such a link is created in one step with its
    content, and only one process can create it, also on a network file system.

    Args:
        directory: The shared directory.
        member: This process.
    """

    def __init__(self, directory: Path, member: Member) -> None:
        self._folder = directory / "claims"
        self._folder.mkdir(exist_ok=True)
        self._member = member

    def take(self, task: str) -> bool:
        """Claim a task, and return whether this process may do it now."""
        claim = self._path(task)
        if self._create(claim):
            return True
        try:
            owner = claim.readlink().name
        except FileNotFoundError:  # it was just released
            return self._create(claim)
        if self._member.is_alive(owner):
            return False
        claim.unlink(missing_ok=True)
        return self._create(claim)

    def release(self, task: str) -> None:
        """Give up the claim of a task that is finished or has failed."""
        with suppress(OSError):
            self._path(task).unlink()

    def _path(self, task: str) -> Path:
        return self._folder / task.replace("/", "-")

    def _create(self, claim: Path) -> bool:
        try:
            claim.symlink_to(self._member.name)
        except FileExistsError:
            return False
        return True
