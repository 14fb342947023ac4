"""The command ``headway`` as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent / "headway"


def headway(*words: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN, *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1", **environment},
    )
