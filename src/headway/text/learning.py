"""Learning the pieces of a text: byte-pair encoding (paper: section 5.1), or unigram."""

import io
from collections.abc import Iterable, Iterator

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.vocabulary import EOS, UNK


def learn_model(lines: Iterable[str], config: TextConfig) -> bytes:
    """Learn a sentencepiece model, the same one for the same lines on any machine.

    Args:
        lines: Read once; empty ones say nothing.
        config: ``vocab_size`` counts ``<pad>`` too, which the model does not hold.

    Returns:
        The model, serialized.

    Raises:
        HeadwayError: If there is no text, or the vocabulary is too large or too small for it.
    """
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=_never_empty(lines),
            model_writer=model,
            model_type=config.subwords,
            vocab_size=config.vocab_size - 1,
            character_coverage=config.character_coverage,
            split_digits=config.split_digits,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            unk_id=UNK,
            eos_id=EOS,
            bos_id=-1,
            pad_id=-1,
            max_sentence_length=1 << 16,
            num_threads=1,  # the result of unigram depends on the number
            minloglevel=3,
        )
    except (RuntimeError, OSError) as error:
        raise _mistake(str(error), config.vocab_size) from None
    return model.getvalue()


def _mistake(said: str, size: int) -> HeadwayError:
    """Return what is wrong with a vocabulary of this size, from what sentencepiece said."""
    if "Vocabulary size too high" in said:
        largest = int("".join(c for c in said.split("<=")[1].split(".")[0] if c.isdigit())) + 1
        return HeadwayError(
            f"text.vocab_size = {size} is more than this text has pieces for: set it to {largest}"
            " or less, better to a tenth; the presets quick and tiny are made for little text"
        )
    if "smaller than" in said:
        return HeadwayError(
            f"text.vocab_size = {size} is less than the characters of this text"
            " and the 256 bytes need: set it higher, or text.character_coverage lower"
        )
    return HeadwayError(f"no subwords could be learned: {said.splitlines()[0]}")


def _never_empty(lines: Iterable[str]) -> Iterator[str]:
    """Pass the lines on; sentencepiece dies on none at all.

    Raises:
        HeadwayError: If there is no line with text.
    """
    some = False
    for line in lines:
        if line:
            some = True
            yield line
    if not some:
        raise HeadwayError("no training pairs are left to learn subwords from")
