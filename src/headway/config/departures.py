"""How settings depart from the paper's: every setting is compared, unless it changes no result."""

from dataclasses import asdict, replace

from headway.config.search import SearchConfig
from headway.config.sections import PRESETS, Config
from headway.config.text import TextConfig
from headway.config.training import TrainingConfig

# The paper drops no training pairs, cuts no lines and translates everything.
NO_LIMIT = 1_000_000_000
_TEXT = TextConfig(
    sample_lines=0, max_tokens=NO_LIMIT, drop_unreadable=False, drop_empty=False, drop_control=False,
    max_characters=0, max_ratio=0.0, drop_duplicates=False, drop_identical=False, max_copied=0.0,
    drop_leaks=False,
)  # fmt: skip
_SEARCH = SearchConfig(max_tokens=NO_LIMIT, split_sentences=False, keep=False, precision="fp32")

# These settings follow from the data, or change what is measured and stored, or where a run computes;
# compare_sides only switches rules that are compared. A new setting is compared unless it is added here.
_SAME_RESULT = {
    "model": {"kind", "source_vocab_size", "target_vocab_size", "max_positions"},
    "training": {
        "validate_every", "validation_beam", "validation_sentences", "seed", "device", "threads",
        "max_failures", "tensorboard", "shard",
    },
    "text": {"max_unreadable", "compare_sides"},
    "search": {"batch_tokens", "n_best", "seed"},
}  # fmt: skip

# The paper says nothing of these, or they only say more of what it does not do.
_UNSAID = {
    "norm_epsilon", "kernel_size", "precision", "muon_momentum", "group_temperature", "character_coverage", "copies",
    "merge_dropout", "temperature", "top_p", "candidates", "backward_weight", "micro_batch_tokens", "checkpoint_every",
}  # fmt: skip


def list_departures(config: Config) -> tuple[str, dict[str, dict[str, object]]]:
    """Compare settings with those of the paper's base or big, whichever differs in fewer of them.

    Sizes count, too: a smaller model departs from both. An encoder or a decoder alone is compared
    without the settings of the stack that it lacks.

    Args:
        config: The settings of a model or a preset.

    Returns:
        ``base`` or ``big``, and for each of the sections ``model``, ``training``, ``text`` and
        ``search`` the settings that differ, with their values.
    """
    found = {name: _compare(config, paper_config(name)) for name in ("base", "big")}
    nearest = min(found, key=lambda name: sum(map(len, found[name].values())))
    return nearest, found[nearest]


def paper_config(name: str) -> Config:
    """Return all settings of the paper's ``base`` or ``big``, those of the text and of the search included."""
    preset = PRESETS[name]
    training: TrainingConfig = replace(
        preset.training, precision="fp32", micro_batch_tokens=preset.training.batch_tokens
    )
    return replace(preset, training=training, text=_TEXT, search=_SEARCH)


def paper_values(name: str) -> dict[str, object]:
    """Return the settings of the paper's ``base`` or ``big`` of which it says a value, by their names without sections."""
    return {
        setting: value
        for section, settings in paper_config(name).to_dict().items()
        for setting, value in settings.items()
        if value and value != NO_LIMIT and setting not in _UNSAID | _SAME_RESULT[section]
    }


def _compare(config: Config, paper: Config) -> dict[str, dict[str, object]]:
    ours, theirs = asdict(_as_compared(config)), asdict(_as_compared(paper))
    lacking = {"classifier": "num_decoder_layers", "language-model": "num_encoder_layers"}
    return {
        section: {
            name: value
            for name, value in ours[section].items()
            if value != theirs[section][name]
            and name not in ignored
            and name != lacking.get(config.model.kind)
        }
        for section, ignored in _SAME_RESULT.items()
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
