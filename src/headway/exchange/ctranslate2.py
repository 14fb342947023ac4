"""CTranslate2 model directories: a Headway model written as one, and run as one.

The paper's model is one that CTranslate2 can say exactly. Its position table is stored, for
CTranslate2's own is another, and the decoder starts from the zero vector, as ours does.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.exchange.ctranslate2_binary import write_variables
from headway.exchange.ctranslate2_reader import BESIDE, read
from headway.exchange.ctranslate2_weights import LONGEST, rounded, weights
from headway.exchange.place import appearing
from headway.inference.directory import Model, write_config
from headway.text.tokenizer import Tokenizer

__all__ = ["HOW", "PRECISIONS", "Engine", "read", "refusals", "write"]

PRECISIONS = ("float32", "int8", "float16", "bfloat16")
BATCH_TOKENS = 2000
HOW = """```python
import ctranslate2, sentencepiece
source = sentencepiece.SentencePieceProcessor(model_file="DIR/tokenizer.model")  # or source.model
target = source                                                      # or DIR/target.model
translator = ctranslate2.Translator("DIR")
pieces = source.encode("...", out_type=str)  # </s> is added by CTranslate2
found = translator.translate_batch([pieces], beam_size=4, suppress_sequences=[["<pad>"]])
print(target.decode(found[0].hypotheses[0]))
```"""


def refusals(config: ModelConfig) -> list[str]:
    """Return why CTranslate2 cannot say such a model; nothing: it can, exactly."""
    found = []
    for name in ("encoder_mixer", "decoder_mixer"):
        if getattr(config, name) != "attention":
            found.append(f"{name} = '{getattr(config, name)}': it knows attention only")
    if config.compatibility != "dot":
        found.append(f"compatibility = '{config.compatibility}': it knows dot products only")
    if config.window:
        found.append(f"window = {config.window}: it has no restricted self-attention in encoders")
    for name in ("num_encoder_layers", "num_decoder_layers"):
        if getattr(config, name) == 0:
            found.append(f"{name} = 0: it needs one layer at least")
    return found


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a model directory of CTranslate2, as `formats.Format` says."""
    with appearing(out) as temporary:
        temporary.mkdir()
        variables = rounded(weights(model.transformer), precision)
        write_variables(temporary / "model.bin", variables)
        write_json(temporary / "config.json", _config(model))
        pieces = vocabularies(model.tokenizer)
        names = ("shared",) if pieces[0] == pieces[1] else ("source", "target")
        for name, entries in zip(names, pieces, strict=False):
            write_json(temporary / f"{name}_vocabulary.json", entries)
        model.tokenizer.save(temporary)
        write_config(temporary, model.config, model.languages, name=BESIDE)
    return _notes(model, precision)


def _notes(model: Model, precision: str) -> list[str]:
    alpha = model.config.search.alpha
    notes = [
        "length penalty: CTranslate2 divides by |Y|^length_penalty, the paper by"
        f" ((5 + |Y|) / 6)^{alpha:g}. For the paper's ranking ask for num_hypotheses = beam_size with"
        " length_penalty = 0 and return_scores, and rank by score / ((5 + |Y|) / 6)^alpha with </s>"
        " counted in |Y|",
        "set suppress_sequences = [['<pad>']]: Headway never puts <pad> out",
        f"longest output: Headway allows source tokens + {model.config.search.max_extra}, CTranslate2"
        " max_decoding_length = 256",
    ]
    if model.config.model.positions == "learned":
        notes.append(f"longer text than {model.config.model.max_positions} pieces is an error")
    else:
        rows = max(LONGEST, model.config.model.max_positions)
        notes.append(f"positions are stored up to {rows}; longer text is an error")
    if precision == "int8":
        notes.append("weights are rounded to 8 bits a row, and CTranslate2 rounds inputs alike")
    elif precision != "float32":
        notes.append(f"weights are stored as {precision}; CTranslate2 computes in it where it can")
    return notes


def _config(model: Model) -> dict[str, Any]:
    start = vocabularies(model.tokenizer)[-1][-1]
    return {
        "add_source_bos": False,
        "add_source_eos": True,
        "bos_token": start,
        "decoder_start_token": start,
        "eos_token": "</s>",
        "layer_norm_epsilon": model.config.model.norm_epsilon,
        "multi_query_attention": False,
        "unk_token": "<unk>",
    }


def vocabularies(tokenizer: Tokenizer) -> list[list[str]]:
    """Return the pieces of source and target in the order of their ids, ``<pad>`` last."""
    found = []
    for spell, size in (
        (tokenizer.source_pieces, tokenizer.source_vocab_size),
        (tokenizer.target_pieces, tokenizer.target_vocab_size),
    ):
        pieces = spell(range(size))
        while pieces[-1] in pieces[:-1]:  # a corpus may have had a piece of that name
            pieces[-1] = f"<{pieces[-1]}>"
        found.append(pieces)
    return found


def write_json(path: Path, value: object) -> None:
    """Write JSON, whole."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


class Engine:
    """An exported directory, run by CTranslate2.

    Args:
        path: What `write` wrote.
        threads: Of one batch; 0: CTranslate2's choice.

    Raises:
        HeadwayError: If CTranslate2 is not installed, or refuses the directory.
    """

    def __init__(self, path: Path, threads: int = 0) -> None:
        program = load_program()
        self.source, self.target = _read_vocabularies(path)
        self.ids = {piece: i for i, piece in enumerate(self.target)}
        try:
            self.translator = program.Translator(
                str(path), device="cpu", intra_threads=threads or torch.get_num_threads()
            )
        except (RuntimeError, ValueError) as error:
            raise HeadwayError(f"{path}: CTranslate2 says: {error}") from None

    def greedy(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids greedily; each translation ends in ``</s>``, at its limit if not before."""
        found = self.translator.translate_batch(
            self._pieces(sources),
            beam_size=1,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max(limits),
            suppress_sequences=[[self.target[-1]]],
        )
        return [
            [*(self.ids[piece] for piece in result.hypotheses[0][: limit - 1]), Tokenizer.eos]
            for result, limit in zip(found, limits, strict=True)
        ]

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        pieces = [[self.target[i] for i in target[:-1]] for target in targets]
        found = self.translator.score_batch(
            self._pieces(sources),
            pieces,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
        )
        return [list(result.log_probs) for result in found]

    def _pieces(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        return [[self.source[i] for i in source[:-1]] for source in sources]


def load_program() -> Any:
    """Import CTranslate2.

    Raises:
        HeadwayError: If it is not installed.
    """
    try:
        import ctranslate2
    except ImportError:
        raise HeadwayError('this needs CTranslate2: pip install "headway[export]"') from None
    return ctranslate2


def _read_vocabularies(path: Path) -> tuple[list[str], list[str]]:
    shared = path / "shared_vocabulary.json"
    names = (
        [shared]
        if shared.exists()
        else [path / f"{side}_vocabulary.json" for side in ("source", "target")]
    )
    found = [json.loads(name.read_text(encoding="utf-8")) for name in names]
    return found[0], found[-1]
