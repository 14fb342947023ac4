"""A vocabulary that the user gives in place of one learned from the training text."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import Config, TextConfig
from headway.config.declaration import Role, with_role
from headway.config.text import Subwords
from headway.errors import HeadwayError, UsageError
from headway.text.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer


def read_vocabulary(
    paths: Sequence[str | Path], languages: Sequence[str] = ()
) -> tuple[Tokenizer, Subwords]:
    """Read a sentencepiece model for both languages, or one for each.

    Args:
        paths: One or two files.
        languages: Codes of target languages, for which the source side gets symbols.

    Returns:
        The vocabulary, which splits text as sentencepiece does with the model, and the algorithm of the model.

    Raises:
        HeadwayError: If a file is no sentencepiece model, or Headway cannot use it.
    """
    if len(paths) > 2:
        raise UsageError("--vocabulary takes one sentencepiece model, or one for each language")
    for path in paths:
        if not Path(path).is_file():
            raise HeadwayError(f"{path}: no such file: --vocabulary takes a sentencepiece model")
    files = [SentencePieceFile(Path(path)) for path in paths]
    models = [file.to_vocabulary(() if at else languages) for at, file in enumerate(files)]
    return Tokenizer(*models), files[-1].algorithm


def use_vocabulary(
    config: Config, options: Iterable[str], paths: Sequence[str | Path], languages: Sequence[str]
) -> tuple[Config, Tokenizer]:
    """Read a vocabulary (`read_vocabulary`), and return settings that describe it, and the vocabulary.

    Args:
        config: The settings.
        options: Those of the command line, such as ``text.vocab-size``.
        paths: One or two files.
        languages: Codes of target languages.

    Raises:
        UsageError: If an option is of how a vocabulary is learned.
    """
    tokenizer, subwords = read_vocabulary(paths, languages)
    learned = {f"text.{name}" for name in with_role(TextConfig, Role.VOCABULARY)}
    for option in options:
        if option.replace("-", "_") in learned:
            raise UsageError(f"--{option}: is fixed by --vocabulary: omit it")
    size, is_joint = tokenizer.target_vocab_size, tokenizer.joint
    text = replace(config.text, vocab_size=size, joint_vocab=is_joint, subwords=subwords)
    return replace(config, text=text), tokenizer
