"""How settings depart from the paper's: every setting is compared, unless it changes no result."""

from dataclasses import asdict, replace
from typing import Any

from headway.config.declaration import NO_LIMIT, Paper, Role, notes_of, with_role
from headway.config.sections import PRESETS, SECTIONS, Config


def list_departures(config: Config) -> tuple[str, dict[str, dict[str, object]]]:
    """Compare settings with those of the paper's base or big, whichever has the nearer width.

    Sizes count, too: a smaller model departs from both. An encoder or a decoder alone is compared
    without the settings of the stack that it lacks, of parallel text, and of the search.

    Args:
        config: The settings of a model or a preset.

    Returns:
        ``base`` or ``big``, and for each of the sections ``model``, ``training``, ``text`` and
        ``search`` the settings that differ, with their values.
    """
    is_big = config.model.d_model**2 > PRESETS["base"].model.d_model * PRESETS["big"].model.d_model
    nearest = "big" if is_big else "base"
    return nearest, _compare(config, paper_config(nearest))


def paper_config(name: str) -> Config:
    """Return all settings of the paper's ``base`` or ``big``, those of the text and of the search included."""
    preset = PRESETS[name]
    training = replace(preset.training, micro_batch_tokens=preset.training.batch_tokens)
    config = replace(preset, training=training)
    return Config(**{name: _as_in_paper(section) for name, section in config.sections().items()})


def _as_in_paper(section: Any) -> Any:
    """Return a section with the paper's value of each setting that declares one."""
    said = {
        name: note.value
        for name, notes in notes_of(section).items()
        for note in notes
        if isinstance(note, Paper)
    }
    return replace(section, **said)


def paper_values(name: str) -> dict[str, object]:
    """Return the settings of the paper's ``base`` or ``big`` of which it says a value, by their names without sections."""
    return {
        setting: value
        for section, settings in paper_config(name).to_dict().items()
        for setting, value in settings.items()
        if value
        and value != NO_LIMIT
        and setting not in with_role(SECTIONS[section], Role.UNSAID, Role.UNCOMPARED, Role.MACHINE)
    }


def _compare(config: Config, paper: Config) -> dict[str, dict[str, object]]:
    ours, theirs = asdict(_as_compared(config)), asdict(_as_compared(paper))
    lacking = {"classifier": "num_decoder_layers", "language-model": "num_encoder_layers"}
    compared = {section: {*theirs[section]} for section in theirs}
    if config.model.kind in lacking:
        compared["model"] -= {lacking[config.model.kind]}
        compared["text"] = with_role(SECTIONS["text"], Role.ANY_TEXT)
        compared["search"] = set()
    return {
        section: {
            name: value
            for name, value in ours[section].items()
            if value != theirs[section][name]
            and name in compared[section]
            and name not in with_role(SECTIONS[section], Role.UNCOMPARED, Role.MACHINE)
        }
        for section in ("model", "training", "text", "search")
    }


def _as_compared(config: Config) -> Config:
    """Write one value for what follows from other settings, or is switched off by them."""
    model, training, text = config.model, config.training, config.text
    width = model.d_model / model.num_heads
    model = replace(
        model,
        d_k=0 if model.d_k == width else model.d_k,
        d_v=0 if model.d_v == width else model.d_v,
        d_embedding=0 if model.d_embedding == model.d_model else model.d_embedding,
    )
    # Sentences of similar lengths form a micro-batch, and micro-batches of any lengths a step; the paper's step is
    # one batch of similar lengths.
    if training.packed or training.micro_batch_tokens >= training.batch_tokens:
        training = replace(training, micro_batch_tokens=NO_LIMIT)
    if not text.compare_sides:
        text = replace(text, max_ratio=0.0, drop_identical=False, max_copied=0.0)
    return replace(config, model=model, training=training, text=text)
