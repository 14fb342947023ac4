"""Compare Headway with other toolkits, another checkout of itself, or a wheel, on this machine.

python benchmarks/run.py --text DIR                        other toolkits
python benchmarks/run.py --text DIR --against CHECKOUT     another checkout of Headway
python benchmarks/run.py --text DIR --against WHEEL        a wheel, with native code compiled for this very processor

Run it with the Python that has Headway installed. DIR holds train, valid and test_2016_flickr of
Multi30k as .en and .de, plain or .gz. All sides get the same batches and sentences and take turns.
See README.md.
"""

import argparse
import json
import os
import shutil
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

import torch
from inputs import find_files, write_batches, write_sentences, write_subwords
from models import train_tiny, write_random
from peers import make_environment
from shapes import make_task
from table import OTHER, Record, cell_name, compute_bleu, report
from turns import Side, take_turns
from worker import Cell

from headway.devices import has_bf16
from headway.text.tokenizer import Tokenizer

HERE = Path(__file__).parent
SCRIPTS = ("train_headway.py", "translate_headway.py")
PARTS = ("train", "threads", "translate")
# Warm-up steps, and steps of a repeat.
STEPS = {"tiny": (20, 12), "base": (1, 2)}
# Sentences of a repeat: in batches, and one by one. The weights of base are random, so every translation
# is made as long as the longest reference of its batch.
SENTENCES = {"tiny": (1000, 100), "base": (128, 20)}
EXTRA = 50  # maximum steps beyond the longest source of a batch, if lengths are not forced


class OtherCode(NamedTuple):
    """Code of Headway that this checkout is compared with.

    Attributes:
        checkout: A directory with its package and its benchmarks.
        native_here: The variant of native code that this checkout uses beside it; empty: the best one.
    """

    checkout: Path
    native_here: str = ""


def main() -> None:
    """Prepare the data and the sides, measure in turns, and print the tables."""
    args = parse_arguments()
    for split in ("train", "valid", "test_2016_flickr"):
        find_files(args.text, split)  # report a missing file before anything is installed
    work: Path = args.work
    work.mkdir(parents=True, exist_ok=True)
    args.other = find_other_code(args.against, work)
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {args.cores[0]})
    # A comparison with another checkout needs no peers.
    peers = (
        args.peers or (args.against and Path(sys.executable)) or make_environment(work / "peers")
    )
    model = args.model or work / "tiny"
    if not (model / "model.safetensors").exists():
        train_tiny(args.text, model, args.cores)
    tokenizer = Tokenizer.load(model)
    counts = write_batches(args.text, tokenizer, work / "batches.json")
    references = write_sentences(args.text, tokenizer, work / "sentences.json")
    write_subwords(tokenizer, work / "pieces.json")
    print(", ".join(f"{value:,} {name}" for name, value in counts.items()), file=sys.stderr)

    begun = time.strftime("%Y-%m-%d %H:%M")
    results = work / "results.jsonl"
    records: list[Record] = []
    for part in args.parts:
        for shape in args.shapes:
            sides, cells = plan(part, shape, args, peers, model, tokenizer)
            sides = [s for s in sides if not args.sides or s.name in args.sides]
            for turn in take_turns(sides, cells, args.repeats):
                record = cast(Record, {**turn, "part": part, "shape": shape, "begun": begun})
                if part != "translate":
                    count_batches(record, work)
                if record.get("found"):
                    record["bleu"] = compute_bleu(record["found"], references, tokenizer)
                records.append(record)
                with results.open("a", encoding="utf-8") as file:
                    kept = {name: value for name, value in record.items() if name != "found"}
                    file.write(json.dumps(kept) + "\n")
                print(format_line(record), file=sys.stderr, flush=True)
            (work / "results.md").write_text(report(records) + "\n", encoding="utf-8")
    print(report(records))


def plan(
    part: str, shape: str, args: argparse.Namespace, peers: Path, model: Path, tokenizer: Tokenizer
) -> tuple[list[Side], list[Cell | None]]:
    """Return the sides of a part, and the cells of its table."""
    own, one, all_cores = Path(sys.executable), tuple(args.cores[:1]), tuple(args.cores)
    # A processor without instructions for bf16 emulates it, which takes several times as long as fp32.
    floats = ("fp32", "bf16") if has_bf16(torch.device("cpu")) else ("fp32",)
    if part != "translate":
        warm, steps = STEPS[shape]
        task: dict[str, object] = {
            **make_task(shape),
            "batches": str(args.work / "batches.json"), "warm": warm, "steps": steps,
        }  # fmt: skip
        ours = [
            Side(f"Headway {p}", own, "train_headway.py", task | {"precision": p}, one)
            for p in floats
        ]
        if part == "threads":
            several = [
                s._replace(name=f"{s.name}, {len(all_cores)} cores", cores=all_cores) for s in ours
            ]
            return with_other_code(ours + several, args.other), [None]
        if args.other:
            return with_other_code(ours, args.other), [None]
        wirings: dict[str, dict[str, bool]] = {
            "": {}, ", paper's dropout": {"paper_dropout": True}, ", bf16 by autocast": {"autocast": True},
        }  # fmt: skip
        return [
            *(
                Side(f"torch.nn.Transformer{name}", peers, "train_torch.py", task | more, one)
                for name, more in wirings.items()
            ),
            Side("Hugging Face Marian", peers, "train_marian.py", task, one),
            *ours,
        ], [None]
    forced = shape != "tiny"
    if forced:
        model = args.work / f"random-{shape}"
        if not (model / "model.safetensors").exists():
            write_random(tokenizer, shape, model)
    task = {
        "model": str(model), "converted": str(args.work / f"converted-{shape}"),
        "pieces": str(args.work / "pieces.json"), "sentences": str(args.work / "sentences.json"),
        "forced": forced, "extra": EXTRA,
    }  # fmt: skip
    many, few = SENTENCES[shape]
    cells: list[Cell | None] = [
        {"batch": batch, "beam": beam, "count": many if batch > 1 else few, "penalty": penalty}
        for batch, beam in (map(int, cell.split("x")) for cell in args.cells)
        for penalty in (args.penalties if beam > 1 and not forced else (0.0,))
    ]
    ours = [
        Side(f"Headway {p}", own, "translate_headway.py", task | {"precision": p}, one)
        for p in (*floats, "int8")
    ]
    theirs = [
        Side(f"CTranslate2 {p}", peers, "translate_ctranslate2.py", task | {"precision": p}, one)
        for p in ("float32", "int8")
    ]
    return (with_other_code(ours, args.other) if args.other else theirs + ours), cells


