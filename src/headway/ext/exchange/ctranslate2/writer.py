"""Writing a CTranslate2 model directory.

CTranslate2 can express the paper's model exactly. Two things need care: the position table is
stored, because CTranslate2's own sinusoids are others, and the decoder starts from the row of ``<pad>``,
which is zero in the paper's model.
"""

from pathlib import Path

from headway.config import ModelConfig
from headway.ext.exchange.ctranslate2.runner import CTranslate2Runner as run
from headway.ext.exchange.ctranslate2.spec import write_weights
from headway.ext.exchange.ctranslate2.variables import MIN_POSITIONS
from headway.ext.exchange.expressing import find_other_attention, list_sentence_note
from headway.ext.exchange.imported_model import write_own_settings
from headway.text import Tokenizer, language_symbol
from headway.translation import Model

__all__ = ["PRECISIONS", "USAGE", "find_refusals", "note_model", "pack", "run", "write"]

pack = None
PRECISIONS = ("float32", "int8", "float16", "bfloat16")
USAGE = """```python
import ctranslate2, sentencepiece
source = sentencepiece.SentencePieceProcessor(model_file="DIR/tokenizer.model")  # or source.model
target = source                                                      # or DIR/target.model
translator = ctranslate2.Translator("DIR")
tokens = source.encode("...", out_type=str)  # CTranslate2 adds </s>
results = translator.translate_batch([tokens], beam_size=4, suppress_sequences=[["<pad>"]])
print(target.decode(results[0].hypotheses[0]))
```"""


def find_refusals(config: ModelConfig) -> list[str]:
    """Return the reasons why CTranslate2 cannot express a model exactly; none: it can."""
    reasons = find_other_attention(config)
    for name in ("num_encoder_layers", "num_decoder_layers"):
        if getattr(config, name) == 0:
            reasons.append(f"{name} = 0: it needs one layer at least")
    return reasons


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a model directory of CTranslate2; see `headway.ext.exchange.formats.ExportWriter`.

    Raises:
        HeadwayError: If CTranslate2 is not installed.
    """
    symbol = language_symbol(model.targets[0]) if len(model.targets) == 1 else ""
    entries = vocabularies(model.tokenizer)
    write_weights(
        model.transformer,
        out,
        entries,
        precision,
        symbol=symbol,
        adds_eos=model.tokenizer.ends_sources,
    )
    model.tokenizer.save(out)
    write_own_settings(model, out)
    return [*_note_search(model), *note_model(model, precision)]


def vocabularies(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Return the entries of source and target in the order of their ids, ``<pad>`` last."""
    source = tokenizer.source_subwords(range(tokenizer.source_vocab_size))
    target = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    for entries in (source, target):
        while entries[-1] in entries[:-1]:  # the corpus may have a subword of that name
            entries[-1] = f"<{entries[-1]}>"
    return source, target


def _note_search(model: Model) -> list[str]:
    """Return what to set in a program that calls CTranslate2."""
    alpha = model.config.search.alpha
    return [
        "length penalty: CTranslate2 divides by |Y|^length_penalty, the paper by"
        f" ((5 + |Y|) / 6)^{alpha:g}. For the paper's ranking set num_hypotheses = beam_size,"
        " length_penalty = 0 and return_scores, and rank by score / ((5 + |Y|) / 6)^alpha, where |Y|"
        " counts </s>",
        "set suppress_sequences = [['<pad>']]: Headway never generates <pad>",
        *list_sentence_note(model.config.search),
    ]


def note_model(model: Model, precision: str) -> list[str]:
    """Return what differs in CTranslate2, whatever calls it."""
    notes = [
        f"longest output: Headway allows source tokens + {model.config.search.max_extra}, CTranslate2"
        " max_decoding_length = 256",
    ]
    if len(model.targets) > 1:
        symbols = " ".join(map(language_symbol, model.targets))
        notes.append(
            f"target language: its symbol is the first token of a source, and no text ({symbols}):"
            f" tokens = ['{language_symbol(model.targets[0])}', *source.encode(...)]"
        )
    elif model.targets:
        notes.append(
            f"target language: CTranslate2 adds the symbol of {model.targets[0]} to sources"
        )
    positions = model.config.model.max_positions
    if model.config.model.positions != "learned":
        positions = max(MIN_POSITIONS, positions)
    notes.append(f"positions are stored up to {positions}; CTranslate2 rejects longer text")
    if precision == "int8":
        notes.append("weights are rounded to 8 bits a row; CTranslate2 rounds inputs likewise")
    elif precision != "float32":
        notes.append(
            f"weights are stored as {precision}; CTranslate2 computes in {precision} where it can"
        )
    return notes
