"""Raw text to piece ids and back, for two languages (paper: section 5.1)."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.files import replace_bytes
from headway.text.learning import learn_model
from headway.text.vocabulary import EOS, UNK, Draw, Vocabulary, read_model


class Tokenizer:
    """One vocabulary for both languages, or one for each.

    Args:
        source: A serialized sentencepiece model.
        target: The same, for the target; None: joint.

    Example:
        >>> tokenizer = Tokenizer.load("runs/demo")
        >>> tokenizer.decode(tokenizer.encode_target(["am 1. Juni"])[0])
        'am 1. Juni'
    """

    eos = EOS
    unk = UNK

    def __init__(self, source: bytes, target: bytes | None = None) -> None:
        self._source = Vocabulary(source)
        self._target = self._source if target is None else Vocabulary(target)

    @staticmethod
    def learn(pairs: Iterable[tuple[str, str]], config: TextConfig) -> "Tokenizer":
        """Learn the subwords of parallel text.

        Args:
            pairs: (source, target) lines; read once if the vocabulary is joint.
            config: ``vocab_size`` counts the control symbols too.

        Raises:
            HeadwayError: If the text is too small for the vocabulary, with the largest that fits.
        """
        if config.joint_vocab:
            return Tokenizer(learn_model((side for pair in pairs for side in pair), config))
        held = list(pairs)
        return Tokenizer(
            learn_model((source for source, _ in held), config),
            learn_model((target for _, target in held), config),
        )

    @staticmethod
    def load(directory: str | Path) -> "Tokenizer":
        """Read ``tokenizer.model``, or ``source.model`` and ``target.model``.

        A classifier's labels are not among them: see `headway.text.labels`.

        Raises:
            HeadwayError: Naming the file that is missing or damaged.
        """
        directory = Path(directory)
        joint = directory / "tokenizer.model"
        files = (
            [joint] if joint.exists() else [directory / "source.model", directory / "target.model"]
        )
        for file in files:
            if not file.is_file():
                raise HeadwayError(f"{directory}: no tokenizer.model")
        return Tokenizer(*map(read_model, files))

    def save(self, directory: str | Path) -> None:
        """Write what `load` reads; each file appears whole or not at all."""
        source, target = self.models
        files = (
            {"tokenizer.model": source}
            if self.joint
            else {"source.model": source, "target.model": target}
        )
        for name, model in files.items():
            replace_bytes(Path(directory) / name, model)

    @property
    def joint(self) -> bool:
        """Whether both languages share a vocabulary, and one sentencepiece model."""
        return self._target is self._source

    @property
    def models(self) -> tuple[bytes, bytes]:
        """The serialized sentencepiece models of source and target."""
        return self._source.model, self._target.model

    @property
    def source_vocab_size(self) -> int:
        """Ids of the source side, ``<pad>`` included."""
        return self._source.size

    @property
    def target_vocab_size(self) -> int:
        """Ids of the target side, ``<pad>`` included."""
        return self._target.size

    @property
    def source_pad(self) -> int:
        """Id of ``<pad>`` on the source side."""
        return self._source.pad

    @property
    def target_pad(self) -> int:
        """Id of ``<pad>`` on the target side."""
        return self._target.pad

    @property
    def fingerprint(self) -> str:
        """A hash of the pieces, which does not depend on where and how they were learned."""
        digest = hashlib.sha256()
        for side in (self._source, self._target):
            digest.update("\n".join(side.all_pieces).encode() + b"\n\n")
        return digest.hexdigest()

    def encode_source(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Turn source texts into ids, each with ``</s>`` at its end.

        Args:
            texts: Any text.
            drawn: Leave merges out at random; None: the best pieces, always the same.
        """
        return self._source.encode(texts, drawn)

    def encode_target(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Turn target texts into ids, as `encode_source` does."""
        return self._target.encode(texts, drawn)

    def named_language(self, text: str) -> str:
        """Return what a source text begins with if that names a target language: ``>>deu<<``."""
        return self._source.named_language(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Turn target ids into text, up to the first ``</s>``; ``<pad>`` says nothing."""
        return self._target.decode(ids)

    def decode_source(self, ids: Sequence[int]) -> str:
        """Turn source ids into text, up to the first ``</s>``; ``<pad>`` says nothing."""
        return self._source.decode(ids)

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell source ids out; a piece that starts a word begins with U+2581."""
        return self._source.pieces(ids)

    def target_pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell target ids out; a piece that starts a word begins with U+2581."""
        return self._target.pieces(ids)
