"""The published scores that each metric may be compared with, and on which text."""

from typing import NamedTuple

from headway.evaluation.metrics import find_missing_package
from headway.text.languages import base_code


class Published(NamedTuple):
    """Scores from papers, and the text that they were measured on.

    Attributes:
        figures: The scores and their sources.
        text: The test set.
        language: Code of its target language.
        lines: Its number of lines.
    """

    figures: str
    text: str
    language: str
    lines: int


# What may be compared on any text.
_RULES = {
    "bleu": "sacreBLEU figures with the same signature",
    "bleu_lc": "sacreBLEU figures marked case:lc or '-lc'",
    "chrf": "chrF2 with the same signature, never chrF++ (nw:2)",
    "ter": "TER with the same signature (it ignores case)",
    "bleu_moses": "cased BLEU of Moses-tokenized text, hyphens unsplit",
    "bleu_moses_split": "cased BLEU of Moses-tokenized text, hyphens split",
    "bleu_paper": "BLEU computed as by the authors' English-German script (get_ende_bleu.sh): Unicode punctuation replaced, hyphens split",
    "bleu_lc_norm_tok": "BLEU of Multi30k's own lc.norm.tok text, never IWSLT14's",
}

# Ott et al. is "Scaling Neural Machine Translation" (2018), Wu et al. "Good for Misconceived
# Reasons" (2021); the paper's own scores are from its Tables 2 and 3. It names no script; that of its authors is
# known for Table 2, and is assumed for Table 3.
_PUBLISHED = {
    "bleu": (Published("28.6 (Ott et al. 2018)", "newstest2014 en-de", "de", 3003),),
    "bleu_moses": (
        Published("26.65 (fairseq base, unaveraged)", "newstest2014 en-de", "de", 3003),
        Published("23.5 (JoeyNMT)", "Autshumato en-af", "af", 8208),
        Published("27.7 (JoeyNMT)", "Autshumato af-en", "en", 8208),
    ),
    "bleu_moses_split": (Published("29.3 (Ott et al. 2018)", "newstest2014 en-de", "de", 3003),),
    # No source says which script made the paper's scores of English-French.
    "bleu_paper": (
        Published("27.3 base, 28.4 big (the paper)", "newstest2014 en-de", "de", 3003),
        Published("25.8 base, 26.4 big (Table 3, unaveraged)", "newstest2013 en-de", "de", 3000),
    ),
    "bleu_lc_norm_tok": (
        Published("41.02 (Wu et al. 2021)", "Multi30k en-de test_2016_flickr", "de", 1000),
    ),
}


def comparable_scores(key: str, language: str, lines: int) -> str:
    """Return the published scores that a score may be compared with, in words.

    The text is identified only by its length and language, so the sentence says "if this is ...".

    Args:
        key: The metric.
        language: Code of the scored text.
        lines: Its number of lines.

    Returns:
        One sentence without a final stop: what may be compared on any text, then the published
        scores on this text. If there are none, it warns of one in the same language. If a package is
        missing with which sacreBLEU makes the published scores of the language, the sentence names it.
    """
    known = [p for p in _PUBLISHED.get(key, ()) if p.language == base_code(language)]
    fitting = [p for p in known if p.lines == lines]
    notes = [f"{p.figures}, if this is {p.text}" for p in fitting] or [
        f"not {p.figures}, which is for {p.text}, {p.lines:,} lines" for p in known[:1]
    ]
    if key in ("bleu", "bleu_lc") and (package := find_missing_package(language)):
        notes.append(f'published ones are by words, which need pip install "{package}"')
    return "; ".join([_RULES[key], *notes])
