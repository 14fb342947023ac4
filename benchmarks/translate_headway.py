"""Translate with Headway, from source ids to target ids."""

import torch
from worker import Cell, Facts, Ids, TranslationTask, Work, serve, translation_work

from headway.config import SearchConfig
from headway.text import EOS
from headway.translation import Hypothesis, Translator, make_engine, search_engine


def start(task: TranslationTask) -> tuple[Work, Facts]:
    """Load the model."""
    torch.set_num_threads(task["threads"])
    translator = Translator.load(task["model"], "cpu")
    engine = make_engine(translator.model, task["precision"])
    pad = translator.tokenizer.target_pad

    @torch.inference_mode()
    def translate(sources: list[Ids], cell: Cell, limit: int) -> list[list[Hypothesis]]:
        search = SearchConfig(beam=cell["beam"], alpha=cell["penalty"])
        return search_engine(engine, sources, [limit] * len(sources), search, eos=EOS, pad=pad)

    def finish(found: list[list[Hypothesis]]) -> list[Ids]:
        return [best.tokens[:-1] for [best] in found]

    facts: Facts = {"torch": torch.__version__, "engine": type(engine).__name__}
    return translation_work(task, lambda sources: sources, translate, finish), facts


if __name__ == "__main__":
    serve(start)
