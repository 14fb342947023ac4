"""The attention of one query in one head, step by step, in the numbers of the model.

Shapes: S keys, K d_k, V d_v. Paper: section 3.2.1, equation 1.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.pictures.labels import NAMES, display_labels
from headway.ext.pictures.sentences import read_sentence
from headway.model import DotProduct, Visibility, attention_mask, score_scale

if TYPE_CHECKING:
    from headway.translation import Translator

Numbers = NDArray[np.float64]
FIRST = 4  # components of a vector that are printed


@dataclass(frozen=True)
class Explanation:
    """The steps by which one head computes its output for one query.

    Attributes:
        title: The kind of attention, the layer and the head.
        query: The label of the query, as pictures show it.
        keys: The labels of the keys, S.
        q: The query, [K].
        k: The keys, [S, K].
        v: The values, [S, V].
        products: q · k for each key, [S].
        scale: The factor of the products: 1 / sqrt(d_k), or 1 in a model that does not scale.
        compatibilities: The scaled products, [S].
        visible: Whether the query may attend to each key, [S].
        weights: The softmax of the compatibilities over the visible keys, [S].
        output: The weighted sum of the values, [V], before W^O.
    """

    title: str
    query: str
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

    def to_text(self) -> str:
        """Return the query, a table with a line for each key, and the output."""
        label = display_labels(self.keys)
        wide = max(5, *map(len, label))
        by = f"q.k / sqrt({len(self.q)})" if self.scale != 1 else "not scaled"
        lines = [
            self.title,
            f"q of {self.query}: {_vector(self.q)}",
            "",
            f"{'key':<{wide}}  {'k':<{_WIDE}}  {'q.k':>9}  {by:>15}  {'softmax':>8}  v",
        ]
        for j, key in enumerate(label):
            weight = f"{self.weights[j]:8.4f}" if self.visible[j] else "  hidden"
            lines.append(
                f"{key:<{wide}}  {_vector(self.k[j]):<{_WIDE}}  {self.products[j]:9.3f}"
                f"  {self.compatibilities[j]:15.3f}  {weight}  {_vector(self.v[j])}"
            )
        lines += ["", f"output, the sum of softmax times v: {_vector(self.output)}"]
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
    query: int = 0,
) -> Explanation:
    """Compute one query of one head: q · k, scaling, mask, softmax and the weighted sum of v.

    The queries, keys and values are those that the attention of the model received. The steps are
    repeated here one by one, in float64.

    Args:
        translator: The model and its tokenizer.
        source: A sentence.
        target: Its translation; None: the translator's.
        kind: encoder, decoder or cross.
        layer: The layer, from 0.
        head: The head, from 0.
        query: The number of the query's token, from 0.

    Raises:
        HeadwayError: If the model has no such attention, or no dot products in it.
    """
    sentence = read_sentence(translator, source, target)
    core = find_core(translator, kind, layer)
    received: list[tuple[Tensor, Tensor, Tensor, Visibility]] = []
    hook = core.register_forward_hook(lambda _module, inputs, _output: received.append(inputs))
    try:
        batch = sentence.batch
        translator.model(batch.source, batch.target, batch.source_segments, batch.target_segments)
    finally:
        hook.remove()
    q_BHTK, k_BHSK, v_BHSV, visibility = received[0]
    q, k, v = _numbers(q_BHTK[0, head, query]), _numbers(k_BHSK[0, head]), _numbers(v_BHSV[0, head])
    allowed = attention_mask(q_BHTK, k_BHSK, visibility)
    visible = np.ones(len(k), bool)
    if allowed is not None:
        visible = allowed.expand(1, 1, q_BHTK.size(2), len(k))[0, 0, query].cpu().numpy()
    products = k @ q
    scale = score_scale(core, len(q))
    compatibilities = products * scale
    powers = np.where(visible, np.exp(compatibilities - compatibilities[visible].max()), 0.0)
    weights = powers / powers.sum()
    queries, keys = sentence.labels[kind]
    layers = len(getattr(translator.model, "encoder" if kind == "encoder" else "decoder").layers)
    return Explanation(
        title=f"{NAMES[kind]}, layer {layer + 1} of {layers}, head {head + 1}",
        query=display_labels(queries)[query],
        keys=keys,
        q=q,
        k=k,
        v=v,
        products=products,
        scale=scale,
        compatibilities=compatibilities,
        visible=visible,
        weights=weights,
        output=weights @ v,
    )


def find_core(translator: "Translator", kind: str, layer: int) -> DotProduct:
    """Return the module that multiplies queries and keys in one layer.

    Raises:
        HeadwayError: If the layer uses no dot products.
    """
    stack = translator.model.encoder if kind == "encoder" else translator.model.decoder
    module = stack.layers[layer]
    attention = module.cross if kind == "cross" else getattr(module.mixer, "attention", None)
    core = getattr(attention, "core", None)
    if not isinstance(core, DotProduct):
        raise HeadwayError(f"this model has no dot products to explain in its {NAMES[kind]}")
    return core


def _numbers(values: Tensor) -> Numbers:
    return values.double().cpu().numpy()
