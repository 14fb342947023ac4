"""A model and its exports, which the tests of exchange share; a test that changes one copies it."""

import pytest

from headway.ext.exchange.exporting import export_model
from support.exchange_models import SMALL, random_model


@pytest.fixture(scope="session")
def small(tmp_path_factory, tokenizer):
    """A model of random weights."""
    return random_model(tmp_path_factory.mktemp("small"), tokenizer, SMALL)


@pytest.fixture(scope="session")
def exports(small, tmp_path_factory):
    """Its export in each format."""
    folder = tmp_path_factory.mktemp("exports")
    names = {"ctranslate2": "ct2", "huggingface": "hf", "argos": "en_de.argosmodel"}
    found = {form: folder / name for form, name in names.items()}
    for form, out in found.items():
        export_model(small, form, out, verify=False)
    return found
