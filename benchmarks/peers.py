"""The environment of the other toolkits."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

PEERS = ("transformers==5.23.0", "ctranslate2==4.8.5", "numpy", "safetensors")


def make_environment(directory: Path) -> Path:
    """Create the virtual environment of the other toolkits, unless it exists; return its Python."""
    python = directory / "bin" / "python"
    done = directory / "installed"
    if not done.exists():
        print(f"{directory}: installing the other toolkits", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        # torch is installed first and by version, so that the toolkits do not choose another one.
        for packages in ([f"torch=={version('torch').partition('+')[0]}"], list(PEERS)):
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        done.touch()
    return python
