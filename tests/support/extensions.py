"""Tests that need an extension (`make test-core` runs the others), or that install one."""

import pytest

from headway import extension
from headway.extension import load_extensions


def needs(name):
    """Skip a test where an extension is left out."""
    return pytest.mark.skipif(name not in load_extensions(), reason=f"needs extension {name}")


def forget_extensions():
    """Let Headway look again for extensions: those that are installed have changed, or the choice among them."""
    load_extensions.cache_clear()
    extension._report.cache_clear()
