"""The tokenizer: raw text of two languages to subword ids and back (paper: section 5.1)."""

import hashlib
from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path

from headway.config import Kind, TextConfig
from headway.errors import HeadwayError
from headway.extension import require
from headway.files import remove, replace_bytes
from headway.text.languages import find_code
from headway.text.vocabulary import EOS, UNK, Draw, Vocabulary, read_model

# The files of a vocabulary for both languages, and of one for each.
JOINT, SEPARATE = ("tokenizer.model",), ("source.model", "target.model")


class Tokenizer:
    """A subword vocabulary for both languages, or one for each.

    Args:
        source: A serialized sentencepiece model.
        target: The model of the target side; None: both sides share one.
        threads: Threads that tokenize a list of texts; -1: as many as there are cores.

    Examples:
        >>> tokenizer = Tokenizer.load("runs/demo")
        >>> tokenizer.decode(tokenizer.encode_target(["am 1. Juni"])[0])
        'am 1. Juni'
    """

    eos = EOS
    unk = UNK

    def __init__(self, source: bytes, target: bytes | None = None, *, threads: int = -1) -> None:
        self._source = Vocabulary(source, threads)
        self._target = self._source if target is None else Vocabulary(target, threads)
        self._language = ""
        self._may_name = True  # whether a source may begin with the name of a target language

    def to(self, language: str, *, may_name: bool = False) -> "Tokenizer":
        """Return a tokenizer of the same vocabulary whose sources begin with the symbol of a target language.

        Args:
            language: A code in `target_languages`, or another code of the same language.
            may_name: Whether a source may name another one itself, such as ``>>deu<<``.

        Raises:
            HeadwayError: If the vocabulary has no symbol of the language.
        """
        chosen = copy(self)
        chosen._language = check_symbols([language], self)[0]
        chosen._may_name = may_name
        return chosen

    def as_literal(self) -> "Tokenizer":
        """Return a tokenizer of the same vocabulary whose sources cannot name a target language."""
        literal = copy(self)
        literal._may_name = False
        return literal

    @property
    def target_languages(self) -> list[str]:
        """The codes of the target languages that the vocabulary has symbols for."""
        return list(self._source.languages)

    @property
    def target_language(self) -> str:
        """The target language of `to`, whose symbol each source begins with; or an empty string."""
        return self._language

    @staticmethod
    def learn(pairs: Iterable[tuple[str, str]], config: TextConfig) -> "Tokenizer":
        """Learn the subwords of parallel text.

        Args:
            pairs: (source, target) lines, read once.
            config: ``vocab_size`` counts the control symbols too.

        Raises:
            HeadwayError: If the text is too small for the vocabulary; it names the largest size.
        """
        from headway.text.learning import learn_model

        if config.joint_vocab:
            return Tokenizer(learn_model((side for pair in pairs for side in pair), config))
        lines = list(pairs)
        return Tokenizer(
            learn_model((source for source, _ in lines), config),
            learn_model((target for _, target in lines), config),
        )

    @staticmethod
    def load(directory: str | Path) -> "Tokenizer":
        """Read ``tokenizer.model``, or ``source.model`` and ``target.model``.

        A classifier also has labels: see `headway.ext.kinds.class_labels`.

        Raises:
            HeadwayError: If a file is missing or damaged; it names the file.
        """
        directory = Path(directory)
        names = JOINT if (directory / JOINT[0]).exists() else SEPARATE
        files = [directory / name for name in names]
        if not all(file.is_file() for file in files):
            raise HeadwayError(f"{directory}: no tokenizer.model")
        return Tokenizer(*map(read_model, files))

    def save(self, directory: str | Path) -> None:
        """Write the files that `load` reads, and remove those of other vocabularies; each appears whole or not at all."""
        names, others = (JOINT, SEPARATE) if self.joint else (SEPARATE, JOINT)
        for name in others:
            remove(Path(directory) / name)
        for name, model in zip(names, self.models, strict=False):  # a joint model is both
            replace_bytes(Path(directory) / name, model)

    @property
    def joint(self) -> bool:
        """Whether both languages share one vocabulary."""
        return self._target is self._source

    @property
    def models(self) -> tuple[bytes, bytes]:
        """The serialized sentencepiece models of source and target."""
        return self._source.model, self._target.model

    @property
    def ends_sources(self) -> bool:
        """Whether the ids of a source end with ``</s>``; those of models that OpenNMT has trained do not."""
        return self._source.ends_texts

    @property
    def source_vocab_size(self) -> int:
        """Number of ids of the source side, ``<pad>`` included."""
        return self._source.size

    @property
    def target_vocab_size(self) -> int:
        """Number of ids of the target side, ``<pad>`` included."""
        return self._target.size

    @property
    def source_pad(self) -> int:
        """The id of ``<pad>`` on the source side."""
        return self._source.pad

    @property
    def target_pad(self) -> int:
        """The id of ``<pad>`` on the target side."""
        return self._target.pad

    @property
    def fingerprint(self) -> str:
        """A hash of the subwords; it does not depend on how they were learned."""
        digest = hashlib.sha256()
        for side in (self._source, self._target):
            digest.update("\n".join(side.all_pieces).encode() + b"\n\n")
        return digest.hexdigest()

    @property
    def source_letters(self) -> frozenset[str]:
        """The letters in the subwords of the source side."""
        return self._source.letters

    def encode_source(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Tokenize source texts; the ids of each text end with ``</s>``, unless `ends_sources` is false.

        Args:
            texts: Any text.
            drawn: Omit merges at random (BPE dropout); None: the usual subwords.
        """
        return self._source.encode(
            texts, drawn, self._language, may_name=self._may_name, ends=self.ends_sources
        )

    def encode_target(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Tokenize target texts; the ids of each text end with ``</s>``, and no target names a language."""
        return self._target.encode(texts, drawn, may_name=False)

    def named_language(self, text: str) -> str:
        """Return the target language that a source text begins with, such as ``>>deu<<``, or ''.

        A text names none if `to` has chosen the language for all.
        """
        return self._source.named_language(text) if self._may_name else ""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of target ids up to the first ``</s>``; ``<pad>`` is skipped."""
        return self._target.decode(ids)

    def decode_source(self, ids: Sequence[int]) -> str:
        """Return the text of source ids up to the first ``</s>``; ``<pad>`` is skipped."""
        return self._source.decode(ids)

    def decode_each(self, ids: Sequence[int]) -> list[str]:
        """Return the text of each target id; see `Vocabulary.decode_each`."""
        return self._target.decode_each(ids)

    def divide_source(self, text: str) -> list[str]:
        """Return the part of a source text that each of its ids stands for; see `Vocabulary.divide`."""
        return self._source.divide(text, self._language, may_name=self._may_name)

    def source_subwords(self, ids: Sequence[int]) -> list[str]:
        """Return the subwords of source ids; a subword that starts a word begins with U+2581."""
        return self._source.subwords(ids)

    def target_subwords(self, ids: Sequence[int]) -> list[str]:
        """Return the subwords of target ids; a subword that starts a word begins with U+2581."""
        return self._target.subwords(ids)


def check_symbols(languages: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """Return the code that a vocabulary has for each target language.

    Raises:
        HeadwayError: If the vocabulary has no symbol of a language.
    """
    known = tokenizer.target_languages
    found = []
    for language in languages:
        code = find_code(language, known)
        if code is None:
            listed = f"only of {', '.join(known)}" if known else "nor of any other language"
            raise HeadwayError(f"the vocabulary has no symbol of {language}, {listed}")
        found.append(code)
    return found


def load_tokenizer(directory: str | Path, kind: Kind) -> Tokenizer:
    """Read the tokenizer of a model, or of prepared data.

    Args:
        directory: That holds it.
        kind: Of the model.

    Raises:
        UsageError: If no extension in use has this kind.
        HeadwayError: If a file is missing or damaged; it names the file.
    """
    if kind == "translator":
        return Tokenizer.load(directory)
    loaded: Tokenizer = require(f"{directory}: a {kind}", "kinds", kind).load_tokenizer(directory)
    return loaded
