"""An ONNX graph under construction: operators and constants, and the maps that models are made of.

An operator takes the names of tensors and gives the name of another, so that a graph is written as the
functions of a model are.

Shapes: B batch, T positions, D d_model.
"""

from typing import Any

import numpy as np
from torch import Tensor, nn

from headway.errors import HeadwayError
from headway.model.embeddings import Embedding, Positions, sinusoids

OPSET, IR = 17, 8
LARGEST = (1 << 31) - (1 << 20)  # bytes of a protocol-buffers message
SMALLEST = 1e-12  # a row of zeros is divided by it
MIDDLE = 128  # what stands for zero among unsigned bytes


class Graph:
    """A graph under construction.

    Args:
        rounded: Whether matrices are stored in 8 bits, with a scale for each output.
    """

    def __init__(self, *, rounded: bool) -> None:
        self.rounded = rounded
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator; returns the name of its only output."""
        from onnx import helper

        output = f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, name: str = "") -> str:
        """Store a tensor, once for each name; numbers are named after themselves."""
        from onnx import numpy_helper

        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        name = name or f"{array.dtype}{array.tolist()}"
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def integers(self, *values: int) -> str:
        """Store a list of whole numbers, such as axes."""
        return self.constant(np.array(values, np.int64))

    def real(self, value: float) -> str:
        """Store a number."""
        return self.constant(np.float32(value))

    def input(self, name: str, kind: type, *shape: str | int) -> str:
        """Declare an input; a size that is a word is free."""
        self.inputs.append(_declared(name, kind, shape))
        return name

    def output(self, name: str, value: str, *shape: str | int) -> None:
        """Declare ``value`` an output under a name."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(_declared(name, np.float32, shape))

    def model(self) -> Any:
        """Return the finished, checked model.

        Raises:
            HeadwayError: If it is larger than a file of this format can be.
        """
        from onnx import checker, helper

        if sum(len(tensor.raw_data) for tensor in self.constants.values()) > LARGEST:
            raise HeadwayError("onnx: the model is larger than 2 GB, which a file cannot hold")
        weights = list(self.constants.values())
        graph = helper.make_graph(self.nodes, "headway", self.inputs, self.outputs, weights)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR,
            producer_name="headway",
        )
        checker.check_model(made, full_check=True)
        return made

    def linear(self, x: str, weight: Tensor, bias: Tensor | None, name: str) -> str:
        """Multiply by a matrix [outputs, inputs] and add a bias."""
        y = self._rounded(x, weight, name) if self.rounded else self._product(x, weight, name)
        return y if bias is None else self.op("Add", y, self.constant(bias, f"{name}.bias"))

    def _product(self, x: str, weight: Tensor, name: str) -> str:
        return self.op("MatMul", x, self.constant(weight.T, f"{name}.weight"))

    def _rounded(self, x: str, weight: Tensor, name: str) -> str:
        """Multiply whole numbers, each row of inputs rounded by its own largest.

        Both factors are unsigned: products with signed ones overflow on older processors.
        """
        scale = weight.abs().amax(1).clamp(min=SMALLEST) / 127
        whole = (weight / scale[:, None]).round().T.numpy() + MIDDLE
        largest = self.op("ReduceMax", self.op("Abs", x), axes=[-1], keepdims=1)
        step = self.op("Div", self.op("Max", largest, self.real(SMALLEST)), self.real(127))
        rows = self.op("Add", self.op("Round", self.op("Div", x, step)), self.real(MIDDLE))
        rows = self.op("Cast", rows, to=2)  # 2: unsigned bytes
        stored = self.constant(whole.astype(np.uint8), f"{name}.weight.rounded")
        middle = self.constant(np.uint8(MIDDLE))
        sums = self.op("Cast", self.op("MatMulInteger", rows, stored, middle, middle), to=1)
        # One after the other: onnxruntime takes a product of both scales for that of whole tensors.
        return self.op(
            "Mul", self.op("Mul", sums, step), self.constant(scale, f"{name}.weight.scale")
        )

    def norm(self, x: str, norm: nn.LayerNorm, name: str) -> str:
        """Normalise over the last axis."""
        gain, bias = (self.constant(getattr(norm, n), f"{name}.{n}") for n in ("weight", "bias"))
        return self.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=norm.eps)

    def embed(self, ids: str, table: Tensor, embedding: Embedding, name: str) -> str:
        """Look up [B, T] ids: [B, T, D]."""
        x = self.op("Gather", self.constant(table, name), ids)
        x = x if embedding.scale == 1 else self.op("Mul", x, self.real(embedding.scale))
        expand = embedding.expand
        return x if expand is None else self.linear(x, expand.weight, None, f"{name}.expand")

    def place(self, x: str, positions: Positions, first: str, length: int, name: str) -> str:
        """Add positions ``first``, ``first`` + 1, ... to [B, T, D]."""
        if positions.kind == "none":
            return x
        width = positions.table.size(1)
        table = positions.table if positions.kind == "learned" else sinusoids(length, width)
        count = self.op("Shape", x, start=1, end=2)
        places = self.op(
            "Slice",
            self.constant(table, name),
            first,
            self.op("Add", first, count),
            self.integers(0),
        )
        return self.op("Add", x, places)


def _declared(name: str, kind: type, shape: tuple[str | int, ...]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), list(shape)
    )
