"""The two model sizes that are compared, and their settings in Headway."""

from dataclasses import replace

from worker import ModelTask, Shape

from headway.config import PRESETS, Config, ModelConfig

SHAPES: dict[str, Shape] = {
    "tiny": {"d_model": 128, "d_ff": 512, "heads": 4, "layers": 4},
    "base": {"d_model": 512, "d_ff": 2048, "heads": 8, "layers": 6},
}
VOCAB_SIZE = 8000  # subwords of both languages, control symbols included
DROPOUT = 0.1
SMOOTHING = 0.1


def make_config(task: ModelTask) -> Config:
    """Return Headway's settings for the model size of a task, with the training settings of the preset tiny."""
    shape, size = task["shape"], task["vocab_size"]
    preset = PRESETS["tiny"]
    model = ModelConfig(
        source_vocab_size=size,
        target_vocab_size=size,
        num_encoder_layers=shape["layers"],
        num_decoder_layers=shape["layers"],
        d_model=shape["d_model"],
        d_ff=shape["d_ff"],
        num_heads=shape["heads"],
        dropout=task["dropout"],
    )
    training = replace(preset.training, label_smoothing=task["smoothing"])
    return replace(preset, model=model, training=training)


def make_task(shape: str) -> ModelTask:
    """Return the part of a task that describes the model."""
    return {
        "shape": SHAPES[shape],
        "vocab_size": VOCAB_SIZE,
        "dropout": DROPOUT,
        "smoothing": SMOOTHING,
    }
