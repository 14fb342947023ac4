"""From raw parallel text to prepared data: clean it, learn subwords, and write token ids."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.files import add_path_to_errors, write_atomically
from headway.text.cleaning import TOKENS, Report, clean, digest_held_out
from headway.text.corpora import origins
from headway.text.held_out import choose_validation, drop_held_out
from headway.text.prepared import PreparedData, check_new, write_prepared
from headway.text.readers import UTF8, FileForm, Pair, describe_layout, read_pairs
from headway.text.spool import Spool
from headway.text.tokenizer import Tokenizer
from headway.text.unreadable import require_readable
from headway.text.vocabulary import Draw

CHUNK = 10_000  # pairs tokenized at a time

Files = Sequence[str | Path]  # one file of pairs, or two plain text files


def prepare(
    train: Files,
    valid: Files | int,
    out: str | Path,
    config: TextConfig,
    languages: tuple[str, str] | None = None,
    tests: Sequence[Files] = (),
    tokenizer: Tokenizer | None = None,
    form: FileForm = UTF8,
) -> PreparedData:
    """Write a prepared directory from raw parallel text; it appears whole or not at all.

    Args:
        train: One file of pairs, or two plain text files.
        valid: Likewise, and a line that is no pair is an error; or the number of pairs to hold out of
            the training text.
        out: The directory, which must not exist yet or be empty.
        config: The cleaning rules and the vocabulary.
        languages: Codes of source and target; None: the suffixes of two plain files.
        tests: Test sets; a training pair that occurs in one is dropped.
        tokenizer: The vocabulary to use; None: learn one from the training text.
        form: The encoding of files that are not UTF-8, and the columns of tables.

    Raises:
        HeadwayError: If text is missing or wrong; it names the file and line.
        OSError: If ``out`` cannot be written; it names ``out``.
    """
    out = Path(out)
    check_new(out)
    others = tests if isinstance(valid, int) else [valid, *tests]
    for paths in (train, *others):
        read_pairs(paths, languages)  # opens no file yet, but checks that the names can be pairs
    codes = languages or languages_from_names(train)
    _check_names(train, *others)
    with add_path_to_errors(out), write_atomically(out) as temporary:
        temporary.mkdir(parents=True)
        _prepare(train, valid, temporary, config, codes, languages, tests, tokenizer, form)
    return PreparedData.open(out)


def _prepare(
    train: Files,
    valid: Files | int,
    out: Path,
    config: TextConfig,
    codes: tuple[str, str],
    languages: tuple[str, str] | None,
    tests: Sequence[Files],
    tokenizer: Tokenizer | None,
    form: FileForm,
) -> None:
    report = Report()
    valid_files = [] if isinstance(valid, int) else valid
    valid_pairs = list(_read_all(valid_files, languages, codes, form)) if valid_files else []
    if valid_files and not valid_pairs:
        raise HeadwayError(f"{valid_files[0]}: holds no validation pairs")
    held_out = digest_held_out(valid_pairs)
    for paths in tests:
        held_out |= digest_held_out(_read_all(paths, languages, codes, form))
    limit = config.max_unreadable if config.drop_unreadable else 0
    read = read_pairs(train, languages, strict=False, form=form)
    pairs = require_readable(read, codes, form, limit)
    spool = Spool(out / "train.text")
    count = spool.write(clean(pairs, config, report, held_out))
    if isinstance(valid, int) and count:
        valid_pairs = choose_validation(spool, valid)
        count = spool.write(drop_held_out(spool, valid_pairs, report))
    if not count:
        raise HeadwayError(
            f"{train[0]}: no training pairs are left after cleaning: {report.summary()}"
        )
    if tokenizer is None:
        every = -(-count // config.sample_lines) if config.sample_lines else 1
        sample = islice(spool, 0, None, every)
        tokenizer = Tokenizer.learn(((pair.source, pair.target) for pair in sample), config)
    corpus, _ = write_prepared(
        out,
        tokenizer,
        _training_ids(spool, tokenizer, config, report),
        ((source, target) for _, source, target in _encoded(valid_pairs, tokenizer)),
        ([pair.source for pair in valid_pairs], [pair.target for pair in valid_pairs]),
        config=config,
        languages=codes,
        text_files={
            "train": [str(path) for path in train],
            "valid": [str(path) for path in valid_files],
            **({"held_out": valid} if isinstance(valid, int) else {}),
            "origins": origins(chain(train, valid_files, *tests)),
        },
    )
    spool.remove()
    if not len(corpus):
        raise HeadwayError(
            f"{train[0]}: every training pair is longer than text.max_tokens = {config.max_tokens}"
        )
    report.tokens = {"source": corpus.source_tokens, "target": corpus.target_tokens}
    (out / "report.json").write_text(
        json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    layout = describe_layout(train, languages, form)
    text = f"{layout}\n{report.to_text()}\n".lstrip()
    (out / "report.txt").write_text(text, encoding="utf-8")


def _read_all(
    paths: Files, languages: tuple[str, str] | None, codes: tuple[str, str], form: FileForm
) -> Iterator[Pair]:
    """Read validation or test text, of which every line must be a pair."""
    pairs = read_pairs(paths, languages, strict=False, form=form)
    for pair in require_readable(pairs, codes, form, limit=0):
        assert isinstance(pair, Pair), "with limit 0, an unreadable line is an error"
        yield pair


def _check_names(train: Files, *others: Files) -> None:
    """Check that file names do not show other languages, or another order, than the training files."""
    try:
        own = languages_from_names(train)
    except HeadwayError:  # the names show no languages
        return
    for paths in others:
        try:
            found = languages_from_names(paths)
        except HeadwayError:
            continue
        if found != own:
            raise HeadwayError(
                f"{paths[0]} {paths[1]}: their names say {found[0]} and {found[1]}, but the training"
                f" text is {own[0]} and {own[1]}, in this order"
            )


def languages_from_names(paths: Files) -> tuple[str, str]:
    """Return the languages that two file names end in: ``train.en.gz`` and ``train.de``: en and de.

    Raises:
        HeadwayError: If the names do not end in languages.
    """
    codes = []
    for path in paths:
        suffixes = [s[1:] for s in Path(path).suffixes if s not in (".gz", ".xz", ".zst")]
        code = suffixes[-1] if suffixes and len(paths) == 2 else ""
        if not 1 < len(code) < 16 or code == "txt":
            raise HeadwayError(
                f"{path}: the name does not end in a language code: give --languages SOURCE TARGET, such as"
                " --languages en de"
            )
        codes.append(code)
    return codes[0], codes[1]


def _encoded(
    pairs: Iterable[Pair], tokenizer: Tokenizer, drawn: Draw | None = None
) -> Iterator[tuple[Pair, list[int], list[int]]]:
    rest = iter(pairs)
    while chunk := list(islice(rest, CHUNK)):
        sources = tokenizer.encode_source([pair.source for pair in chunk], drawn)
        targets = tokenizer.encode_target([pair.target for pair in chunk], drawn)
        yield from zip(chunk, sources, targets, strict=True)


def _training_ids(
    spool: Spool, tokenizer: Tokenizer, config: TextConfig, report: Report
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield every pair as translation tokenizes it, then all pairs again for each further copy."""
    for pair, source, target in _encoded(spool, tokenizer):
        if max(len(source), len(target)) > config.max_tokens:
            report.drop(TOKENS, pair.line, f"{pair.source} | {pair.target}")
            report.kept -= 1
        else:
            yield source, target
    for copy in range(1, config.copies):
        drawn = Draw(config.merge_dropout, seed=copy)
        for _, source, target in _encoded(spool, tokenizer, drawn):
            if max(len(source), len(target)) <= config.max_tokens:
                yield source, target
