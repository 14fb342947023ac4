"""The paper's own settings, which are written at the scale "paper"."""

from importlib.resources import files

from headway.config import Config, load


def paper_settings(name: str) -> Config:
    """Read one of the files of this folder."""
    return load("base", [str(files(__name__).joinpath(f"{name}.toml"))])
