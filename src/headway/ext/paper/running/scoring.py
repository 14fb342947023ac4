"""How a translator is scored on pairs it never saw, as in Table 3."""

from collections.abc import Sequence

import torch

from headway.config import SearchConfig
from headway.evaluation import pick_metrics
from headway.model import Transformer
from headway.text import Tokenizer
from headway.training import perplexity_of
from headway.translation import Translator, batch_by_length, pad_right

Pairs = tuple[tuple[str, str], ...]
SEARCH = SearchConfig(beam=4, alpha=0.6)  # Table 3's
BATCH_TOKENS = 4000  # with padding


@torch.inference_mode()
def score_predictions(model: Transformer, tokenizer: Tokenizer, pairs: Pairs) -> dict[str, float]:
    """Score how well a model predicts the next target subword from the right ones before it.

    Returns:
        ``perplexity`` without label smoothing, ``accuracy`` (share of subwords for which the likeliest
        is the right one) and ``confidence`` (mean probability of the likeliest subword).
    """
    model.eval()
    device = next(model.parameters()).device
    sources = tokenizer.encode_source([source for source, _ in pairs])
    targets = tokenizer.encode_target([target for _, target in pairs])
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    nll, confidence, right, count = 0.0, 0.0, 0, 0
    for rows in batch_by_length(lengths, BATCH_TOKENS):
        source, segments = pad_right([sources[row] for row in rows], tokenizer.source_pad)
        target, target_segments = pad_right([targets[row] for row in rows], tokenizer.target_pad)
        source, segments, target, target_segments = (
            t.to(device) for t in (source, segments, target, target_segments)
        )
        log_p_BTV = model(source, target, segments, target_segments).float().log_softmax(-1)
        real = target_segments != 0
        nll -= log_p_BTV.gather(2, target[..., None])[..., 0][real].double().sum().item()
        confidence += log_p_BTV.amax(-1)[real].double().exp().sum().item()
        right += int((log_p_BTV.argmax(-1) == target)[real].sum())
        count += int(real.sum())
    return {
        "perplexity": perplexity_of(nll / count),
        "accuracy": right / count,
        "confidence": confidence / count,
    }


def score_translations(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Pairs,
    languages: tuple[str, str],
    search: SearchConfig = SEARCH,
) -> float:
    """Translate pairs and return sacreBLEU of raw text."""
    device = str(next(model.parameters()).device)
    translator = Translator(model, tokenizer, search, device, languages)
    return score_text(translator.translate([source for source, _ in pairs]), pairs, languages[1])


def score_text(
    translations: Sequence[str], pairs: Pairs, language: str, metric: str = "bleu"
) -> float:
    """Return a score of translations of pairs; see `pick_metrics`."""
    (wanted,) = pick_metrics([metric])
    return wanted.statistics(translations, [target for _, target in pairs], language).total()
