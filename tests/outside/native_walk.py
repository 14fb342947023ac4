"""Print a digest of what the native functions compute, to compare builds and processors.

    HEADWAY_NATIVE=avx2 python tests/outside/native_walk.py [--model MODEL]

With a model it also translates a few lines, in fp32 and int8. PyTorch's own functions take the ways of the oldest
processors, so that nothing but the native code can differ.
"""

import argparse
import hashlib
import os
import sys
from pathlib import Path

os.environ["ATEN_CPU_CAPABILITY"] = "default"
os.environ["MKL_ENABLE_INSTRUCTIONS"] = "SSE4_2"
sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from torch.autograd import grad

from headway import SearchConfig, Translator
from headway.ext.native.library import build_id, failure_reason
from headway.ext.native.native_engine import NativeEngine
from headway.ext.native.native_operations import NativeOperations
from headway.model.visibility import Segments, Visibility
from support.engines import SHAPES, library, model_of, search, sources, walk

LINES = ["A man is walking his dog.", "Two children play in the snow.", "Word"]


def digest(tensors):
    """Return a digest of the bytes of tensors."""
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]


def decode():
    """Yield logits and scores of models of every shape."""
    for shape in SHAPES.values():
        model = model_of(shape)
        for precision in ("fp32", "int8"):
            engine = NativeEngine(model, precision, library())
            yield from walk(engine, model)
            for found in search(engine, model, sources(5)):
                yield torch.tensor([hypothesis.score for hypothesis in found], dtype=torch.float64)


def train():
    """Yield results and gradients of the functions of a training step."""
    native = NativeOperations()
    for dtype in (torch.float32, torch.bfloat16):
        torch.manual_seed(1)
        x, y = torch.randn(2, 37, 83).to(dtype).requires_grad_()
        weight, bias = torch.randn(2, 83).requires_grad_()
        normal = native.add_norm(x, y, weight, bias, 1e-5, 0.3)
        yield from (normal, *grad(normal.float().square().sum(), [x, y, weight, bias]))
        labels = torch.randint(0, 83, (38,))
        for function, rows in ((native.cross_entropy_, [38]), (native.agreement_, [38, 2])):
            logits = torch.randn(*rows, 83).to(dtype)
            more = (5.0,) if len(rows) == 2 else ()
            yield from (*function(logits, labels, 0.1, *more), logits)
        q, k, v = (part.requires_grad_() for part in torch.randn(3, 2, 3, 41, 16).to(dtype))
        segments = Segments((torch.arange(41) < torch.tensor([[29], [41]])).long(), is_packed=False)
        mixed = native.attention(q, k, v, Visibility(None, segments, is_causal=True), 0.25)
        yield from (mixed, *grad(mixed.float().square().sum(), [q, k, v]))


def translate(model):
    """Return the translations of a few lines, with their scores."""
    translator = Translator.load(model)
    texts = [
        f"{text} {translator.score(line, text)!r}"
        for precision in ("fp32", "int8")
        for line in LINES
        for text in [translator.translate(line, SearchConfig(precision=precision))]
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Print digests of what the native functions compute."
    )
    parser.add_argument("--model", type=Path)
    args = parser.parse_args()
    if reason := failure_reason("decoding") or failure_reason("training"):
        raise SystemExit(reason)
    parts = {
        build_id("decoding").split()[0]: "", "decoding": digest(decode()), "training": digest(train()),
    }  # fmt: skip
    if args.model:
        parts["translation"] = translate(args.model)
    print(" ".join(f"{name} {value}".strip() for name, value in parts.items()))
