"""From raw parallel text to prepared data: clean it, learn subwords, and write token ids.

The text is prepared range by range, in tasks that any number of processes share; see
`headway.text.stages.job`. The prepared data do not depend on the processes.
"""

from collections.abc import Sequence
from pathlib import Path

from headway.config import TextConfig
from headway.text.groups import Text, Validation
from headway.text.prepared import PreparedData
from headway.text.readers import UTF8, FileForm
from headway.text.stages.preparation import Preparation
from headway.text.tokenizer import Tokenizer


def prepare(
    train: Text,
    valid: Validation,
    out: str | Path,
    config: TextConfig,
    languages: tuple[str, str] | None = None,
    tests: Sequence[Text] = (),
    tokenizer: Tokenizer | None = None,
    form: FileForm = UTF8,
    workers: int = 1,
) -> PreparedData:
    """Write a prepared directory from raw parallel text; it appears whole or not at all.

    Args:
        train: One file of pairs, or two plain text files. For a model of several pairs of languages,
            ``{"en-de": files, "en-fr": files}``.
        valid: Likewise, and a line that is no pair is an error; or the number of pairs to hold out of
            the training text, of each pair of languages.
        out: The directory, which must not exist yet or be empty.
        config: The cleaning rules and the vocabulary.
        languages: Codes of source and target; None: the suffixes of two plain files.
        tests: Test sets, likewise; a training pair that occurs in one is dropped.
        tokenizer: The vocabulary to use; None: learn one from the training text.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        workers: The largest number of processes; little text is prepared in this process.

    Raises:
        HeadwayError: If text is missing or wrong; it names the file and line.
        OSError: If ``out`` cannot be written; it names ``out``.
    """
    preparation = Preparation(
        train, valid, out, config, languages, tests=tests, tokenizer=tokenizer, form=form
    )
    for _ in preparation.run(workers):
        pass
    return PreparedData.open(out)
