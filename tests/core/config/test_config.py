"""The presets are the paper's, and the loader rejects unknown settings."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from headway.config import (
    PRESETS,
    Config,
    TextConfig,
    departures,
    from_dict,
    load,
)
from headway.config.declaration import Bound, Role, notes_of
from headway.config.departures import list_departures
from headway.config.sections import SECTIONS
from headway.config.toml import to_toml
from headway.errors import HeadwayError
from support.cases import each_case


def test_the_presets_base_and_big_are_the_papers():
    base, big = PRESETS["base"], PRESETS["big"]
    assert base == Config()
    for config, n, d, ff, h, dropout, steps in (
        (base, 6, 512, 2048, 8, 0.1, 100_000),
        (big, 6, 1024, 4096, 16, 0.3, 300_000),
    ):
        model, training = config.model, config.training
        assert (model.num_encoder_layers, model.num_decoder_layers) == (n, n)
        assert (model.d_model, model.d_ff, model.num_heads) == (d, ff, h)
        assert model.head_widths == (64, 64)
        assert model.dropout == dropout
        assert (model.norm, model.activation, model.positions) == ("post", "relu", "sinusoidal")
        assert model.tying == "three-way"
        assert model.scale_embeddings
        assert training.max_steps == steps
        assert (training.adam_beta1, training.adam_beta2, training.adam_epsilon) == (
            0.9,
            0.98,
            1e-9,
        )
        assert (training.warmup_steps, training.label_smoothing) == (4000, 0.1)
        assert (training.batch_tokens, training.clip_norm) == (25_000, 0.0)
        assert config.text.vocab_size == 37_000
        assert (config.search.beam, config.search.alpha, config.search.max_extra) == (4, 0.6, 50)
    assert (base.training.average, big.training.average) == (5, 20)


@pytest.mark.parametrize("preset", PRESETS)
def test_settings_written_as_toml_are_read_again(preset):
    config = PRESETS[preset]
    assert from_dict(tomllib.loads(to_toml(config.sections())), "text") == config
    assert from_dict(config.to_dict(), "config.json") == config


def test_the_preset_of_earlier_measurements_can_be_had_back():
    old = load("quick", [Path(__file__).parents[3] / "docs" / "quick-0.1.toml"])
    paper = load("tiny")  # as it was made, except for size
    same = ("optimizer", "agreement", "zero_outputs", "decay", "muon_weight_decay")
    assert [getattr(old.training, name) for name in same] == [
        getattr(paper.training, name) for name in same
    ]
    assert (old.training.max_steps, old.training.cool_steps, old.model.dropout) == (8000, 6000, 0.2)
    assert old.search == paper.search


def test_a_setting_may_be_true_false_or_a_word():
    for text, value in (("auto", "auto"), ("yes", True), ("false", False)):
        search = load("tiny", overrides={"search.split-sentences": text}).search
        assert search.split_sentences == value
        stored = {"search": {"split_sentences": search.split_sentences}}
        assert from_dict(stored, "config.json").search == search
    with pytest.raises(HeadwayError, match="must be one of auto, true, false, not 'autp'"):
        load("tiny", overrides={"search.split-sentences": "autp"})


def test_later_settings_win(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text(
        "\ufeff[model]\nd_ff = 111\nd-model = 96\n", encoding="utf-8"
    )  # as by some editors
    config = load("tiny", [file], {"model.d-ff": "222"})
    assert (config.model.d_ff, config.model.d_model, config.model.num_heads) == (222, 96, 4)


@each_case
def test_impossible_values_are_rejected(section, changes):
    with pytest.raises(HeadwayError):
        SECTIONS[section](**changes)


@each_case
def test_a_message_about_a_wrong_setting_names_its_file(values, says):
    with pytest.raises(HeadwayError, match=says) as error:
        from_dict(values, "mine.toml")
    assert str(error.value).startswith("mine.toml: ")


def test_every_number_has_a_bound():
    for name, section in SECTIONS.items():
        for setting, notes in notes_of(section).items():
            is_number = get_type_hints(section)[setting] in (int, float)
            has_bound = any(isinstance(note, Bound) for note in notes)
            assert is_number == has_bound, f"{name}.{setting}"


def test_of_a_setting_outside_of_its_section_the_message_says_where_it_belongs():
    for name, section in SECTIONS.items():
        for field in dataclasses.fields(section):
            with pytest.raises(
                HeadwayError, match=rf"^a: {field.name} is a setting: .* below \[(\w+)\]"
            ) as error:
                from_dict({field.name: 1}, "a")
            assert field.name in vars(SECTIONS[str(error.value).split("[")[1].rstrip("]")]()), name


@pytest.mark.parametrize("value", ["x", None, [1], 2.5, "Pre", True, float("nan")])
def test_a_value_of_another_kind_than_its_setting_is_refused(value):
    for section in SECTIONS.values():
        for setting, hint in get_type_hints(section).items():
            kinds = (hint,) if isinstance(hint, type) else tuple({*map(type, get_args(hint))})
            is_choice = value in get_args(hint)
            is_of_kind = type(value) in kinds and value == value and not get_args(hint)
            if not (is_choice or is_of_kind):
                with pytest.raises(HeadwayError, match=f"(?m)^{setting} must be "):
                    section(**{setting: value})


def test_every_setting_has_a_meaning():
    for line in to_toml(Config().sections()).splitlines():
        if line and not line.startswith("["):
            assert len(line.split("# ", 1)[1]) > 5


def other_value(hint, value):
    if get_origin(hint) is Literal:
        return next(choice for choice in get_args(hint) if choice != value)
    if hint is float:
        return 0.5 if value != 0.5 else 0.25
    return not value if hint is bool else value // 2 or value + 1


UNCOMPARED = {Role.UNCOMPARED, Role.MACHINE}
VALUES = {"character_coverage": 0.99, "micro_batch_tokens": 3125, "group_temperature": 5.0}
NEEDED = {  # by some settings
    "cut": {"training": {"agreement": 1.0}},
    "positions": {"text": {"max_tokens": 100}},
    "average_every": {"training": {"average": 7}},
}


@pytest.mark.parametrize(
    ("section", "name", "hint"),
    [
        (section, name, hint)
        for section in ("model", "training", "text", "search")
        for name, hint in get_type_hints(SECTIONS[section]).items()
        if not UNCOMPARED & {*notes_of(SECTIONS[section])[name]}
    ],
)
def test_every_setting_that_changes_a_result_is_a_departure(section, name, hint):
    base = departures.paper_config("base")
    usual = getattr(getattr(base, section), name)
    value = VALUES.get(name, other_value(hint, usual))
    values = {key: NEEDED.get(name, {}).get(key, {}) for key in SECTIONS}
    values[section] |= {name: value}
    changed = dataclasses.replace(
        base,
        **{key: dataclasses.replace(getattr(base, key), **some) for key, some in values.items()},
    )
    nearest, found = list_departures(changed)
    assert nearest == "base"
    assert {key: some for key, some in values.items() if some} == {
        key: some for key, some in found.items() if some
    }


def test_what_is_switched_off_is_no_departure():
    base = PRESETS["base"]
    _, usual = list_departures(base)
    copy = dataclasses.replace(base, text=dataclasses.replace(base.text, compare_sides=False))
    rules = {"max_ratio", "drop_identical", "max_copied"}
    assert usual["text"].keys() - list_departures(copy)[1]["text"].keys() == rules
    training = dataclasses.replace(base.training, packed=True)
    _, packed = list_departures(dataclasses.replace(base, training=training))
    assert usual["training"].keys() == {"precision", "micro_batch_tokens"}
    assert packed["training"].keys() == {"precision", "packed"}


@pytest.mark.parametrize("kind", ["classifier", "language-model"])
def test_of_half_a_transformer_only_settings_with_an_effect_depart(kind):
    base = PRESETS["base"]
    model = dataclasses.replace(base.model, kind=kind, d_model=64, num_heads=4, dropout=0.3)
    nearest, found = list_departures(dataclasses.replace(PRESETS["quick"], model=model))
    assert nearest == "base"  # whose width is nearer, whatever else they share
    assert found["text"].keys() <= {*TextConfig.of_any_text()}
    assert not found["search"]


def test_head_widths_that_follow_from_the_sizes_are_no_departure():
    base = PRESETS["base"]
    _, found = list_departures(
        dataclasses.replace(base, model=dataclasses.replace(base.model, d_k=64, d_v=64))
    )
    assert found["model"] == {}


def test_text_in_a_written_file_is_read_back(tmp_path):
    for text in ('cu"da', "a\\b", "tab\t", "Grüße"):
        training = dataclasses.replace(Config().training, device=text)
        config = dataclasses.replace(Config(), training=training)
        assert from_dict(tomllib.loads(to_toml(config.sections())), "text") == config


@pytest.mark.parametrize("text", ["a=" + "[" * 100_000, "a=" + "9" * 5000, "a="])
def test_a_file_that_is_no_toml_gives_one_line(text, tmp_path):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(HeadwayError, match=r"own\.toml: not TOML: ") as raised:
        load("tiny", [tmp_path / "own.toml"])
    assert "\n" not in str(raised.value)


@each_case
def test_only_what_a_file_and_options_give_together_must_fit(text, options, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(text)
    settings = load("tiny", [file], options)
    settings.check_positions()
    found = settings.to_dict()
    for key, value in options.items():
        section, name = key.replace("-", "_").split(".")
        assert found[section][name] == float(value)
    with pytest.raises(HeadwayError):
        load("tiny", [file]).check_positions()


def test_a_mistake_is_told_of_the_file_or_option_that_has_it(tmp_path):
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text("[model]\nd_ff = -1\n[search]\nn_best = 9\n")
    second.write_text("[model]\ndropout = 2.0\n")
    with pytest.raises(HeadwayError) as raised:
        load("tiny", [first, second], {"model.d-model": "0", "search.alpha": "1"})
    lines = str(raised.value).splitlines()
    assert [line.split(" must")[0].split(" is ")[0] for line in lines] == [
        "--model.d-model 0", f"{first}: model.d_ff = -1", f"{second}: model.dropout = 2.0",
        f"{first}: search.n_best = 9",
    ]  # fmt: skip
