"""``headway translate --input FILE --output FILE``: a file of lines, with progress and resume."""

import argparse
import gzip
import json
import lzma
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from headway import __version__
from headway.cli.display import LineProgress
from headway.cli.process import set_threads
from headway.cli.settings import load_translator
from headway.cli.translated_lines import format_lines
from headway.errors import UsageError

if TYPE_CHECKING:
    import torch

    from headway.config import SearchConfig
    from headway.text.input_text import InputText
    from headway.text.work_directory import WorkDirectory
    from headway.translation import Translator

WINDOW = 1024  # lines
WINDOWS_AT_ONCE = {"cuda": 2}  # by device: while a GPU searches one, another is split or joined
LOADING = threading.Lock()
LOADED: "dict[str, tuple[Translator, SearchConfig]]" = {}  # of a worker of a cluster, by identity
STAGE = "lines"  # the one stage of the work, whose results are translated windows
TEXT = "text"  # the file of a result
Window = tuple[int, Sequence[str]]  # its number, from 0, and its lines
# Each window is a complete compressed stream. Programs that read .gz, .xz and .zst files read all streams of a
# file, one after the other, as one text.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def translate_file(args: argparse.Namespace, threads: int) -> None:
    """Translate ``--input`` to ``--output``, and continue where a killed process stopped.

    The unit is a window of lines, which are translated together. So the batches, and with them the bytes of the
    output, are the same for any number of workers, and after any number of interruptions.

    Args:
        args: The options of the command.
        threads: Threads of all processes together.

    Raises:
        UsageError: If there can be only one process.
        HeadwayError: If a line of the input cannot be read.
    """
    from headway.text.chunks import Stage, Workers, count_results, run_stage
    from headway.text.input_text import InputText
    from headway.text.work_directory import open_work

    set_threads(1)  # a forked worker cannot use the threads of OpenMP if this process has used them
    translator, search = load_translator(args)
    text, out = InputText.scan(Path(args.input)), Path(args.output)
    if args.cluster:
        processes, threads = 1, args.threads or 1
    else:
        processes = count_processes(args.workers, threads, translator.device)
        processes = min(processes, _count_windows(text))
        threads = max(1, threads // processes)
    workers = Workers(processes, WINDOWS_AT_ONCE.get(translator.device.type, 1), args.cluster or "")
    is_parallel = translator.prepare(search)  # before a fork, so that workers share the engines
    identity = _identity(translator, search, text, args)
    if not is_parallel and translator.device.type == "cpu":
        identity["threads"] = str(threads)  # they change the last bits of matrix products of torch
    args.device = translator.device.type  # other devices have other last bits
    # A forked process has the translator, and one on another machine loads it.
    load = (
        partial(load_remotely, args, json.dumps(identity))
        if args.cluster
        else lambda: (translator, search)
    )
    windows: Iterator[Sequence[str]] = _read_windows(text)
    if translator.glossary:
        windows = translator.glossary.watch(args.glossary, windows)
    translate = partial(_translate_window, load, args, threads, text)
    stage = Stage(STAGE, enumerate(windows), translate)
    with open_work(out.with_name(f".translating-{out.name}"), out, identity) as work:
        done = min(count_results(work.directory / STAGE) * WINDOW, text.lines)
        if work.dropped:
            print(f"{out}: starts again from line 1 ({work.dropped})", file=sys.stderr)
        elif done:
            print(f"{out}: goes on, {done:,} of {text.lines:,} lines are done", file=sys.stderr)
        try:
            with LineProgress(text.lines, done) as progress:
                for _, (_, window) in run_stage(stage, work.directory, workers):
                    done += len(window)
                    progress.update(done, sum(len(line.split()) for line in window))
        except (KeyboardInterrupt, SystemExit):
            left = f"stopped, {done:,} of {text.lines:,} lines are done: the same command goes on"
            print(f"{out}: {left}", file=sys.stderr)
            raise
        _join_windows(work, text, out)
        work.clear()


def load_remotely(args: argparse.Namespace, identity: str) -> "tuple[Translator, SearchConfig]":
    """Load the translator on a machine of a cluster, once for all its threads.

    Args:
        args: The options of the command.
        identity: What the bytes of its output depend on, as JSON: a model that has changed is loaded again.
    """
    with LOADING:
        if identity not in LOADED:
            LOADED.clear()
            set_threads(1)
            LOADED[identity] = load_translator(args)
        return LOADED[identity]


def _translate_window(
    load: "Callable[[], tuple[Translator, SearchConfig]]",
    args: argparse.Namespace,
    threads: int,
    text: "InputText",
    window: Window,
    directory: Path,
) -> None:
    """Write the translation of a window, as it stands in the output.

    Args:
        load: Returns the translator and how it searches.
        args: The options of the command.
        threads: Threads of this process.
        text: The input.
        window: Its number, from 0, and its lines.
        directory: An empty directory.
    """
    translator, search = load()
    number, lines = window
    set_threads(threads)
    stream = translator.stream(
        lines, search, prefix=args.prefix, align=args.alignment, quality=args.quality
    )
    pairs = zip(lines, stream, strict=True)
    translated = "".join(format_lines(*pair, args, search, text.line_end) for pair in pairs)
    mark = "" if number or args.json else text.mark
    (directory / TEXT).write_bytes(_compress(mark + translated, Path(args.output)))


def _read_windows(text: "InputText") -> Iterator[list[str]]:
    from headway.text.lines import read_lines

    lines = read_lines(text.path)
    for _ in range(_count_windows(text)):
        yield list(islice(lines, WINDOW))


def _join_windows(work: "WorkDirectory", text: "InputText", out: Path) -> None:
    from headway.files import write_atomically
    from headway.text.chunks import find_result

    with write_atomically(out) as temporary, temporary.open("wb") as whole:
        for number in range(_count_windows(text)):
            whole.write((find_result(work.directory / STAGE, number) / TEXT).read_bytes())


def _compress(text: str, path: Path) -> bytes:
    """Return the bytes of a text in the format that the name of its file asks for."""
    return COMPRESSORS.get(path.suffix, bytes)(text.encode())


def _count_windows(text: "InputText") -> int:
    """Return how many windows a text has, at least one: a compressed file has a header even if it holds no text."""
    return max(1, -(-text.lines // WINDOW))


def count_processes(given: int | None, threads: int, device: "torch.device") -> int:
    """Return how many processes translate.

    Args:
        given: ``--workers``; None: one for each thread.
        threads: Threads of all processes together.
        device: The device of the model.

    Raises:
        UsageError: If there can be only one process, and more are asked for.
    """
    from headway.text.chunks import CAN_FORK

    if CAN_FORK and device.type == "cpu":
        return given or threads
    if (given or 1) > 1:
        raise UsageError(
            f"--workers {given}: needs Linux and a processor: for several GPUs, split the file, and start one"
            " command for each part"
        )
    return 1


def _identity(
    translator: "Translator", search: "SearchConfig", text: "InputText", args: argparse.Namespace
) -> dict[str, str]:
    """Return everything that decides the bytes of the output, by the name that a message uses."""
    from headway.extension import list_sidecars, name_extensions
    from headway.files import hash_file
    from headway.translation.saving import hash_model

    directory = translator.directory or Path()
    learned = [file for n in list_sidecars("weights") if (file := directory / n).is_file()]
    form = {
        name: getattr(args, name) for name in ("scores", "quality", "alignment", "json", "prefix")
    }
    return {
        "model": " ".join(hash_model(Path(model)) for model in args.models),
        **({"backward model": hash_model(Path(args.backward))} if args.backward else {}),
        **({"languages": "-".join(translator.languages)} if args.to or translator.pairs else {}),
        **({"glossary": hash_file(Path(args.glossary))} if args.glossary else {}),
        **({"quality": " ".join(map(hash_file, learned))} if args.quality else {}),
        "input": text.sha256,
        "settings": json.dumps(asdict(search) | form),
        "device": translator.device.type,
        "version of Headway": __version__,
        **({"extensions": extensions} if (extensions := name_extensions()) else {}),
    }
