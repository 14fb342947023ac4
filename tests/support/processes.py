"""What other processes do, as Linux shows it."""

from contextlib import suppress
from pathlib import Path


def is_running(process: int) -> bool:
    """Return whether a process runs; one that nobody has waited for yet is a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(process: int) -> list[int]:
    """Return the processes that a process has started and that run."""
    file = Path(f"/proc/{process}/task/{process}/children")
    with suppress(OSError):
        return [child for child in map(int, file.read_text().split()) if is_running(child)]
    return []
