"""``headway evaluate --calibrate``: what a model learns from a text besides its weights."""

import numpy as np

from headway.cli import LineProgress
from headway.errors import HeadwayError
from headway.ext.protect import learned_placeholder_words, placeholder_words
from headway.ext.quality.learned_quality import BATCH, examine_lines
from headway.ext.quality.quality_model import FILE, QualityModel
from headway.text import name_pair
from headway.translation import Translator

FEW = 200  # lines; fewer may not replace what a model has learned from more


def calibrate(_: bool, translator: Translator, sources: list[str], references: list[str]) -> None:
    """Write what a model learns from a text: ``quality.json`` and ``stand_ins.json``; print a line on each.

    Args:
        translator: Of one model, read from a directory, to which the files are written.
        sources: Raw text.
        references: The translations of people, as many.

    Raises:
        HeadwayError: If there are several models, or the text is short and the model has learned from more.
    """
    directory = translator.directory
    assert directory is not None, "the translator was read from a directory"
    file, words_file = directory / FILE, directory / placeholder_words.FILE
    if len(translator.models) > 1:
        raise HeadwayError(
            "--calibrate needs one MODEL: an ensemble takes what its first model has"
        )
    learned = QualityModel.load(directory).sentences if file.is_file() else 0
    if len(sources) < min(FEW, learned):
        raise HeadwayError(
            f"{file}: was learned from {learned:,} sentences, and this text has {len(sources):,} lines:"
            f" give {min(FEW, learned)} lines or more, or delete the file first"
        )
    # Before anything is written: it may be of a newer version.
    known = placeholder_words.load_placeholder_words(directory)
    rows = []
    with LineProgress(len(sources), 0) as progress:
        for start in range(0, len(sources), BATCH):
            batch = slice(start, start + BATCH)
            rows.append(examine_lines(translator, sources[batch], references[batch]))
            progress.update(start + len(rows[-1]), sum(len(s.split()) for s in sources[batch]))
    model = QualityModel.fit(np.concatenate(rows))
    model.save(directory)
    pair = name_pair(translator.languages)
    shared = f"; all pairs of this model share it, and it is from {pair} alone"
    print(
        f"{file}: from {model.sentences:,} sentences; Spearman with chrF2 by sentence {model.spearman:.3f}"
        + (shared if len(translator.pairs) > 1 else "")
    )
    words = learned_placeholder_words.learn_placeholder_words(sources, references)
    placeholder_words.save_placeholder_words(directory, {**known, pair: words})
    print(
        f"{words_file}: {len(words.phrases)} phrases that stand for placeholders"
        + "".join(f", {phrase.text}" for phrase in words.phrases)
    )
