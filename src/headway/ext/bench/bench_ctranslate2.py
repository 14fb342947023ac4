"""Measure CTranslate2 with the same weights, sentences and lengths as Headway, on the same device."""

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from headway.config import Config, SearchConfig
from headway.errors import require_packages
from headway.ext.bench.bench_results import Cells, RepeatSummary
from headway.ext.bench.bench_translation import draw_batches, make_endless
from headway.ext.bench.timing import time_in_turns
from headway.ext.exchange import write_weights
from headway.model import Transformer
from headway.text import EOS
from headway.training import Machine
from headway.translation import make_engine, search_engine


def compare_with_ctranslate2(
    config: Config, machine: Machine, text: str, cells: Cells, repeats: int
) -> list[dict[str, Any]]:
    """Translate the same batches with both programs, in turns; all lengths of a batch are equal.

    Args:
        config: Settings of the model, the vocabulary size and the search.
        machine: Device and threads.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: Pairs of batch size and beam.
        repeats: How often the same translations are repeated.

    Returns:
        For each pair of batch size and beam the target tokens per second of both, and how many times as fast Headway is.

    Raises:
        HeadwayError: If CTranslate2 is not installed.
    """
    require_packages("ctranslate2")
    import ctranslate2

    device, shape = machine.torch_device, config.largest_model()
    precision = "float16" if device.type == "cuda" else "float32"
    model = make_endless(Transformer(shape)).eval()
    words = ["<unk>", "</s>", *(f"t{i}" for i in range(2, shape.target_vocab_size - 1)), "<pad>"]
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model"
        write_weights(model, path, (words, words), precision, adds_eos=False)
        theirs = ctranslate2.Translator(
            str(path), device=device.type, device_index=device.index or 0, compute_type=precision,
            intra_threads=machine.threads,
        )  # fmt: skip
    engine = make_engine(model.to(device), config.search.precision)

    def measure(batch: int, beam: int) -> dict[str, Any]:
        # Headway counts </s> as the last token of a limit; CTranslate2 does not.
        work = [
            (sources, max(limits))
            for sources, limits in draw_batches(text, batch, shape.target_vocab_size)
        ]
        tokens = sum(len(sources) * limit for sources, limit in work)

        @torch.inference_mode()
        def run_headway() -> None:
            for sources, limit in work:
                search_engine(
                    engine, sources, [limit] * len(sources),
                    SearchConfig(beam=beam, alpha=config.search.alpha), eos=EOS,
                    pad=shape.target_vocab_size - 1,
                )  # fmt: skip

        def run_ctranslate2() -> None:
            for sources, limit in work:
                theirs.translate_batch(
                    [[words[i] for i in source] for source in sources], beam_size=beam,
                    max_batch_size=0, min_decoding_length=limit - 1,
                    max_decoding_length=limit - 1, max_input_length=0,
                )  # fmt: skip

        # The first turns warm up and record.
        times = time_in_turns((run_headway, run_ctranslate2), device, repeats, warm_ups=2)
        ours, peers = (RepeatSummary.of([tokens / t for t in each]) for each in times)
        return {
            "precision": precision, "batch": batch, "beam": beam, "headway": asdict(ours),
            "ctranslate2": asdict(peers), "ratio": ours.median / peers.median,
        }  # fmt: skip

    return [measure(batch, beam) for batch, beam in cells]
