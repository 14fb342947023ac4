"""Turn a treebank into training data: sentences as source, linearized trees as target.

The prepared directory has the format of `headway prepare`, so a parser is trained like a translator.
The target vocabulary has one token for each opening label, closing label and part of speech.
"""

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.paper.parsing.linearization import NUMBERS, linearize, number_words
from headway.ext.paper.parsing.trees import Tree, read_trees, simplify
from headway.text import EOS, PreparedData, Tokenizer, prepare

LANGUAGES = ("en", "trees")
RESERVED = ("</s>", "<unk>")
SPACE_MARK = "▁"  # which sentencepiece writes for a space


def read_treebank(path: str | Path) -> list[Tree]:
    """Read a file of trees and remove their traces, empty constituents and functions.

    Raises:
        HeadwayError: If the file holds no trees, or a line is not a tree.
    """
    return [tree for tree in read_all_trees(path) if tree is not None]


def read_all_trees(path: str | Path) -> list[Tree | None]:
    """Read a file of trees as `read_treebank` does, with None for each tree that has no words."""
    trees = list(map(simplify, read_trees(path)))
    if not any(trees):
        raise HeadwayError(f"{path}: holds no trees; it needs one bracketed tree a line")
    return trees


def prepare_treebank(
    train: Sequence[Tree],
    valid: Sequence[Tree],
    out: str | Path,
    config: TextConfig,
    *,
    numbered: bool = False,
) -> PreparedData:
    """Write trees as a prepared directory, atomically.

    Args:
        train: Trees as `read_treebank` returns them; the vocabularies are learned from them.
        valid: Trees for validation.
        out: Directory to write; it must not exist or be empty.
        config: Text settings. ``vocab_size`` is the size of the source vocabulary. Of the cleaning
            rules only ``max_tokens`` applies.
        numbered: Whether each word has its number before it, in sentence and tree (`linearize`). Both
            are longer then, so that ``max_tokens`` drops more of them.

    Raises:
        HeadwayError: If the training text is too small for the vocabulary size, or a part of speech or
            label cannot be a token of the target vocabulary.
    """
    # The cleaning rules are made for translations. Sentences of the validation set are still removed
    # from the training set.
    config = replace(
        config,
        joint_vocab=False,
        max_characters=0,
        max_ratio=0.0,
        max_copied=0.0,
        drop_control=False,
        drop_duplicates=False,
        drop_identical=False,
    )

    tags = {leaf.label for tree in (*train, *valid) for leaf in tree.leaves()}
    if confused := tags & set(NUMBERS):
        raise HeadwayError(
            f"{min(confused)} is a part of speech in these trees, but numbers of words are written so"
        )
    tokens = {token for tree in (*train, *valid) for token in linearize(tree)}
    if taken := [token for token in tokens if token in RESERVED or SPACE_MARK in token]:
        raise HeadwayError(
            f"{min(taken)}: a part of speech or label of these trees that a vocabulary cannot have: it has"
            f" {' and '.join(RESERVED)} of its own, and {SPACE_MARK} separates its tokens: rename it"
        )

    def sentences(trees: Iterable[Tree]) -> Iterator[list[str]]:
        return (number_words(tree.words()) if numbered else tree.words() for tree in trees)

    def sequences(trees: Iterable[Tree]) -> Iterator[list[str]]:
        return (linearize(tree, numbered=numbered) for tree in trees)

    words = Tokenizer.learn(
        ((" ".join(tokens), "") for tokens in sentences(train)), replace(config, joint_vocab=True)
    )
    numbers = NUMBERS if numbered else ()
    tokenizer = Tokenizer(words.models[0], _learn_tree_vocabulary([*sequences(train), numbers]))
    with tempfile.TemporaryDirectory() as folder:
        files = [
            _write(write(trees), Path(folder) / f"{name}.{language}")
            for name, trees in (("train", train), ("valid", valid))
            for write, language in zip((sentences, sequences), LANGUAGES, strict=True)
        ]
        return prepare(files[:2], files[2:], out, config, LANGUAGES, tokenizer=tokenizer)


def _write(sequences: Iterable[Sequence[str]], path: Path) -> Path:
    lines = "".join(f"{' '.join(tokens)}\n" for tokens in sequences)
    path.write_text(lines, encoding="utf-8", newline="\n")
    return path


def _learn_tree_vocabulary(sequences: Iterable[Sequence[str]]) -> bytes:
    """Return a sentencepiece model whose vocabulary is the set of tokens in these sequences."""
    from sentencepiece import SentencePieceTrainer

    tokens = {token for sequence in sequences for token in sequence}
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(sorted(tokens))]),
        model_writer=model,
        model_type="word",
        vocab_size=len(tokens) + 2,
        use_all_vocab=True,
        character_coverage=1.0,
        normalization_rule_name="identity",
        unk_id=Tokenizer.unk,
        eos_id=EOS,
        bos_id=-1,
        pad_id=-1,
        max_sentence_length=1 << 20,
        minloglevel=3,
    )
    return model.getvalue()
