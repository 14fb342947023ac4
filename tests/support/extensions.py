"""Tests that need an extension: `make test-core` runs the others."""

import pytest

from headway.extension import load_extensions


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test where an extension is left out."""
    return pytest.mark.skipif(name not in load_extensions(), reason=f"needs extension {name}")
