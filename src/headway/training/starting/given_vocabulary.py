"""A vocabulary that the user gives in place of one learned from the training text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.config import Config, TextConfig
from headway.config.declaration import Role, with_role
from headway.config.text import Subwords
from headway.errors import HeadwayError, UsageError
from headway.text.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class GivenVocabulary:
    """One sentencepiece model for both languages, or one for each.

    Attributes:
        tokenizer: The vocabulary; it splits text as sentencepiece does with the model.
        subwords: The algorithm of the model.
    """

    tokenizer: Tokenizer
    subwords: Subwords

    @classmethod
    def read(cls, paths: Sequence[str | Path], languages: Sequence[str] = ()) -> "GivenVocabulary":
        """Read one or two files.

        Args:
            paths: The files.
            languages: Codes of target languages, for which the source side gets symbols.

        Raises:
            HeadwayError: If a file is no sentencepiece model, or Headway cannot use it.
        """
        if len(paths) > 2:
            raise UsageError("--vocabulary takes one sentencepiece model, or one for each language")
        for path in paths:
            if not Path(path).is_file():
                raise HeadwayError(
                    f"{path}: no such file: --vocabulary takes a sentencepiece model"
                )
        files = [SentencePieceFile(Path(path)) for path in paths]
        models = [file.to_vocabulary(() if at else languages) for at, file in enumerate(files)]
        return cls(Tokenizer(*models), files[-1].algorithm)

    def merge_into(self, config: Config, options: Iterable[str]) -> Config:
        """Return settings that describe this vocabulary.

        Args:
            config: The settings.
            options: The settings of the command line, such as ``text.vocab-size``.

        Raises:
            UsageError: If one of them is of how a vocabulary is learned.
        """
        learned = {f"text.{name}" for name in with_role(TextConfig, Role.VOCABULARY)}
        for option in options:
            if option.replace("-", "_") in learned:
                raise UsageError(f"--{option}: is fixed by --vocabulary: omit it")
        text = replace(
            config.text,
            vocab_size=self.tokenizer.target_vocab_size,
            joint_vocab=self.tokenizer.joint,
            subwords=self.subwords,
        )
        return replace(config, text=text)
