"""Training data from text that is not parallel: plain lines, or texts with labels.

Both give a prepared directory as `headway.text.prepared` describes it, so that one trainer serves all
kinds of models. The target side of a plain line is the line, and that of a labeled text its label.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from headway.config import Kind, TextConfig
from headway.errors import HeadwayError
from headway.ext.kinds.class_labels import LabelTokenizer
from headway.files import write_atomically
from headway.text import (
    EOS,
    SURROGATE,
    PreparedData,
    Tokenizer,
    check_new,
    read_lines,
    spread_step,
    write_ids,
    write_prepared,
)

CHUNK = 10_000  # texts tokenized at a time

IdPair = tuple[list[int], list[int]]  # of a text and what is learned of it


@dataclass(frozen=True)
class LabeledText:
    """A text, or a pair of texts, and its label.

    Attributes:
        label: The name of the label.
        parts: One text or two.
    """

    label: str
    parts: tuple[str, ...]


def prepare_lines(
    train: Sequence[str | Path],
    valid: Sequence[str | Path],
    out: str | Path,
    config: TextConfig,
) -> PreparedData:
    """Write the prepared data of a language model; the directory appears whole or not at all.

    Empty lines are omitted, and so are training lines longer than ``max_tokens``.

    Args:
        train: Plain text files.
        valid: Plain text files.
        out: The directory, which must not exist yet.
        config: ``vocab_size``, how the vocabulary is learned, and ``max_tokens``.
    """
    config = replace(config, joint_vocab=True)  # there is one side
    tokenizer = _learn(lambda: ((line,) for line in _lines(train)), config)

    def encode(lines: Iterable[str]) -> Iterator[IdPair]:
        rest = iter(lines)
        while chunk := list(islice(rest, CHUNK)):
            yield from (([EOS], ids) for ids in tokenizer.encode_target(chunk))

    held = list(_lines(valid))
    return _write(
        out, config, tokenizer, "language-model", ("text", "text"),
        encode(_lines(train)), encode(held), ([""] * len(held), held),
    )  # fmt: skip


def prepare_examples(
    train: Sequence[str | Path], valid: Sequence[str | Path], out: str | Path, config: TextConfig
) -> PreparedData:
    """Write the prepared data of a classifier; the directory appears whole or not at all.

    Args:
        train: Files that `read_examples` can read.
        valid: Likewise; all of its labels must occur in ``train``.
        out: The directory, which must not exist yet.
        config: ``vocab_size``, how the vocabulary is learned, and ``max_tokens``.
    """
    labels = sorted({example.label for example in read_examples(train)})
    if len(labels) < 2:
        found = f"all texts have the label {labels[0]!r}" if labels else "no texts"
        raise HeadwayError(f"{train[0]}: {found}: a classifier needs two labels or more")
    config = replace(config, joint_vocab=True)  # there is one side
    words = _learn(lambda: (example.parts for example in read_examples(train)), config)
    tokenizer = LabelTokenizer(words.models[0], labels)

    def encode(examples: Iterable[LabeledText]) -> Iterator[IdPair]:
        for example in examples:
            [label] = tokenizer.encode_target([example.label])
            yield tokenizer.encode_parts(example.parts), label

    held = list(read_examples(valid, labels))
    sides = ["\t".join(e.parts) for e in held], [e.label for e in held]
    return _write(
        out, config, tokenizer, "classifier", ("text", "labels"),
        encode(read_examples(train)), encode(held), sides,
    )  # fmt: skip


def read_examples(paths: Sequence[str | Path], labels: Sequence[str] = ()) -> Iterator[LabeledText]:
    """Read ``LABEL TAB TEXT [TAB SECOND]`` lines, or JSON with ``label``, ``text`` and ``second``.

    Args:
        paths: The files.
        labels: The labels of the training text, of which each must be one; none: any label.

    Raises:
        HeadwayError: If a line is neither, or has another label; it names the file and line.
    """
    for path in paths:
        read = _object if ".jsonl" in Path(path).suffixes else _columns
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip():
                continue
            try:
                example = read(line)
            except ValueError as error:
                raise HeadwayError(f"{path}:{number}: {error}") from None
            if labels and example.label not in labels:
                raise HeadwayError(
                    f"{path}:{number}: label {example.label!r} is none of the training text:"
                    f" {', '.join(labels)}"
                )
            yield example


def split_parts(line: str) -> tuple[str, ...]:
    """Return the text or the two texts of a line without a label: ``TEXT [TAB SECOND]``; an empty second one is none.

    Raises:
        HeadwayError: If the line has more columns.
    """
    text, *others = line.split("\t")
    if len(others) > 1:
        raise HeadwayError(
            f"{line[:40]!r} ...: {len(others) + 1} columns: must be TEXT, or TEXT TAB SECOND TEXT"
        )
    return (text, *(other for other in others if other.strip()))


def _columns(line: str) -> LabeledText:
    label, *parts = line.split("\t")
    if len(parts) not in (1, 2) or not all(cell.strip() for cell in (label, *parts)):
        raise ValueError("must be LABEL TAB TEXT, or LABEL TAB TEXT TAB SECOND TEXT")
    return LabeledText(_clean(label), tuple(parts))


def _object(line: str) -> LabeledText:
    try:
        values = json.loads(line)
        label, text, second = values["label"], values["text"], values.get("second", "")
        is_whole = label.strip() and text.strip() and isinstance(second, str)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise ValueError('must be {"label": "...", "text": "..."}, with or without "second"')
    if SURROGATE.search(label + text + second):
        raise ValueError("not Unicode: it holds half of a surrogate pair")
    return LabeledText(
        _clean(label), tuple(_clean(part) for part in (text, second) if part.strip())
    )


def _clean(text: str) -> str:
    """Join the parts between white space by a space: validation text is written line by line, in lines without breaks."""
    return " ".join(text.split())


def _lines(paths: Sequence[str | Path]) -> Iterator[str]:
    for path in paths:
        yield from (line for line in read_lines(path) if line.strip())


def _learn(read: Callable[[], Iterator[tuple[str, ...]]], config: TextConfig) -> Tokenizer:
    """Learn subwords from texts that are spread over the training text, which ``read`` reads."""
    count = sum(1 for _ in read()) if config.sample_lines else 0
    sample = islice(read(), 0, None, spread_step(count, config.sample_lines))
    return Tokenizer.learn(((part, "") for parts in sample for part in parts), config)


def _write(
    out: str | Path,
    config: TextConfig,
    tokenizer: Tokenizer,
    kind: Kind,
    languages: tuple[str, str],
    train: Iterable[IdPair],
    valid: Iterable[IdPair],
    sides: tuple[list[str], list[str]],
) -> PreparedData:
    out = Path(out)
    check_new(out)
    short = (pair for pair in train if max(map(len, pair)) <= config.max_tokens)
    with write_atomically(out) as temporary:
        temporary.mkdir(parents=True)
        write_ids(temporary / "train", short, tokenizer)
        texts, validation_texts = write_prepared(
            temporary, tokenizer, valid, sides,
            config=config, languages=languages, kind=kind, text_files={},
        )  # fmt: skip
        if not len(texts):
            raise HeadwayError(
                f"no training text is left: the files hold none of text.max_tokens = {config.max_tokens} or fewer tokens"
            )
        if not len(validation_texts):
            raise HeadwayError("the files of the validation text hold no texts")
    return PreparedData.open(out)
