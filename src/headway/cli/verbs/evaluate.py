"""``headway evaluate``: translate a test set and score it, or score given translations by the model."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.file_plan import check_output
from headway.cli.options import add_backward, add_direction, add_machine, add_models
from headway.cli.parallel_files import read_parallel_files
from headway.cli.progress import LineProgress
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import SearchConfig
    from headway.translation import Translator

EXAMPLE = (
    "headway evaluate runs/mine --source test.en --reference test.de\n"
    "headway evaluate runs/mine --source a.en --reference a.de --per-line > scores"
)
SETTINGS = ("search",)
CALIBRATED = 64  # lines at once
FEW = 200  # lines; fewer may not replace what a model has learned from more


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_models(parser)
    parser.add_argument(
        "--source", metavar="FILE", required=True, help="source text, one sentence on each line"
    )
    parser.add_argument(
        "--reference", metavar="FILE", required=True, help="reference translations, line by line"
    )
    parser.add_argument("--output", metavar="FILE", help="write the translations to this file")
    parser.add_argument(
        "--per-line",
        action="store_true",
        help="do not translate; print the log-probability of each reference",
    )
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="learn from this text how good translations are, for --quality, and what stands for placeholders",
    )
    parser.add_argument(
        "--comet", action="store_true", help="also run comet-score, which must be installed"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_direction(parser)
    add_backward(parser)
    add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Print the scores, or a log-probability for each line."""
    from headway.cli.process import prepare, set_threads
    from headway.cli.settings import open_translator, override_search
    from headway.text.file_languages import check_file_language

    check_options(args)
    if args.comet:
        from headway.evaluation import find_comet

        find_comet()  # before translating, which may take minutes
    sources, references = read_parallel_files(args.source, args.reference)
    set_threads(args.threads)

    translator = open_translator(args)  # after the user's mistakes: this imports torch
    search = override_search(translator, args.overrides)
    source, target = translator.languages
    check_file_language(args.source, source, target)
    check_file_language(args.reference, target, source)
    if args.per_line:
        for score in translator.score(sources, references):
            print(f"{score:.6f}")
        return
    if args.calibrate:
        calibrate_model(translator, sources, references)
        return

    from dataclasses import replace

    from headway.evaluation import comet_score, score_sheet

    prepare("decoding", translator.device)
    with collect_lines(args.output) as hypotheses:  # before translating, which may take minutes
        hypotheses.extend(found[0].text for found in translator.stream(sources, search))
    sheet = score_sheet(
        hypotheses,
        references,
        sources,
        language=translator.languages[1],
        names=(args.output or "translation", args.reference, args.source),
    )
    if args.comet:
        sheet = replace(sheet, comet=comet_score(sources, hypotheses, references))
    for warning in sheet.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if args.json:
        print(json.dumps(sheet.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(f"{' + '.join(args.models)}: {describe(search, args.backward)}\n{sheet.to_text()}")


def check_options(args: argparse.Namespace) -> None:
    """Check that the options fit together, and that no text is overwritten.

    Raises:
        UsageError: If an option would have no effect, or ``--output`` is a text that is read.
    """
    mode = "--per-line" if args.per_line else "--calibrate"
    if args.per_line or args.calibrate:
        names = ("output", "json", "comet", "backward", *(["calibrate"] if args.per_line else []))
        unused = [f"--{name}" for name in names if getattr(args, name)]
        unused += [f"--{name}" for name in args.overrides]
        if unused:
            raise UsageError(f"{unused[0]}: has no effect with {mode}: omit one of them")
    if args.output == "-":
        raise UsageError("--output -: standard output has the scores: give a file")
    if args.output:
        check_output(
            "--output", Path(args.output), {"--source": args.source, "--reference": args.reference}
        )


def calibrate_model(translator: "Translator", sources: list[str], references: list[str]) -> None:
    """Write what a model learns from this text: ``quality.json`` and ``stand_ins.json``; print a line on each."""
    from headway.errors import HeadwayError
    from headway.text.language_pairs import name_pair
    from headway.translation.calibration import Calibration
    from headway.translation.quality.quality_model import FILE
    from headway.translation.segments import stand_in_file

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
    known = stand_in_file.load_stand_ins(
        directory
    )  # before anything is written: it may be of a newer version
    calibration = Calibration()
    with LineProgress(len(sources), 0) as progress:
        for start in range(0, len(sources), CALIBRATED):
            batch = sources[start : start + CALIBRATED]
            calibration.add(translator, batch, references[start : start + CALIBRATED])
            progress.update(start + len(batch), sum(len(line.split()) for line in batch))
    model = calibration.fit()
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
    found = stand_in_file.learn_stand_ins(sources, references)
    stand_in_file.save_stand_ins(directory, {**known, pair: found})
    print(
        f"{directory / stand_in_file.FILE}: {len(found.phrases)} phrases that stand for placeholders"
        + "".join(f", {phrase.text}" for phrase in found.phrases)
    )


def count_learned(directory: Path) -> int:
    """Return how many sentences the calibration of a model was learned from; 0: there is none, or it is damaged.

    Raises:
        OtherVersionError: If another Headway wrote it.
    """
    from headway.errors import HeadwayError
    from headway.file_format import OtherVersionError
    from headway.translation.quality.quality_model import QualityModel

    try:
        return QualityModel.load(directory).sentences
    except OtherVersionError:
        raise
    except HeadwayError:
        return 0


def describe(search: "SearchConfig", backward: str | None) -> str:
    """Return how the translations are found, in a few words."""
    judge = backward or ("the model itself" if search.round_trip else "")
    beam = max(search.beam, search.candidates) if search.mbr or judge else search.beam
    how = f"beam {beam}, alpha {search.alpha:g}" if beam > 1 else "greedy"
    how = f"sampled, seed {search.seed}" if search.sample else how
    if search.mbr:
        return f"{how}, minimum Bayes risk among {search.candidates}"
    return f"{how}, {search.candidates} candidates reranked with {judge}" if judge else how


@contextmanager
def collect_lines(path: str | None) -> Iterator[list[str]]:
    """Collect the translations in a list, and write them to a file, if there is one, once all are there."""
    from headway.files import add_path_to_errors, write_atomically

    lines: list[str] = []
    if path is None:
        yield lines
        return
    with (
        add_path_to_errors(Path(path)),
        write_atomically(Path(path)) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield lines
        file.writelines(f"{line}\n" for line in lines)
