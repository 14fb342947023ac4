"""Prepared data: a directory from which any number of runs train.

It holds ``data.json``, the tokenizer, the token ids (``train/``, ``valid/``), and the raw validation
text (``valid.source``, ``valid.target``), against which translations are scored. Data made from parallel
text also have ``report.txt`` and ``report.json``, the report of the cleaning.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from headway import __version__
from headway.config import Kind, TextConfig, from_dict
from headway.errors import HeadwayError
from headway.files import OtherVersionError, check_is_file, check_writer, read_small_file
from headway.text.groups import Group, Manifest
from headway.text.languages import Languages
from headway.text.shards import Corpus, IdPair
from headway.text.tokenizer import Tokenizer, load_tokenizer

FORMAT = 1
MOST_BYTES = 1 << 26  # of data.json, which names all files of the text


@dataclass(frozen=True)
class PreparedData:
    """The data that a training run reads.

    Attributes:
        directory: The prepared directory.
        tokenizer: The vocabulary, learned from the training text.
        train: Training pairs as token ids.
        valid: Validation pairs as token ids.
        valid_source: Raw validation sources.
        valid_target: Raw validation references.
        languages: Codes of source and target; of the first pair of languages, if there are several.
        groups: The pairs of each pair of languages, in this order.
        fingerprint: A hash of the vocabulary, all token ids and the groups.
        has_symbols: Whether sources begin with the symbol of their target language.
        kind: The kind of model that the data is for: see ``model.kind``.
        origins: The manifests of corpora that were fetched by name: see `headway.ext.corpora`.
        text: The settings that the text was prepared with.
        form: The words of the options that said how the text is written: see `FileForm.to_words`.
    """

    directory: Path
    tokenizer: Tokenizer
    train: Corpus
    valid: Corpus
    valid_source: list[str]
    valid_target: list[str]
    languages: Languages
    groups: list[Group]
    fingerprint: str
    text: TextConfig
    has_symbols: bool = False
    kind: Kind = "translator"
    origins: list[Manifest] = field(default_factory=list)
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def pairs(self) -> list[Languages]:
        """The pairs of languages of a model of several; none for a model of one."""
        return [group.languages for group in self.groups] if self.has_symbols else []

    def sample(self, most: int) -> Iterator[tuple[Languages, list[tuple[str, str]]]]:
        """Yield for each pair of languages the text of training pairs that are spread over it, ``most`` pairs together."""
        first = 0
        for group in self.groups:
            count = min(group.training_pairs, most // len(self.groups))
            rows = [first + number * group.training_pairs // count for number in range(count)]
            yield group.languages, [self.read_pair(row) for row in rows]
            first += group.training_pairs

    def read_pair(self, row: int) -> tuple[str, str]:
        """Return the source and the target of a training pair as people read them."""
        source, target = self.train.pair(row)
        return (
            self.tokenizer.decode_source(source.tolist()),
            self.tokenizer.decode(target.tolist()),
        )

    @classmethod
    def open(cls, directory: str | Path, way_out: str = "prepare the data again") -> "PreparedData":
        """Open a prepared directory.

        Args:
            directory: The directory.
            way_out: What an error tells the user to do.

        Raises:
            OtherVersionError: If another Headway prepared the data.
            HeadwayError: If a file is missing, damaged or changed; it names the file.
        """
        directory = Path(directory)
        with _name_way_out(directory, way_out):
            facts = _read_facts(directory)
            groups = facts.pop("groups")
            train, valid = (Corpus(directory / name) for name in ("train", "valid"))
            data = cls(
                directory=directory,
                tokenizer=load_tokenizer(directory, facts["kind"]),
                train=train,
                valid=valid,
                valid_source=_read_lines(directory / "valid.source"),
                valid_target=_read_lines(directory / "valid.target"),
                groups=groups or [Group(facts["languages"], len(train), len(valid))],
                has_symbols=bool(groups),
                **facts,
            )
            if not len(valid) == len(data.valid_source) == len(data.valid_target):
                raise HeadwayError(
                    f"{directory}: valid.source and valid.target do not belong to valid/"
                )
            if data.fingerprint != fingerprint(data.tokenizer, train, valid, groups):
                raise HeadwayError(f"{directory}: its files are from different preparations")
            for corpus in (train, valid):
                corpus.check_digest()
            return data


def read_text_settings(directory: str | Path) -> TextConfig:
    """Return the settings that the text of a prepared directory was prepared with.

    Raises:
        HeadwayError: If the directory has no ``data.json`` that this Headway can read.
    """
    with _name_way_out(directory, "prepare the data again"):
        return cast("TextConfig", _read_facts(Path(directory))["text"])


@contextmanager
def _name_way_out(directory: str | Path, way_out: str) -> Iterator[None]:
    """Let the error about a prepared directory end with what the user can do."""
    try:
        yield
    except OtherVersionError:
        raise
    except HeadwayError as error:
        raise HeadwayError(f"{error}: {way_out}") from None
    except OSError as error:
        name = error.filename or directory
        raise HeadwayError(f"{name}: {error.strerror or error}: {way_out}") from None


def _read_facts(directory: Path) -> dict[str, Any]:
    """Return what ``data.json`` says, by the names of `PreparedData`."""
    path = directory / "data.json"
    if not path.is_file():
        raise HeadwayError(f"{directory}: not prepared data: there is no data.json")
    facts = read_small_file(path, FORMAT, MOST_BYTES)
    with check_writer(path, facts):
        try:
            kind = facts.get("kind", "translator")
            if kind not in get_args(Kind):
                raise ValueError("another kind of data")
            return {
                "languages": (str(facts["languages"][0]), str(facts["languages"][1])),
                "groups": [_read_group(values) for values in facts.get("groups", [])],
                "fingerprint": str(facts["fingerprint"]),
                "kind": kind,
                "origins": [dict(values) for values in facts.get("origins", [])],
                "text": from_dict({"text": facts["text"]}, "").text,
                "form": {**facts.get("form", {})},
            }
        except (ValueError, LookupError, TypeError):
            raise HeadwayError(f"{path}: not written by this version of Headway") from None


def write_ids(directory: Path, pairs: Iterable[IdPair], tokenizer: Tokenizer) -> Corpus:
    """Write pairs of token ids of a vocabulary."""
    size = max(tokenizer.source_vocab_size, tokenizer.target_vocab_size)
    return Corpus.write(directory, pairs, size)


def write_prepared(
    directory: Path,
    tokenizer: Tokenizer,
    valid: Iterable[IdPair],
    valid_text: tuple[Sequence[str], Sequence[str]],
    *,
    config: TextConfig,
    languages: Languages,
    groups: Sequence[Group] = (),
    kind: Kind = "translator",
    text_files: Mapping[str, object],
) -> tuple[Corpus, Corpus]:
    """Write all that `PreparedData` reads, except for the training pairs.

    Args:
        directory: A directory that holds the training pairs, which `write_ids` has written to ``train``.
        tokenizer: The vocabulary.
        valid: Validation pairs as token ids.
        valid_text: Raw validation sources and references.
        config: The settings that the text was prepared with.
        languages: Codes of source and target.
        groups: The pairs of each pair of languages, if sources begin with symbols of target languages.
        kind: The kind of model that the data is for.
        text_files: Further facts for ``data.json``: where the text is from.

    Returns:
        The training and the validation pairs.
    """
    tokenizer.save(directory)
    corpora = Corpus(directory / "train"), write_ids(directory / "valid", valid, tokenizer)
    for side, lines in zip(("source", "target"), valid_text, strict=True):
        _write_lines(directory / f"valid.{side}", lines)
    facts = {
        "format": FORMAT,
        "headway": __version__,
        **({} if kind == "translator" else {"kind": kind}),
        "languages": list(languages),
        **({"groups": [asdict(group) for group in groups]} if groups else {}),
        "fingerprint": fingerprint(tokenizer, *corpora, groups),
        "text": asdict(config),
        **text_files,
    }
    (directory / "data.json").write_text(json.dumps(facts, indent=2) + "\n")
    return corpora


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _read_lines(path: Path) -> list[str]:
    """Read what `_write_lines` wrote, whatever its first line looks like: a user's file might be a document."""
    check_is_file(path)
    try:
        return path.read_bytes().decode().split("\n")[:-1]
    except UnicodeDecodeError:
        raise HeadwayError(f"{path}: damaged: not UTF-8") from None


def _read_group(values: dict[str, Any]) -> Group:
    source, target = values["languages"]
    counts = values["training_pairs"], values["validation_pairs"]
    if not all(type(count) is int and count > 0 for count in counts):
        raise ValueError("a group needs pairs")
    return Group((str(source), str(target)), *counts)


def check_new(out: Path) -> None:
    """Check that a directory does not exist yet, or is empty."""
    if not out.name or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise HeadwayError(f"{out}: exists already: give another name, or remove it")


def fingerprint(
    tokenizer: Tokenizer, train: Corpus, valid: Corpus, groups: Sequence[Group] = ()
) -> str:
    """Return a hash of the vocabulary, of all token ids, and of the groups if there are symbols."""
    parts = [tokenizer.fingerprint, train.fingerprint, valid.fingerprint]
    parts += [json.dumps(asdict(group)) for group in groups]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
