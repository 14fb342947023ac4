"""Translate with CTranslate2, with the same weights, converted by ``convert.py``."""

from pathlib import Path

import ctranslate2
from convert import convert, read_subwords
from worker import Cell, Facts, Ids, TranslationTask, Work, serve, translation_work


def start(task: TranslationTask) -> tuple[Work, Facts]:
    """Convert and load the model."""
    model = Path(task["model"])
    directory = Path(task["converted"])
    if not (directory / "model.bin").exists():
        convert(model, Path(task["pieces"]), directory)
    translator = ctranslate2.Translator(
        str(directory),
        device="cpu",
        compute_type=task["precision"],
        inter_threads=1,
        intra_threads=task["threads"],
    )
    subwords = read_subwords(Path(task["pieces"]))
    numbers = {subword: number for number, subword in enumerate(subwords)}

    def ready(sources: list[Ids]) -> list[list[str]]:
        return [[subwords[i] for i in ids] for ids in sources]

    def translate(
        sources: list[list[str]], cell: Cell, limit: int
    ) -> list[ctranslate2.TranslationResult]:
        # Headway's limit includes </s>; CTranslate2's limit does not.
        longest = limit if task["forced"] else limit - 1
        return translator.translate_batch(
            sources,
            beam_size=cell["beam"],
            max_batch_size=0,  # one batch with all given sentences
            length_penalty=cell["penalty"],
            min_decoding_length=longest if task["forced"] else 1,
            max_decoding_length=longest,
            max_input_length=0,
        )

    def finish(found: list[ctranslate2.TranslationResult]) -> list[Ids]:
        return [[numbers[subword] for subword in result.hypotheses[0]] for result in found]

    facts: Facts = {"ctranslate2": ctranslate2.__version__}
    return translation_work(task, ready, translate, finish), facts


if __name__ == "__main__":
    serve(start)
