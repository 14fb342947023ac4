"""Models of every format with a hostile number or file, each loaded or imported in a child process.

    python tests/outside/hostile_models.py [--every N]

Each field of each JSON file gets values of any kind and size, each file gets contents that are small on
disk and large in memory. A model is accepted or refused in one line, within 5 seconds of the processor and
200 MB more than its files, measured beside an ordinary load. ``--every N`` tries each Nth case. Nothing but
headway with its extra `export` and its tests is needed.
"""

import resource
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from damaged_models import Attempts

from support.hostile_models import list_cases, measure, try_case, write_models
from support.mutations import Outcome
from support.processes import read_memory

MAX_BYTES = 4 << 30  # of a child, so that a broken promise does not take the machine


class HostileModels(Attempts):
    """Models with one hostile value or file each."""

    allowed = ("refused", "accepted")

    def list_cases(self) -> Sequence[Any]:
        """Export a model to each format."""
        self.formats = write_models(self.make_model(), self.folder)
        for name, model in self.formats.items():
            assert measure(model, name, self.folder).what == "accepted", name
        return list_cases(self.formats)[:: self.options.every]

    def attempt(self, case: Any) -> tuple[str, Outcome]:
        """Try a case."""
        return str(case), try_case(case, self.formats, self.folder)

    def attempt_each(self, cases: Sequence[Any], sender: Connection) -> None:
        """Be a child with little memory."""
        limit = read_memory("VmSize") + MAX_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        super().attempt_each(cases, sender)


if __name__ == "__main__":
    HostileModels.run(__doc__, {"--every": 1})
