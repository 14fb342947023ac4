"""``headway evaluate --calibrate``: what a model learns from a text besides its weights."""

import numpy as np

from headway.cli import LineProgress
from headway.errors import HeadwayError
from headway.ext.protect import learned_placeholder_words, placeholder_words
from headway.ext.quality.learned_quality import BATCH, examine_lines
from headway.ext.quality.quality_model import FILE, QualityModel
from headway.text import name_pair
from headway.translation import Translator


def calibrate(_: bool, translator: Translator, sources: list[str], references: list[str]) -> None:
    """Write what a model learns from a text: ``quality.json`` and ``stand_ins.json``; print a line on each.

    Args:
        translator: Of one model, read from a directory, to which the files are written.
        sources: Raw text.
        references: The translations of people, as many.

    Raises:
        HeadwayError: If there are several models.
    """
    directory = translator.directory
    assert directory is not None, "the translator was read from a directory"
    if len(translator.models) > 1:
        raise HeadwayError(
            "--calibrate needs one MODEL: an ensemble takes what its first model has"
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
        f"{directory / FILE}: from {model.sentences:,} sentences; Spearman with chrF2 by sentence {model.spearman:.3f}"
        + (shared if len(translator.pairs) > 1 else "")
    )
    words = learned_placeholder_words.learn_placeholder_words(sources, references)
    placeholder_words.save_placeholder_words(directory, {**known, pair: words})
    words_file = directory / placeholder_words.FILE
    print(f"{words_file}: {len(words.phrases)} phrases that stand for placeholders")
