"""``headway evaluate --calibrate``: what a model learns from a text besides its weights."""

from pathlib import Path

import numpy as np

from headway.cli import LineProgress
from headway.errors import HeadwayError
from headway.ext.protect import learned_placeholder_words, placeholder_words
from headway.ext.quality.calibration import examine_lines, fit_quality
from headway.ext.quality.quality_model import FILE, QualityModel
from headway.files import OtherVersionError
from headway.text import name_pair
from headway.translation import Translator

CALIBRATED = 64  # lines at once
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
    if len(translator.models) > 1:
        raise HeadwayError(
            "--calibrate needs one MODEL: an ensemble takes what its first model has"
        )
    learned = count_learned(directory)
    if len(sources) < min(FEW, learned):
        raise HeadwayError(
            f"{directory / FILE}: was learned from {learned:,} sentences, and this text has {len(sources):,} lines:"
            f" give {min(FEW, learned)} lines or more, or delete the file first"
        )
    known = placeholder_words.load_placeholder_words(
        directory
    )  # before anything is written: it may be of a newer version
    found = []
    with LineProgress(len(sources), 0) as progress:
        for start in range(0, len(sources), CALIBRATED):
            batch = sources[start : start + CALIBRATED]
            found.append(examine_lines(translator, batch, references[start : start + CALIBRATED]))
            progress.update(start + len(batch), sum(len(line.split()) for line in batch))
    model = fit_quality(np.concatenate(found))
    model.save(directory)
    print(
        f"{directory / FILE}: from {model.sentences:,} sentences;"
        f" Spearman with chrF2 by sentence {model.spearman:.3f}"
    )
    pair = name_pair(translator.languages)
    if len(translator.pairs) > 1:
        print(
            f"{directory / FILE}: all pairs of this model share it, and now it is from {pair} alone"
        )
    words = learned_placeholder_words.learn_placeholder_words(sources, references)
    placeholder_words.save_placeholder_words(directory, {**known, pair: words})
    print(
        f"{directory / placeholder_words.FILE}: {len(words.phrases)} phrases that stand for placeholders"
        + "".join(f", {phrase.text}" for phrase in words.phrases)
    )


def count_learned(directory: Path) -> int:
    """Return how many sentences the calibration of a model was learned from; 0: there is none, or it is damaged.

    Raises:
        OtherVersionError: If another Headway wrote it.
    """
    try:
        return QualityModel.load(directory).sentences
    except OtherVersionError:
        raise
    except HeadwayError:
        return 0
