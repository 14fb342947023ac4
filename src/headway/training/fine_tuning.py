"""Training that starts from a model's weights instead of random ones: fine-tuning.

The weights mean nothing in another shape or vocabulary, so both are kept. What is no weight (dropout,
cleaning, the training regime) is the new run's own.
"""

from headway.config import Config
from headway.errors import HeadwayError
from headway.inference.directory import Model, load_model
from headway.model import Network
from headway.text.prepared import PreparedData
from headway.training.record import InitialModel
from headway.training.resume_check import list_changes

# Settings of the model section that are no part of a shape.
FREE = {"model.dropout", "model.attention_dropout", "model.feed_forward_dropout"}
# Settings of the text section that a vocabulary was learned with.
LEARNED = {
    "text.vocab_size", "text.joint_vocab", "text.subwords", "text.character_coverage",
    "text.split_digits",
}  # fmt: skip


def check_shape(wanted: Config, model: Model) -> None:
    """Check that settings allow a model's weights and vocabulary.

    Raises:
        HeadwayError: If they do not, with the settings that differ.
    """
    conflicts = []
    for change in list_changes(model.config, wanted):
        setting = change.split()[0]
        if setting in LEARNED or (setting.startswith("model.") and setting not in FREE):
            conflicts.append(change)
    if conflicts:
        raise HeadwayError(f"fixed by --init {model.path}: {'; '.join(conflicts)}")


def check_vocabulary(data: PreparedData, model: Model) -> None:
    """Check that data was prepared with a model's vocabulary.

    Raises:
        HeadwayError: If it was not, with the option that prepares it so.
    """
    if data.tokenizer.fingerprint != model.tokenizer.fingerprint:
        raise HeadwayError(
            f"{data.directory}: prepared with another vocabulary than {model.path} has:"
            f" prepare it with --vocabulary {model.path}"
        )


def load_initial_weights(model: Network, initial: InitialModel) -> None:
    """Copy the weights of a recorded model into a model of the same shape.

    Raises:
        HeadwayError: If the recorded model has changed since it was recorded.
    """
    if InitialModel.describe(initial.path) != initial:
        raise HeadwayError(
            f"{initial.path}: has changed since this run started from its weights: put it back"
        )
    model.load_state_dict(load_model(initial.path).transformer.state_dict())
