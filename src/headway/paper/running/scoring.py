"""What a model is worth on pairs it never saw, as Table 3 measures it."""

import torch

from headway.config import SearchConfig
from headway.evaluation import pick_measures
from headway.inference import Translator
from headway.inference.batching import batch_by_length, pad_right
from headway.model import Transformer
from headway.paper.running.bitext import Pairs
from headway.text.tokenizer import Tokenizer
from headway.training.validation import perplexity_of

SEARCH = SearchConfig(beam=4, alpha=0.6)  # Table 3's
TOKENS = 4000  # of a batch, padding included


@torch.inference_mode()
def predict(model: Transformer, tokenizer: Tokenizer, pairs: Pairs) -> tuple[float, float, float]:
    """Return perplexity, accuracy and confidence of the next target subword on raw pairs."""
    model.eval()
    device = next(model.parameters()).device
    sources = tokenizer.encode_source([source for source, _ in pairs])
    targets = tokenizer.encode_target([target for _, target in pairs])
    nll, sure, right, count = 0.0, 0.0, 0, 0
    for rows in batch_by_length(
        [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)], 4000
    ):
        source, segments = pad_right([sources[row] for row in rows], tokenizer.source_pad)
        target, inside = pad_right([targets[row] for row in rows], tokenizer.target_pad)
        source, segments, target, inside = (
            t.to(device) for t in (source, segments, target, inside)
        )
        log_p_BTV = model(source, target, segments, inside).float().log_softmax(-1)
        real = inside != 0
        nll -= log_p_BTV.gather(2, target[..., None])[..., 0][real].double().sum().item()
        sure += log_p_BTV.amax(-1)[real].double().exp().sum().item()
        right += int((log_p_BTV.argmax(-1) == target)[real].sum())
        count += int(real.sum())
    return perplexity_of(nll / count), right / count, sure / count


def score(
    model: Transformer, tokenizer: Tokenizer, pairs: Pairs, languages: tuple[str, str]
) -> tuple[float, float]:
    """Return BLEU and chrF2 of raw text."""
    device = str(next(model.parameters()).device)
    translator = Translator(model, tokenizer, SEARCH, device, languages)
    translations = translator.translate([source for source, _ in pairs])
    references = [target for _, target in pairs]
    bleu, chrf = (
        measure.segments(translations, references, languages[1]).total()
        for measure in pick_measures(["bleu", "chrf"])
    )
    return bleu, chrf
