"""Importing the optional packages with which exports are written and compared."""

import importlib
from types import ModuleType

from headway.errors import HeadwayError


def import_package(name: str) -> ModuleType:
    """Import a package of the extra ``export``.

    Raises:
        HeadwayError: If the package is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise HeadwayError(
            f'this needs {name}, which is not installed: pip install "headway[export]"'
        ) from None
