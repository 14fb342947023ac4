"""What no other program can express of a model: it is refused, noted, or stands in another way."""

from headway.config import ModelConfig, SearchConfig

IMPOSSIBLE_LOGIT = -10000.0  # of an entry that must never be generated, in any precision


def list_sentence_note(search: SearchConfig) -> list[str]:
    """Return what another program must do for a model that was trained on single sentences; nothing for another model."""
    if search.split_sentences is not True:
        return []
    return [
        "sentences: give it one sentence at a time. The model was trained on single sentences, and may leave out the"
        " others of a text. Headway divides a text itself (search.split_sentences), the other program does not"
    ]


def find_other_attention(config: ModelConfig) -> list[str]:
    """Return the settings that make a layer something else than full dot-product attention."""
    reasons = [
        f"{name} = '{getattr(config, name)}': it has attention only"
        for name in ("encoder_mixer", "decoder_mixer")
        if getattr(config, name) != "attention"
    ]
    if config.positions not in ("sinusoidal", "learned", "none"):
        reasons.append(
            f"positions = '{config.positions}': it adds sinusoids or a table, or nothing"
        )
    if config.compatibility != "dot":
        reasons.append(f"compatibility = '{config.compatibility}': it has dot products only")
    if config.window:
        reasons.append(f"window = {config.window}: its attention reads all positions")
    return reasons
