"""Tables of cases: the file ``NAME.toml`` beside a file of tests ``NAME.py``."""

import sys
import tomllib
from pathlib import Path
from typing import Any


def read_rows(file, name):
    """Return the rows of a table in the TOML file beside a file."""
    text = Path(file).with_suffix(".toml").read_text(encoding="utf-8")
    rows: list[Any] = tomllib.loads(text)[name]["rows"]
    return rows


def own_rows():
    """Return the rows of the table that has the name of the test that asks."""
    code = sys._getframe(1).f_code
    return read_rows(code.co_filename, code.co_name)


def each_case(test):
    """Run a test for each row of the table that has its name, in the TOML file beside its own file."""
    import pytest  # campaigns, which measure memory, read tables without it

    path = Path(test.__code__.co_filename).with_suffix(".toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))[test.__name__]
    return pytest.mark.parametrize(table["names"], table["rows"])(test)
