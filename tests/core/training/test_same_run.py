"""What a run keeps: each setting, each fact about its data, its initial weights and its precision, unless a resume may change it."""

from copy import copy
from dataclasses import fields, replace

import pytest

from headway.config import Config
from headway.training.machine import Machine
from headway.training.storage.record import (
    CHANGEABLE,
    DATA_FACTS,
    DataRecord,
    InitialModel,
    RunRecord,
    flatten,
    list_differences,
)

DATA = DataRecord(
    directory=None, fingerprint="f", tokenizer="t", languages=["en", "de"], training_pairs=23,
    validation_pairs=7, origins=[], validation_text="v", tokenizer_files="w",
)  # fmt: skip
RECORD = RunRecord(
    headway="0.3", torch="2.13", native="n", command=[], files={}, data=DATA, init=None,
    machine=Machine(device="cpu", threads=1, precision="fp32"), processes=1, settings=Config(),
)  # fmt: skip


def with_other(owner, name):
    """A copy of a frozen object in which one value is another, whatever its bounds."""
    other = copy(owner)
    object.__setattr__(other, name, f"not {getattr(owner, name)}")
    return other


def differences(now):
    assert (now.identify() == RECORD.identify()) == (now.list_facts() == RECORD.list_facts())
    return list_differences(RECORD.list_facts(), now.list_facts())


@pytest.mark.parametrize("setting", flatten(Config()))
def test_a_setting_that_no_resume_may_change_is_named(setting):
    section, name = setting.split(".")
    settings, own = copy(RECORD.settings), getattr(RECORD.settings, section)
    object.__setattr__(settings, section, with_other(own, name))
    found = differences(replace(RECORD, settings=settings))
    may_change = section == "search" or setting in CHANGEABLE
    assert [phrase.split()[0] for phrase in found] == ([] if may_change else [setting])


@pytest.mark.parametrize("name", [field.name for field in fields(DataRecord)])
def test_data_that_changed_are_named(name):
    found = differences(replace(RECORD, data=with_other(DATA, name)))
    # The data may lie elsewhere, and the fingerprint has the numbers of pairs.
    is_compared = name not in ("directory", "training_pairs", "validation_pairs")
    assert found == ([f"{DATA_FACTS[name]} changed"] if is_compared else [])


def test_initial_weights_and_the_precision_are_kept():
    other = InitialModel(path="elsewhere", sha256="s")
    assert differences(replace(RECORD, init=other)) == ["the initial weights changed"]
    half = replace(RECORD.machine, precision="bf16", threads=7, device="cuda")
    assert differences(replace(RECORD, machine=half)) == ["precision is fp32, not bf16"]
