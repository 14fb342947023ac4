"""Importing the optional packages with which exports are written and compared."""

import importlib
from types import ModuleType

from headway.errors import HeadwayError


def import_package(name: str) -> ModuleType:
    """Import a package of the extra ``export``.

    Raises:
        HeadwayError: If the package is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
        reason = "is not installed" if is_missing else f"cannot be imported ({error})"
        raise HeadwayError(
            f'this needs {name}, which {reason}: pip install "headway[export]"'
        ) from None
