"""A treebank as training data: sentences as source, linearised trees as target.

What comes out is what `headway prepare` writes, so a parser is trained as a translator is. The
target vocabulary holds every label, opened and closed, and every part of speech as one piece each.
"""

import io
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.parsing.trees import Tree, linearise, parts, plain, read_trees
from headway.text.prepare import PreparedData, prepare
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import EOS, UNK

LANGUAGES = ("en", "trees")


def read_treebank(path: str | Path) -> list[Tree]:
    """Read a file of trees without traces, empty constituents and functions.

    Raises:
        HeadwayError: If there is none in it, or a line is none.
    """
    trees = [kept for kept in map(plain, read_trees(path)) if kept is not None]
    if not trees:
        raise HeadwayError(f"{path}: holds no trees")
    return trees


def prepare_treebank(
    train: Sequence[Tree],
    valid: Sequence[Tree],
    out: str | Path,
    config: TextConfig,
    *,
    with_parts: bool = False,
) -> PreparedData:
    """Write trees as a prepared directory; it appears whole or not at all.

    Args:
        train: `plain` trees; the vocabularies are learned from them.
        valid: The same, for validation.
        out: Must not be there yet, or be empty.
        config: ``vocab_size`` is that of words; cleaning is left out but for ``max_tokens``.
        with_parts: Train on each constituent too, as a sentence of its own and once. A decoder of
            trees has to count the words it has passed, and learns it where there are few.

    Raises:
        HeadwayError: If the words do not fill the vocabulary.
    """
    # Rules about translations say nothing about trees; sentences of the validation set stay out.
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
    words = Tokenizer.learn(
        ((" ".join(tree.words()), "") for tree in train), replace(config, joint_vocab=True)
    )
    tokenizer = Tokenizer(words.models[0], _whole_tokens(map(linearise, train)))
    if with_parts:
        train = [*train, *dict.fromkeys(part for tree in train for part in parts(tree))]
    with tempfile.TemporaryDirectory() as folder:
        files = [
            _write([tree.words() for tree in train], Path(folder) / f"train.{LANGUAGES[0]}"),
            _write([linearise(tree) for tree in train], Path(folder) / f"train.{LANGUAGES[1]}"),
            _write([tree.words() for tree in valid], Path(folder) / f"valid.{LANGUAGES[0]}"),
            _write([linearise(tree) for tree in valid], Path(folder) / f"valid.{LANGUAGES[1]}"),
        ]
        return prepare(files[:2], files[2:], out, config, LANGUAGES, tokenizer=tokenizer)


def _write(sequences: Iterable[Sequence[str]], path: Path) -> Path:
    lines = "".join(f"{' '.join(tokens)}\n" for tokens in sequences)
    path.write_text(lines, encoding="utf-8", newline="\n")
    return path


def _whole_tokens(sequences: Iterable[Sequence[str]]) -> bytes:
    """Learn a sentencepiece model whose pieces are the tokens of these sequences."""
    from sentencepiece import SentencePieceTrainer

    # A label occurs opened and closed alike; every token counts, so that the rarest is kept.
    seen = Counter(token for sequence in sequences for token in sequence)
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(sorted(seen))]),
        model_writer=model,
        model_type="word",
        vocab_size=len(seen) + 2,
        use_all_vocab=True,
        character_coverage=1.0,
        normalization_rule_name="identity",
        unk_id=UNK,
        eos_id=EOS,
        bos_id=-1,
        pad_id=-1,
        max_sentence_length=1 << 20,
        minloglevel=3,
    )
    return model.getvalue()
