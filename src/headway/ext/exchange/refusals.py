"""Settings of a model that no outside format can express."""

from headway.config import ModelConfig


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
