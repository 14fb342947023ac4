"""Small training runs: a corpus of digits, settings of a tiny model, and the command that trains it."""

import copy
import hashlib
import json
import random

import torch

from headway.cli.arguments import parse
from headway.cli.downloads import parse_text
from headway.cli.verbs import train as verb
from headway.training.starting.opening import open_run
from headway.training.starting.plan import make_plan
from headway.training.starting.request import RunRequest
from headway.training.storage.run_directory import RunDirectory

WORDS = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
WEIGHTS = ("model.safetensors", "best/model.safetensors", "averaged/model.safetensors")
SETTINGS = {
    "text.vocab-size": 331, "model.num-encoder-layers": 1, "model.num-decoder-layers": 1,
    "model.d-model": 22, "model.d-ff": 17, "model.num-heads": 2, "training.batch-tokens": 140,
    "training.micro-batch-tokens": 70, "training.max-steps": 17, "training.warmup-steps": 11,
    "training.validate-every": 5, "training.checkpoint-every": 3, "training.average": 2,
    "training.threads": 1,
}  # fmt: skip


def write_corpus(folder, train=400, valid=17, *, is_reversed=False):
    """Write digits and their German names as a small parallel corpus; return `train`'s arguments.

    Args:
        folder: Created if it does not exist.
        train: Number of training pairs.
        valid: Number of validation pairs.
        is_reversed: Write the same lines in reversed order, for other data of the same size.
    """
    folder.mkdir(exist_ok=True)
    source = random.Random(5)
    for name, count in (("train", train), ("valid", valid)):
        rows = [[source.randrange(10) for _ in range(source.randint(1, 9))] for _ in range(count)]
        for language, word in (("en", str), ("de", WORDS.__getitem__)):
            lines = [" ".join(word(digit) for digit in row) for row in rows]
            lines = lines[::-1] if is_reversed else lines
            (folder / f"{name}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = {
        name: [str(folder / f"{name}.{code}") for code in ("en", "de")]
        for name in ("train", "valid")
    }
    return ["--train", *files["train"], "--valid", *files["valid"]]


def digest(tensors):
    """Return a hash of a checkpoint's tensors."""
    found = hashlib.sha256()
    for file, group in sorted(tensors.items()):
        for name, tensor in sorted(group.items()):
            found.update(f"{file} {name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            found.update(tensor.numpy().tobytes())
    return found.hexdigest()


def words(settings):
    """Return settings as a command line has them."""
    return [word for name, value in settings.items() for word in (f"--{name}", str(value))]


def command(path, corpus, **changes):
    """Return the command line that trains on a corpus, with changes of `SETTINGS`."""
    settings: dict[str, object] = SETTINGS | {
        name.replace("__", "."): value for name, value in changes.items()
    }
    return ["train", str(path), *corpus, "--quiet", *words(settings)]


def opened(path, arguments):
    """The run that the command line starts or resumes, in this process."""
    return opening(path, arguments)[0]


def opening(path, arguments):
    """The run that the command line starts or resumes, with the notices to the user."""
    args = parse("train", verb, arguments[1:])
    directory = RunDirectory(path)
    directory.lock()
    request = RunRequest(
        train=parse_text(args.train, "--train"),
        valid=parse_text(args.valid, "--valid"),
        data=args.data,
        init=args.init,
        vocabulary=args.vocabulary or (),
        other_languages=args.other_languages,
        preset=args.preset,
        changes=args.changes,
    )
    run, notices = open_run(make_plan(directory, request))
    assert run is not None, "the run is finished, and no more steps were asked for"
    return run, notices


def finished(generator):
    """Return the result of a generator, and what it yielded."""
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return end.value, yielded


def perfect_translator(data):
    """Return what takes the place of `Translator` in a validation: a class that knows the references of each pair of languages."""
    answers, start = {}, 0
    for group in data.groups:
        rows = slice(start, start + group.validation_pairs)
        both = zip(data.valid_source[rows], data.valid_target[rows], strict=True)
        answers[group.languages], start = dict(both), rows.stop

    class Perfect:
        def __init__(self, model, tokenizer, search, device, languages, pairs):
            assert pairs == data.pairs
            self.default_search, self.token_search = search, self
            self.known = answers[languages]

        def to(self, target, source):
            chosen = copy.copy(self)
            chosen.known = answers[source, target]
            return chosen

        def batch_limits(self, search, tokens):
            return tokens, 0

        def translate(self, texts):
            torch.rand(3)  # validation leaves the random generator unchanged
            return [self.known.get(text, "?") for text in texts]

    return Perfect


def count_steps(path):
    """Return the number of steps in a run's log."""
    log = path / "metrics.jsonl"
    return log.read_bytes().count(b'"event": "step"') if log.exists() else 0


def metrics(path):
    """The lines of a run's metrics.jsonl."""
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def assert_equal_runs(path, other):
    """Check that two runs have the same metrics, checkpoints and models, bit by bit."""
    assert (path / "metrics.jsonl").read_bytes() == (other / "metrics.jsonl").read_bytes()
    steps = RunDirectory(path).steps()
    assert steps == RunDirectory(other).steps()
    checkpoints = [f"checkpoints/step-{step:08d}" for step in steps]
    names = [f"{checkpoint}/model.safetensors" for checkpoint in checkpoints]
    names += [f"{checkpoint}/optimizer.safetensors" for checkpoint in checkpoints[-2:]]
    for name in (*WEIGHTS, *names):
        assert (path / name).read_bytes() == (other / name).read_bytes(), name
