"""``headway prepare``: training data from raw parallel text, prepared once for many runs."""

import argparse
import sys
from pathlib import Path

from headway.cli.options import add_file_form, add_preset, file_form, language_code

EXAMPLE = (
    "headway prepare data/mine --train a.en a.de --valid v.en v.de\n"
    "headway train runs/mine --data data/mine --preset small"
)
SETTINGS = ("text",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("out", metavar="OUT", help="directory to create")
    parser.add_argument(
        "--train", metavar="FILE", nargs="+", required=True,
        help="source file and target file; or one .csv, .tsv, .jsonl or .tmx file; or - for TSV on standard"
        " input; or corpora by name: hf:NAME, mtdata:ID, sacrebleu:TESTSET. Files may be .gz, .xz"
        " or .zst",
    )  # fmt: skip
    parser.add_argument(
        "--valid",
        metavar="FILE",
        nargs="+",
        required=True,
        help="validation text; a number holds out so many pairs",
    )
    parser.add_argument(
        "--test",
        metavar="FILE",
        nargs="+",
        help="test text; its pairs are dropped from the training text",
    )
    parser.add_argument(
        "--languages",
        metavar="CODE",
        type=language_code,
        nargs=2,
        help="codes of source and target (default: from the names)",
    )
    add_file_form(parser)
    parser.add_argument(
        "--vocabulary",
        nargs="+",
        metavar="FILE",
        help="sentencepiece model(s), or the MODEL of train --init",
    )
    add_preset(parser)


def run(args: argparse.Namespace) -> None:
    """Prepare the data, and print what was kept and dropped."""
    from headway.cli.downloads import fetch_model, fetch_text, fetch_validation
    from headway.cli.settings import settings_from
    from headway.inference.directory import load_model
    from headway.text.prepare import prepare
    from headway.training.fine_tuning import check_shape
    from headway.training.given_vocabulary import GivenVocabulary

    model = tokenizer = None
    given = args.vocabulary or []
    if len(given) == 1 and not Path(given[0]).is_file():
        model = load_model(fetch_model(given[0]))
    config = settings_from(args, shape=model.config if model else None)
    if model:
        check_shape(config, model)
        tokenizer = model.tokenizer
    elif given:
        vocabulary = GivenVocabulary.read(given)
        config = vocabulary.merge_into(config, args.overrides)
        tokenizer = vocabulary.tokenizer
    codes = (args.languages[0], args.languages[1]) if args.languages else None
    train, test = (fetch_text(args, place) for place in ("train", "test"))
    held_out = [test] if test else []
    valid, form = fetch_validation(args), file_form(args)
    data = prepare(train, valid, args.out, config.text, codes, held_out, tokenizer, form)
    print((data.directory / "report.txt").read_text(encoding="utf-8").rstrip(), file=sys.stderr)
