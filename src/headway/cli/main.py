"""The command ``headway``: finds the verb, runs it, and turns mistakes into one line each.

Nothing heavy is imported before a verb runs, so that help answers at once. Exit codes: 0, 1 for a
mistake in what was given, 2 for one on the command line, 130 interrupted, 143 terminated.
"""

import argparse
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from headway import __version__
from headway.cli.naming import local_models
from headway.errors import HeadwayError, memory_ran_out, nearest, nearest_of

if TYPE_CHECKING:
    import torch

    from headway.config import Config, SearchConfig
    from headway.inference import Translator

VERBS = {
    "demo": "train, score and show a model on the built-in corpus, in minutes",
    "prepare": "raw parallel text to clean, split, memory-mapped training data",
    "train": "raw parallel text to a model; on an existing run: go on with it",
    "translate": "translate standard input, line by line",
    "serve": "answer translation requests over HTTP, with LibreTranslate's interface",
    "evaluate": "translate a test set and score it, or score given translations",
    "score": "score a translation file against its reference",
    "compare": "compare two systems, with significance",
    "export": "write a model in another program's format, compared with the original",
    "import": "turn a model of another program into a Headway model directory",
    "treebank": "bracketed trees to training data for a parser",
    "parse": "the constituents of English sentences, as bracketed trees",
    "classify": "a classifier of texts: train it, let it label",
    "encode": "sentences to vectors, by a model's encoder",
    "lm": "a language model: train it, measure it, let it write",
    "average": "average checkpoints of a run into a model",
    "picture": "draw what a sentence attends to, as a picture or a page",
    "heads": "what each attention head does, and what BLEU is lost without it",
    "plot": "draw the curves of training runs, in a file or in the terminal",
    "reproduce": "the paper's tables, figures and arguments, measured here",
    "info": "what a run or model directory holds",
    "check": "check a model's masks, caches and searches, in seconds",
    "bench": "how fast this machine trains and translates a preset's shape",
    "config": "print all settings, with their meaning, as TOML",
}
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``headway`` with the process's arguments and exit."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # text is UTF-8 in any locale
    try:
        code = dispatch(arguments)
        sys.stdout.flush()
    except HeadwayError as error:
        for line in str(error).splitlines():
            print(f"headway: {line}", file=sys.stderr)
        code = 1
    except BrokenPipeError:
        # The reader of our output has left, as `head` does: not worth a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"headway: {where}{error.strerror or error}", file=sys.stderr)
        code = 1
    except (RuntimeError, MemoryError) as error:
        if not memory_ran_out(error):
            raise
        smaller = "--training.micro-batch-tokens, --search.batch-tokens"
        print(f"headway: memory ran out: smaller batches take less ({smaller})", file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def dispatch(arguments: Sequence[str]) -> int:
    """Run the verb that the arguments name; returns the exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print(f"headway {__version__}")
        return 0
    verb, *rest = arguments
    if verb not in VERBS:
        print(
            f"headway: {verb}: no such verb{nearest(verb, VERBS)}; see headway --help",
            file=sys.stderr,
        )
        return 2
    module = importlib.import_module(f"headway.cli.{verb}")
    args = parse(verb, module, rest)
    local_models(args)
    return module.run(args) or 0


def overview() -> str:
    """Return the help of the command itself."""
    width = max(map(len, VERBS)) + 2
    verbs = "\n".join(f"  {verb:<{width}}{summary}" for verb, summary in VERBS.items())
    return (
        "usage: headway VERB ...      headway VERB --help shows a verb's options\n\n"
        "The Transformer of 'Attention Is All You Need': raw parallel text in, a scored\n"
        f"translation model out.\n\n{verbs}\n\n"
        "example:\n"
        "  headway train runs/mine --train a.en a.de --valid v.en v.de --preset tiny\n"
        "  headway translate runs/mine < text.en > text.de"
    )


def parse(verb: str, module: ModuleType, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a verb's arguments; settings, ``--section.name value``, go to ``overrides``."""
    settings: tuple[str, ...] = getattr(module, "SETTINGS", ())
    rest, overrides = split_settings(arguments, settings)
    examples = "\n".join(f"  {line}" for line in module.EXAMPLE.splitlines())
    note = ""
    if settings:
        names = " ".join(f"--{section}.NAME" for section in settings)
        note = f"settings, each with a value (headway config prints all):\n  {names}\n"
    parser = Parser(
        prog=f"headway {verb}",
        description=VERBS[verb][0].upper() + VERBS[verb][1:] + ".",
        epilog=f"{note}example:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    parser.sections = settings
    namespace = parser.parse_args(rest)
    if settings:
        namespace.overrides = overrides
    return namespace


CHOICE = r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)"  # as argparse says it


class Parser(argparse.ArgumentParser):
    """An `argparse` parser whose complaints are one line and name the nearest option.

    Attributes:
        sections: Of settings that the verb takes beside its options.
    """

    sections: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit with 2."""
        if choice := re.fullmatch(CHOICE, message):
            option, word, known = choice.groups()
            names = re.findall(r"[\w-]+", known)
            option = f"{option} " if option.startswith("-") else ""
            message = f"{option}{word}: must be {' or '.join(names)}{nearest(word, names)}"
        unknown, _, words = message.partition("unrecognized arguments: ")
        if not unknown and words:
            word = words.split()[0].partition("=")[0]
            message = f"{word}: no such option{self._nearest(word)}"
            if not word.startswith("-"):
                message = f"{word}: one word too many (text comes in by standard input: < FILE)"
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)

    def _nearest(self, word: str) -> str:
        """Name the option that is meant, or the setting, which many write without its section."""
        from headway.config import setting_types

        # Dashes are no likeness.
        known = {option.lstrip("-"): option for option in self._option_string_actions}
        known |= {
            name.partition(".")[2].replace("_", "-"): "--" + name.replace("_", "-")
            for name in setting_types(self.sections)
        }
        near = nearest_of(word.lstrip("-").replace("_", "-"), known)
        return f" (did you mean {known[near]!r}?)" if near else ""


def split_settings(
    arguments: Sequence[str], sections: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Take ``--section.name value`` and ``--section.name=value`` out of the arguments."""
    rest: list[str] = []
    overrides: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not (word.startswith("--") and "." in name and sections):
            rest.append(word)
            continue
        section = name.partition(".")[0]
        if section not in sections:
            near = nearest_of(section, sections)
            meant = f" (did you mean '--{near}{name.removeprefix(section)}'?)" if near else ""
            known = ", ".join(f"--{s}.NAME" for s in sections)
            usage_error(f"--{name}: no such option{meant}; settings here: {known}")
        if not equals:
            value = next(words, "")
            if not value or value.startswith("--"):
                usage_error(f"--{name} needs a value")
        overrides[name] = value
    return rest, overrides


def usage_error(message: str) -> NoReturn:
    """Print the mistake, a line each if there are several, and exit with 2."""
    print("\n".join(f"headway: {line}" for line in message.splitlines()), file=sys.stderr)
    raise SystemExit(2)


def settings_from(
    args: argparse.Namespace, preset: str = "base", shape: "Config | None" = None
) -> "Config":
    """Resolve ``--preset``, ``--config`` and the settings on the line; mistakes exit with 2.

    Args:
        args: The parsed line.
        preset: Where it names none.
        shape: Has the sections text and model that the preset's give way to.
    """
    from headway import config

    try:
        files = [args.config] if args.config else []
        return config.load(args.preset or preset, files, args.overrides, shape=shape)
    except HeadwayError as error:
        usage_error(str(error))


def override_search(translator: "Translator", overrides: Mapping[str, str]) -> "SearchConfig":
    """Return the search settings of a model with those of the command line; mistakes exit with 2."""
    from headway.config import merge_overrides

    assert translator.config is not None, "the translator was read from a directory"
    try:
        return merge_overrides(translator.config, overrides).search
    except HeadwayError as error:
        usage_error(str(error))


def limit_threads(threads: int) -> None:
    """Let torch use so many processor threads; 0: its own number, within a container's share."""
    if threads < 0:
        usage_error(f"--threads {threads}: must be 1 or more, or 0 for all")
    import torch

    from headway.kernels.processor import processors

    if threads or processors() < torch.get_num_threads():
        torch.set_num_threads(threads or processors())


# What the libraries beneath torch read when they are loaded, for a process that trains.
TRAINING_ENVIRONMENT = {
    # Idle OpenMP threads spin for milliseconds before they sleep. Where others use the processor
    # too, they spin instead of the thread they wait for: a quarter of the speed. 20,000 turns cost
    # nothing on a quiet machine.
    "GOMP_SPINCOUNT": "20000",
    # Compiled products, half a megabyte each: batches of like lengths have a size of their own each,
    # and would fill a cache of 1,024 to no use.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "128",
}


def before_training() -> None:
    """Set `TRAINING_ENVIRONMENT`, before torch is loaded; what the user has set stays."""
    for name, value in TRAINING_ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def native_code(name: str, device: "torch.device") -> None:
    """Say on standard error if a processor's native code has to be compiled, or cannot be had."""
    from headway.kernels import build

    if device.type != "cpu":
        return
    if build.pending(name):
        print("compiling native code once for this machine: some ten seconds", file=sys.stderr)
    if reason := build.why_not(name):
        print(f"without native code, which is several times faster: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
