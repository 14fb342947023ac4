"""CTranslate2 model directories: a Headway model written as one, and run as one.

The paper's model is one that CTranslate2 can say exactly. Its position table is stored, for
CTranslate2's own is another, and the decoder starts from the zero vector, as ours does.
"""

import json
from pathlib import Path
from typing import Any

from headway.config import ModelConfig
from headway.exchange.creation import create_atomically
from headway.exchange.ctranslate2.binary import write_variables
from headway.exchange.ctranslate2.reader import BESIDE
from headway.exchange.ctranslate2.weights import LONGEST, rounded, weights
from headway.inference.directory import Model, write_config
from headway.text.tokenizer import Tokenizer

PRECISIONS = ("float32", "int8", "float16", "bfloat16")
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
    with create_atomically(out) as temporary:
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
