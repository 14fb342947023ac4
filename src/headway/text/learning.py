"""Learning a subword vocabulary: byte-pair encoding (paper: section 5.1), or unigram, from a sample of the text."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from headway.config import PRESETS, TextConfig
from headway.errors import HeadwayError
from headway.text.vocabulary import EOS, SPACE, UNK, language_symbol

# Of a vocabulary; a smaller one may lack room for the characters and the 256 bytes.
LEAST_USUAL = 500
LONGEST = 1 << 16  # bytes of a line; sentencepiece ignores longer ones
# Lines with one of these are given to sentencepiece as they are: it does not split them at each space only.
_UNSPLIT = ("  ", SPACE, "\u2585", "\0", "\r")


def spread_step(count: int, most: int) -> int:
    """Return n so that every n-th of ``count`` texts gives at most ``most`` of them, spread over all; 0: no limit."""
    return max(1, -(-count // most)) if most else 1


def learn_model(lines: Iterable[str], config: TextConfig, languages: Sequence[str] = ()) -> bytes:
    """Learn a sentencepiece model; the same lines give the same model on any machine.

    Args:
        lines: Read once; empty lines are ignored.
        config: ``vocab_size`` counts ``<pad>`` too, which is not in the model.
        languages: Codes of target languages, for each of which the model has a symbol.

    Returns:
        The serialized model.

    Raises:
        HeadwayError: If there is no text, or the vocabulary is too large or too small for it.
    """
    from sentencepiece import SentencePieceTrainer

    is_split = config.subwords == "none"
    sentences = _require_text(lines, is_split=is_split)
    is_counted = False
    if config.subwords == "bpe":  # it learns from words and their numbers only
        words = _count_words(sentences)
        # In a list of counts, a tab ends a word.
        is_counted = not any("\t" in word for word in words)
        counts = (f"{word}\t{count}" for word, count in words.items())
        sentences = counts if is_counted else words.elements()
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=sentences,
            input_format="tsv" if is_counted else "text",
            model_writer=model,
            model_type="word" if is_split else config.subwords,
            vocab_size=config.vocab_size - 1,
            character_coverage=config.character_coverage,
            split_digits=config.split_digits,
            byte_fallback=not is_split,
            hard_vocab_limit=not is_split,  # there may be fewer words
            normalization_rule_name="identity",
            remove_extra_whitespaces=is_split,
            unk_id=UNK,
            eos_id=EOS,
            bos_id=-1,
            pad_id=-1,
            control_symbols=[language_symbol(code) for code in languages],
            max_sentence_length=LONGEST,
            num_threads=1,  # the result of unigram depends on the number of threads
            minloglevel=3,
        )
    except (RuntimeError, OSError) as error:
        raise _explain(str(error), config.vocab_size) from None
    return _forget_format(model.getvalue())


def _count_words(lines: Iterable[str]) -> Counter[str]:
    """Count the words of lines; a line that must not be split counts as one word.

    Few words of a text are distinct, so their counts need far less memory than the lines, and sentencepiece
    needs less time for them.
    """
    words: Counter[str] = Counter()
    for line in (line.rstrip("\r") for line in lines):  # as sentencepiece does
        is_long = 4 * len(line) > LONGEST and len(line.encode()) > LONGEST
        is_padded = line[:1] == " " or line[-1:] == " "
        if is_long or is_padded or any(mark in line for mark in _UNSPLIT):
            words[line] += 1
        else:
            words.update(line.split(" "))
    return words


def _forget_format(model: bytes) -> bytes:
    """Return a model without the format of the text that it was learned from."""
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    proto = ModelProto.FromString(model)
    proto.trainer_spec.ClearField("input_format")
    content: bytes = proto.SerializeToString()
    return content


def _explain(message: str, size: int) -> HeadwayError:
    """Return an error that explains sentencepiece's message about a vocabulary of this size."""
    if "Vocabulary size too high" in message:
        largest = int("".join(c for c in message.split("<=")[1].split(".")[0] if c.isdigit())) + 1
        better = min(largest, max(LEAST_USUAL, largest // 10))
        is_large = PRESETS["quick"].text.vocab_size < size
        advice = "; --preset quick is made for little text" * is_large
        return HeadwayError(
            f"text.vocab_size = {size} is too large for this text: it must be {largest} at most, and learns more with"
            f" --text.vocab-size {better}{advice}"
        )
    if "smaller than" in message:
        return HeadwayError(
            f"text.vocab_size = {size} is too small for the characters of this text and the 256"
            " bytes: set it higher, or text.character_coverage lower"
        )
    return HeadwayError(f"no subwords could be learned: {message.splitlines()[0]}")


def _require_text(lines: Iterable[str], *, is_split: bool) -> Iterator[str]:
    """Yield the lines that are not empty; without any line sentencepiece ends the process.

    Raises:
        HeadwayError: If there is no line with text, or a split one has sentencepiece's space.
    """
    has_text = False
    for line in lines:
        if is_split and SPACE in line:
            raise HeadwayError(
                f"text.subwords = none: the text has {SPACE} (U+2581), so sentencepiece has split it: give the"
                " text before that, and its model by --vocabulary FILE.model"
            )
        if line:
            has_text = True
            yield line
    if not has_text:
        raise HeadwayError("no training pairs are left to learn subwords from")


TEMPERATURE = 5.0  # as multilingual models usually sample


def divide_sample(counts: Sequence[int], size: int) -> list[int]:
    """Return the number of pairs of each group in a sample, so that small groups get subwords, too.

    With temperature T, a group of n pairs has a share in proportion to n^(1/T), but no pair twice: what a small
    group cannot fill goes to the larger ones.

    Args:
        counts: The pairs of each group.
        size: The pairs of the sample; each group has at least one.
    """
    weights = [count ** (1 / TEMPERATURE) for count in counts]
    sizes = [0] * len(counts)
    left = size
    # In ascending order, because a smaller group is filled by a smaller sample.
    order = sorted(range(len(counts)), key=lambda group: counts[group])
    for place, group in enumerate(order):
        weight = sum(weights[other] for other in order[place:])
        share = max(1, round(left * weights[group] / weight))
        sizes[group] = min(counts[group], share)
        left -= sizes[group]
    return sizes