def find_other_code(against: Path | None, work: Path) -> OtherCode | None:
    """Return the code of a checkout or of a wheel, which is unpacked into the directory ``work``."""
    if against is None:
        return None
    if against.suffix != ".whl":
        return OtherCode(against)
    directory = work / "wheel"  # as a checkout: with a package, and the scripts of this checkout
    shutil.rmtree(directory, ignore_errors=True)
    with zipfile.ZipFile(against) as file:
        file.extractall(directory / "src")
    (directory / "benchmarks").symlink_to(HERE)
    return OtherCode(directory, native_here="native")


def with_other_code(sides: list[Side], other: OtherCode | None) -> list[Side]:
    """Add each side once more with other code of Headway, if there is some."""
    if other is None:
        return sides
    return [
        *(side._replace(native=other.native_here) for side in sides),
        *(side._replace(name=f"{side.name}{OTHER}", checkout=other.checkout) for side in sides),
    ]


def count_batches(record: Record, work: Path) -> None:
    """Record the target tokens and the padding of a training repeat."""
    warm, steps = STEPS[record["shape"]]
    batches = json.loads((work / "batches.json").read_text(encoding="utf-8"))["batches"]
    batches = batches[warm : warm + steps]

    def count(side: str) -> tuple[int, int]:
        tokens = sum(len(row) for batch in batches for row in batch[side])
        return tokens, sum(len(batch[side]) * max(map(len, batch[side])) for batch in batches)

    tokens, places = count("source")
    record["source_padding"] = 1 - tokens / places
    record["tokens"], places = count("target")
    record["target_padding"] = 1 - record["tokens"] / places


def format_line(record: Record) -> str:
    """Return the line that reports one repeat."""
    rate = record["tokens"] / record["cpu"]
    return (
        f"{record['part']} {record['shape']} {cell_name(record)} {record['side']}:"
        f" {rate:,.0f} tokens a CPU second, {record['wall']:.2f} s,"
        f" yardstick {1000 * record['yardstick']:.0f} ms"
    )


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--text", type=Path, required=True, metavar="DIR", help="directory with Multi30k"
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=HERE / "work",
        metavar="DIR",
        help="directory for everything that is written",
    )
    parser.add_argument("--model", type=Path, metavar="DIR",
                        help="a tiny run or model directory; default: train one (ten minutes)")  # fmt: skip
    parser.add_argument("--peers", type=Path, metavar="PYTHON",
                        help="interpreter of an environment with the peers; default: make one")  # fmt: skip
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--shapes", nargs="+", default=("tiny", "base"), choices=("tiny", "base"))
    parser.add_argument("--sides", nargs="+", metavar="NAME", help="only these; default: all")
    parser.add_argument("--cells", nargs="+", default=("32x4", "32x1", "1x4", "1x1"),
                        metavar="NxK", help="translate: batch size x beam")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=(0, 1), metavar="N",
                        help="the first one runs all parts but threads; default 0 1")  # fmt: skip
    parser.add_argument("--penalties", type=float, nargs="+", default=(0.0, 1.0), metavar="ALPHA",
                        help="length penalties of beam search; with 0 all toolkits rank alike")  # fmt: skip
    parser.add_argument("--against", type=Path, metavar="CHECKOUT",
                        help="compare with this checkout or wheel of Headway, not with other toolkits")  # fmt: skip
    args = parser.parse_args(words)
    if args.against is not None:
        args.against = args.against.resolve()
        if args.against.suffix == ".whl":
            if not zipfile.is_zipfile(args.against):
                raise SystemExit(f"{args.against}: no wheel")
        elif missing := [x for x in SCRIPTS if not (args.against / "benchmarks" / x).exists()]:
            raise SystemExit(
                f"{args.against}: no checkout of Headway, benchmarks/{missing[0]} is missing"
            )
    if args.model is not None and not (args.model / "model.safetensors").exists():
        raise SystemExit(f"{args.model}: holds no model.safetensors; give a run or model directory")
    return args


if __name__ == "__main__":
    main()
