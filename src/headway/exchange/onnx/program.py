"""Importing the optional packages onnx and onnxruntime."""

import importlib
from typing import Any

from headway.errors import HeadwayError


def import_program(name: str) -> Any:
    """Import a package of the extra ``export``.

    Args:
        name: ``onnx`` or ``onnxruntime``.

    Raises:
        HeadwayError: If the package is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise HeadwayError(
            f'this needs {name}, which is not installed: pip install "headway[export]"'
        ) from None
