"""The attention of one head, step by step, in the numbers of the model: from queries and keys to sums of values.

Shapes: T queries, S keys, H heads, K d_k, V d_v, D d_model. Paper: section 3.2.1, equation 1, and section 3.2.2.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.pictures.labels import NAMES, display_labels
from headway.ext.pictures.sentences import find_attention, read_sentence
from headway.model import DotProduct, Visibility, attention_mask, score_scale

if TYPE_CHECKING:
    from headway.translation import Translator

Numbers = NDArray[np.float64]
FIRST = 4  # components of a vector that are printed


@dataclass(frozen=True)
class Explanation:
    """The steps by which one head computes its output for each query, and how the heads become one output.

    Attributes:
        title: The kind of attention, the layer and the head.
        head: The head, from 0.
        queries: The labels of the queries, T, as pictures show them.
        keys: The labels of the keys, S, likewise.
        q: The queries, [T, K].
        k: The keys, [S, K].
        v: The values, [S, V].
        products: q · k of each query and key, [T, S].
        scale: The factor of the products: 1 / sqrt(d_k), or 1 in a model that does not scale.
        compatibilities: The scaled products, [T, S].
        visible: Whether a query may attend to a key, [T, S].
        weights: The softmax of the compatibilities over the visible keys, [T, S].
        output: The weighted sums of the values, [T, V].
        heads: The outputs of all heads as the model computes them, [T, H, V].
        mixed: The heads' outputs, concatenated and multiplied by W^O, [T, D].
    """

    title: str
    head: int
    queries: list[str]
    keys: list[str]
    q: Numbers
    k: Numbers
    v: Numbers
    products: Numbers
    scale: float
    compatibilities: Numbers
    visible: NDArray[np.bool_]
    weights: Numbers
    output: Numbers
    heads: Numbers
    mixed: Numbers

    def to_text(self, query: int) -> str:
        """Return a query, a table with a line for each key, and the output of the query."""
        wide = max(5, *map(cell_len, self.keys))
        by = f"q.k / sqrt({self.q.shape[1]})" if self.scale != 1 else "not scaled"
        lines = [
            self.title,
            f"q of {self.queries[query]}: {_vector(self.q[query])}",
            "",
            f"{'key':<{wide}}  {'k':<{_WIDE}}  {'q.k':>9}  {by:>15}  {'softmax':>8}  v",
        ]
        for j, key in enumerate(self.keys):
            weight = f"{self.weights[query, j]:8.4f}" if self.visible[query, j] else "  hidden"
            lines.append(
                f"{set_cell_size(key, wide)}  {_vector(self.k[j]):<{_WIDE}}  {self.products[query, j]:9.3f}"
                f"  {self.compatibilities[query, j]:15.3f}  {weight}  {_vector(self.v[j])}"
            )
        lines += ["", f"output, the sum of softmax times v: {_vector(self.output[query])}"]
        return "\n".join(line.rstrip() for line in lines)


_WIDE = FIRST * 7 + 5


def _vector(values: Numbers) -> str:
    rest = " ..." if len(values) > FIRST else ""
    return "(" + " ".join(f"{value:6.2f}" for value in values[:FIRST]) + rest + ")"


@torch.inference_mode()
def explain(
    translator: "Translator",
    source: str,
    target: str | None = None,
    *,
    kind: str = "encoder",
    layer: int = 0,
    head: int = 0,
) -> Explanation:
    """Compute one head: q · k, scaling, mask, softmax and the weighted sums of v.

    The queries, keys and values are those that the attention of the model received. The steps are
    repeated here one by one, in float64.

    Args:
        translator: The model and its tokenizer.
        source: A sentence.
        target: Its translation; None: the translator's.
        kind: encoder, decoder or cross.
        layer: The layer, from 0.
        head: The head, from 0.

    Raises:
        HeadwayError: If the model has no such attention, or no dot products in it.
    """
    sentence = read_sentence(translator, source, target)
    attention = find_attention(translator.model, kind, layer)
    if attention is None or not isinstance(attention.core, DotProduct):
        raise HeadwayError(f"this model has no dot products to explain in its {NAMES[kind]}")
    seen: list[tuple[tuple[Tensor, Tensor, Tensor, Visibility], Tensor]] = []
    hook = attention.core.register_forward_hook(
        lambda _core, inputs, output: seen.append((inputs, output))
    )
    try:
        batch = sentence.batch
        translator.model(batch.source, batch.target, batch.source_segments, batch.target_segments)
    finally:
        hook.remove()
    [(inputs, output_BHTV)] = seen
    allowed = attention_mask(inputs[0], inputs[1], inputs[3])
    q, k, v = (part[0, head].double() for part in inputs[:3])
    products = q @ k.T
    visible = torch.ones_like(products, dtype=torch.bool)
    if allowed is not None:
        visible = allowed.expand(1, 1, *visible.shape)[0, 0]
    weights = attention.core.weights(q, k, visible)
    scale = score_scale(attention.core, q.size(1))
    queries, keys = sentence.labels[kind]
    layers = len(getattr(translator.model, "encoder" if kind == "encoder" else "decoder").layers)
    return Explanation(
        title=f"{NAMES[kind]}, layer {layer + 1} of {layers}, head {head + 1}",
        head=head,
        queries=display_labels(queries),
        keys=display_labels(keys),
        q=_numbers(q),
        k=_numbers(k),
        v=_numbers(v),
        products=_numbers(products),
        scale=scale,
        compatibilities=_numbers(products * scale),
        visible=visible.cpu().numpy(),
        weights=_numbers(weights),
        output=_numbers(weights @ v),
        heads=_numbers(output_BHTV[0].transpose(0, 1)),
        mixed=_numbers(attention.join(output_BHTV)[0]),
    )


def _numbers(values: Tensor) -> Numbers:
    return values.double().cpu().numpy()
