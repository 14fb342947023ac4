"""Which source words each target word attends to (paper: section 3.2.3, encoder-decoder attention)."""

from collections.abc import Sequence

import torch

from headway.model import Transformer, watch


@torch.inference_mode()
def word_alignment(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
) -> list[tuple[int, int]]:
    """Link each target word to the source word it attends to most, by one forced forward pass.

    The weights are those of the last decoder layer but one, the mean of its heads: the layer that
    aligns best in models of the paper's depth (Garg et al., 2019).

    Args:
        model: In evaluation mode.
        source: Ids, ``</s>`` last.
        target: Ids, ``</s>`` last.
        source_pieces: The subwords of ``source``; a new word starts with U+2581.
        target_pieces: Those of ``target``.

    Returns:
        Pairs (source word, target word), counted from 0, in the order of the target.
    """
    device = next(model.parameters()).device
    with watch(model) as seen:
        model(torch.tensor([source], device=device), torch.tensor([target], device=device))
    layer = max(0, model.config.num_decoder_layers - 2)
    weights_TS = seen.attention[f"decoder.layers.{layer}.cross"][0].mean(0)
    source_word, target_word = _words(source_pieces), _words(target_pieces)
    count_S, count_T = max(source_word, default=-1) + 1, max(target_word, default=-1) + 1
    total = torch.zeros(count_T, count_S)
    for t, tw in enumerate(target_word):
        for s, sw in enumerate(source_word):
            if tw >= 0 and sw >= 0:
                total[tw, sw] += weights_TS[t, s].item()
    return [(int(total[t].argmax()), t) for t in range(count_T)] if count_S else []


def _words(pieces: Sequence[str]) -> list[int]:
    """Number the word each piece belongs to; -1 for control symbols and bare spaces."""
    words, word = [], -1
    starting = True
    for piece in pieces:
        if piece in ("</s>", "<pad>", "<unk>"):
            words.append(-1)
            continue
        starting = starting or piece.startswith("\u2581")
        text = piece.replace("\u2581", "")
        if starting and text:
            word += 1
            starting = False
        words.append(word if text else -1)
    return words
