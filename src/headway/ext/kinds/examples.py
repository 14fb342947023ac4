"""Training data from text that is not parallel: plain lines, or texts with labels.

Both give a prepared directory as `headway.text.prepared` describes it, so that one trainer serves all
kinds of models. The target side of a labeled text is its label, and a plain line is the label of an empty text.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.kinds.class_labels import LabelTokenizer
from headway.files import write_atomically
from headway.text import (
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
TSV_FORM = "LABEL TAB TEXT, or LABEL TAB TEXT TAB SECOND TEXT"
JSON_FORM = '{"label": "...", "text": "..."}, with or without "second"'


@dataclass(frozen=True)
class LabeledText:
    """A text, or a pair of texts, and its label.

    Attributes:
        label: The name of the label.
        parts: One text or two.
    """

    label: str
    parts: tuple[str, ...]


Read = Callable[[Sequence[str | Path]], Iterator[LabeledText]]


def prepare_lines(
    train: Sequence[str | Path], valid: Sequence[str | Path], out: str | Path, config: TextConfig
) -> PreparedData:
    """Write the prepared data of a language model; the directory appears whole or not at all.

    Empty lines are omitted, and so are training lines longer than ``max_tokens``.

    Args:
        train: Plain text files.
        valid: Plain text files.
        out: The directory, which must not exist yet.
        config: ``vocab_size``, how the vocabulary is learned, and ``max_tokens``.
    """
    return _prepare(read_plain, train, valid, out, config)


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
    return _prepare(lambda paths: read_examples(paths, labels), train, valid, out, config, labels)


def _prepare(
    read: Read,
    train: Sequence[str | Path],
    valid: Sequence[str | Path],
    out: str | Path,
    config: TextConfig,
    labels: Sequence[str] = (),
) -> PreparedData:
    """Write prepared data; without labels they are those of a language model."""
    out = Path(out)
    check_new(out)
    config = replace(config, joint_vocab=True)  # there is one side
    # Subwords are learned from texts that are spread over the training text.
    count = sum(1 for _ in read(train)) if config.sample_lines else 0
    sample = islice(read(train), 0, None, spread_step(count, config.sample_lines))
    texts = (text for each in sample for text in (each.parts if labels else (each.label,)))
    tokenizer = Tokenizer.learn(((text, "") for text in texts), config)
    if labels:
        tokenizer = LabelTokenizer(tokenizer.models[0], labels)

    def encode(examples: Iterable[LabeledText]) -> Iterator[tuple[list[int], list[int]]]:
        rest = iter(examples)
        while chunk := list(islice(rest, CHUNK)):
            parts = iter(tokenizer.encode_source([part for each in chunk for part in each.parts]))
            targets = tokenizer.encode_target([each.label for each in chunk])
            for each, target in zip(chunk, targets, strict=True):
                yield [i for ids in islice(parts, len(each.parts)) for i in ids], target

    held = list(read(valid))
    if not held:
        raise HeadwayError("the files of the validation text hold no texts")
    sides = ["\t".join(each.parts) for each in held], [each.label for each in held]
    short = (pair for pair in encode(read(train)) if max(map(len, pair)) <= config.max_tokens)
    with write_atomically(out) as temporary:
        temporary.mkdir(parents=True)
        if not len(write_ids(temporary / "train", short, tokenizer)):
            raise HeadwayError(
                f"no training text is left: the files hold none of text.max_tokens = {config.max_tokens} or fewer tokens"
            )
        write_prepared(
            temporary, tokenizer, encode(held), sides, config=config,
            languages=("text", "labels" if labels else "text"),
            kind="classifier" if labels else "language-model", text_files={},
        )  # fmt: skip
    return PreparedData.open(out)


def read_plain(paths: Sequence[str | Path]) -> Iterator[LabeledText]:
    """Read lines that are not blank, each as the label of an empty text."""
    for path in paths:
        yield from (LabeledText(line, ("",)) for line in read_lines(path) if line.strip())


def read_examples(paths: Sequence[str | Path], labels: Sequence[str] = ()) -> Iterator[LabeledText]:
    """Read ``LABEL TAB TEXT [TAB SECOND]`` lines, or JSON with ``label``, ``text`` and ``second``.

    Args:
        paths: The files.
        labels: The labels of the training text, of which each must be one; none: any label.

    Raises:
        HeadwayError: If a line is neither, or has another label; it names the file and line.
    """
    known = set(labels)
    for path in paths:
        is_json = ".jsonl" in Path(path).suffixes
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip():
                continue
            try:
                label, *parts = _read_object(line) if is_json else line.split("\t")
                is_whole = len(parts) in (1, 2) and all(cell.strip() for cell in (label, *parts))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                is_whole = False
            if not is_whole:
                form = JSON_FORM if is_json else TSV_FORM
                raise HeadwayError(f"{path}:{number}: must be {form}")
            if SURROGATE.search("".join((label, *parts))):
                raise HeadwayError(
                    f"{path}:{number}: not Unicode: it holds half of a surrogate pair"
                )
            label = " ".join(label.split())
            if known and label not in known:
                raise HeadwayError(
                    f"{path}:{number}: label {label!r} is none of the training text:"
                    f" {', '.join(labels)}"
                )
            yield LabeledText(label, tuple(parts))


def _read_object(line: str) -> list[str]:
    values = json.loads(line)
    cells = values["label"], values["text"], values.get("second", "")
    label, text, second = (" ".join(cell.split()) for cell in cells)
    return [label, text, *([second] if second else [])]


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
