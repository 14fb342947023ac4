"""Translate with CTranslate2, with the same weights, converted by ``convert.py``."""

from pathlib import Path
from typing import Any

import ctranslate2
from convert import convert, read_pieces
from worker import Cell, Ids, serve, translation


def start(task: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
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
    pieces = read_pieces(Path(task["pieces"]))
    numbers = {piece: number for number, piece in enumerate(pieces)}

    def ready(sources: list[Ids]) -> list[list[str]]:
        return [[pieces[i] for i in ids] for ids in sources]

    def translate(sources: list[list[str]], cell: Cell, limit: int) -> list[Any]:
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

    def finish(found: list[Any]) -> list[Ids]:
        return [[numbers[piece] for piece in result.hypotheses[0]] for result in found]

    facts = {"ctranslate2": ctranslate2.__version__}
    return translation(task, ready, translate, finish), facts


if __name__ == "__main__":
    serve(start)
