"""``headway translate --input FILE --output FILE``: a file or a part of it, with progress and resume."""

import argparse
import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from headway import __version__
from headway.cli.file_plan import FilePlan, plan_file
from headway.cli.glossary_notice import GlossaryNotice
from headway.cli.process import set_threads
from headway.cli.progress import LineProgress
from headway.cli.settings import load_translator
from headway.cli.translated_lines import format_lines

if TYPE_CHECKING:
    import torch

    from headway.config import SearchConfig
    from headway.translation import Translator
    from headway.translation.line_files.resumable_output import ResumableOutput


def translate_file(args: argparse.Namespace, threads: int) -> None:
    """Translate ``--input`` to ``--output``, and continue where a killed process stopped.

    The unit is a window of lines, which are translated together. The work of a worker, a part and a resume
    begin with a window, so the batches, and with them the bytes of the output, are those of one process
    that nothing interrupts.

    Args:
        args: The options of the command.
        threads: Threads of all processes together.
    """
    from headway.translation.line_files.output_parts import is_joined, join_parts, remove_parts
    from headway.translation.line_files.resumable_output import ResumableOutput

    set_threads(1)  # a forked worker cannot use the threads of OpenMP if this process has used them
    translator, search = load_translator(args)
    plan = plan_file(args, threads, translator.device)
    is_parallel = translator.prepare(search)  # before a fork, so that workers share the engines
    identity = _identity(translator, search, plan, args)
    if not is_parallel and translator.device.type == "cpu":
        identity["threads"] = str(
            plan.threads
        )  # they change the last bits of matrix products of torch
    with ResumableOutput(plan.out, identity, plan.part.suffix) as output:
        if plan.part.suffix and is_joined(plan.out, identity):
            remove_parts(plan.out, plan.part.count)
            print(f"{plan.out}: is finished already", file=sys.stderr)
            return
        if output.dropped:
            print(f"{output.name}: starts again from line 1 ({output.dropped})", file=sys.stderr)
        elif output.lines:
            print(f"{output.name}: goes on after line {output.lines:,}", file=sys.stderr)
        try:
            _translate_rest(plan, output, translator, search, args)
        except KeyboardInterrupt:
            at = f"stopped after line {output.lines:,}: the same command goes on there"
            print(f"{output.name}: {at}", file=sys.stderr)
            raise
        if not plan.part.suffix:
            output.finish()
            return
        output.finish_part()
    unfinished = join_parts(plan.out, identity, plan.part.count)
    _report_parts(plan, unfinished)


def _translate_rest(
    plan: FilePlan,
    output: "ResumableOutput",
    translator: "Translator",
    search: "SearchConfig",
    args: argparse.Namespace,
) -> None:
    """Translate those lines of the plan that the output lacks, window by window."""
    from headway.text.lines import read_lines
    from headway.translation.line_files.forked_workers import ForkedWorkers
    from headway.translation.line_files.windows_ahead import map_ahead
    from headway.translation.translator import WINDOW

    def translate(window: list[str]) -> str:
        set_threads(plan.threads)
        stream = translator.stream(
            window, search, prefix=args.prefix, align=args.alignment, quality=args.quality
        )
        pairs = zip(window, stream, strict=True)
        return "".join(
            format_lines(*pair, args, search.n_best, plan.text.line_end) for pair in pairs
        )

    mark = "" if plan.lines.start or args.json else plan.text.mark
    rest = plan.lines[output.lines :]
    notice = GlossaryNotice(args.glossary, translator.glossary)
    source = islice(read_lines(plan.text.path, rest.start), len(rest))
    windows = iter(lambda: list(islice(source, WINDOW)), [])
    with (
        ForkedWorkers(translate, plan.workers) if plan.workers > 1 else nullcontext() as pool,
        LineProgress(len(plan.lines), output.lines) as progress,
    ):
        at_once = windows_at_once(translator.device)
        found = pool.map(windows) if pool else map_ahead(translate, windows, at_once)
        for window, translated in found:
            notice.read(window)
            output.append(translated if output.lines else mark + translated, len(window))
            progress.update(output.lines, sum(len(line.split()) for line in window))
    is_all = len(rest) == plan.text.lines
    notice.print("the text" if is_all else f"lines {rest.start + 1:,} to {rest.stop:,} of the text")


def windows_at_once(device: "torch.device") -> int:
    """Return how many windows a process works on: it splits and joins one while a GPU searches."""
    return 2 if device.type == "cuda" else 1


def _report_parts(plan: FilePlan, unfinished: list[str]) -> None:
    part = plan.part
    if not unfinished:
        print(f"{plan.out}: all {part.count} parts are joined", file=sys.stderr)
        return
    named = ", ".join(unfinished[:9]) + (", ..." if len(unfinished) > 9 else "")
    print(
        f"{plan.out}: part {part.number} of {part.count} is finished; unfinished: {named}",
        file=sys.stderr,
    )


def _identity(
    translator: "Translator", search: "SearchConfig", plan: FilePlan, args: argparse.Namespace
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
        "input": plan.text.sha256,
        "settings": json.dumps(asdict(search) | form),
        "device": translator.device.type,
        "version of Headway": __version__,
        **({"extensions": extensions} if (extensions := name_extensions()) else {}),
    }
