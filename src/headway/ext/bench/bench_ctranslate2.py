"""Measure CTranslate2 with the same weights, sentences and lengths as Headway, on the same device."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from headway.config import Config
from headway.ext.bench.bench import Spread
from headway.ext.bench.bench_translation import draw_batches, make_endless, translate_ids
from headway.ext.bench.matrix_rate import synchronize
from headway.ext.exchange import build_spec, import_package
from headway.model import Transformer
from headway.training import Machine
from headway.translation import make_engine


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The translation speed of two programs, from source tokens to target tokens.

    Attributes:
        preset: Name of the model.
        precision: Of CTranslate2: float16 on a GPU, else float32.
        batch: Sentences in a batch.
        beam: Hypotheses of each sentence.
        headway: Target tokens per second.
        ctranslate2: Target tokens per second.
    """

    preset: str
    precision: str
    batch: int
    beam: int
    headway: Spread
    ctranslate2: Spread

    @property
    def ratio(self) -> float:
        """How many times as fast Headway is."""
        return self.headway.median / self.ctranslate2.median


def compare_with_ctranslate2(
    preset: str,
    config: Config,
    machine: Machine,
    text: str,
    cells: Sequence[tuple[int, int]],
    repeats: int,
) -> list[Comparison]:
    """Translate the same batches with both programs, in turns; all lengths of a batch are equal.

    Args:
        preset: Name of the model.
        config: Settings of the model, the vocabulary size and the search.
        machine: Device and threads.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: Pairs of batch size and beam.
        repeats: How often the same translations are repeated.

    Raises:
        HeadwayError: If CTranslate2 is not installed.
    """
    program = import_package("ctranslate2")
    device, shape = machine.torch_device, config.largest_model()
    precision = "float16" if device.type == "cuda" else "float32"
    model = make_endless(Transformer(shape)).eval()
    words = ["<unk>", "</s>", *(f"t{i}" for i in range(2, shape.target_vocab_size - 1)), "<pad>"]
    with TemporaryDirectory() as directory:
        path = str(Path(directory) / "model")
        _export(model, words, path, precision, config.model.norm_epsilon)
        index = device.index or 0
        theirs = program.Translator(
            path, device=device.type, device_index=index, compute_type=precision,
            intra_threads=machine.threads,
        )  # fmt: skip
    engine = make_engine(model.to(device), config.search.precision)

    def measure(batch: int, beam: int) -> Comparison:
        # Headway counts </s> as the last token of a limit; CTranslate2 does not.
        work = [
            (sources, max(limits))
            for sources, limits in draw_batches(text, batch, shape.target_vocab_size)
        ]
        tokens = sum(len(sources) * limit for sources, limit in work)

        def run_headway() -> None:
            for sources, limit in work:
                translate_ids(
                    engine, sources, [limit] * len(sources), beam=beam, alpha=config.search.alpha,
                    pad=shape.target_vocab_size - 1,
                )  # fmt: skip

        def run_ctranslate2() -> None:
            for sources, limit in work:
                theirs.translate_batch(
                    [[words[i] for i in source] for source in sources], beam_size=beam,
                    max_batch_size=0, min_decoding_length=limit - 1,
                    max_decoding_length=limit - 1, max_input_length=0,
                )  # fmt: skip

        times: list[list[float]] = [[], []]
        for turn in range(repeats + 2):
            for program_times, run in zip(times, (run_headway, run_ctranslate2), strict=True):
                seconds = _time(run, device)
                if turn > 1:  # the first turns warm up and record
                    program_times.append(seconds)
        ours, peers = (Spread.of([tokens / t for t in each]) for each in times)
        return Comparison(
            preset=preset, precision=precision, batch=batch, beam=beam, headway=ours,
            ctranslate2=peers,
        )  # fmt: skip

    return [measure(batch, beam) for batch, beam in cells]


def _export(
    model: Transformer, words: list[str], path: str, precision: str, epsilon: float
) -> None:
    spec = build_spec(model)
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.unk_token, spec.config.eos_token = "<unk>", "</s>"
    spec.config.bos_token = spec.config.decoder_start_token = words[-1]
    spec.config.add_source_eos = False  # the sentences end with </s>
    spec.config.layer_norm_epsilon = epsilon
    spec.validate()
    spec.optimize(quantization=precision)
    Path(path).mkdir()
    spec.save(path)


def _time(run: Callable[[], None], device: torch.device) -> float:
    synchronize(device)
    start = time.perf_counter()
    run()
    synchronize(device)
    return time.perf_counter() - start
