"""A builder of ONNX graphs.

Each method takes names of tensors, adds operators, and returns the name of the result, so that a graph
reads like the forward of a model. `headway.exchange.onnx.exporter` says why the graphs are not made by
torch's exporter.

Shapes: B batch, T positions, D d_model.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from headway.errors import HeadwayError
from headway.model.embeddings import Embedding
from headway.model.positions import Positions, sinusoids

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, ValueInfoProto

OPSET, IR_VERSION = 17, 8
FLOAT, UINT8, BOOL = 1, 2, 9  # ONNX's numbers of the types
MAX_BYTES = (1 << 31) - (1 << 20)  # of a protobuf message
MIN_MAGNITUDE = 1e-12  # rounding divides by the largest of a row, which may be zero
ZERO_POINT = 128  # the unsigned byte that stands for zero


class Graph:
    """A graph under construction.

    Args:
        is_rounded: Whether matrices are stored in 8 bits, with a scale for each output.
    """

    def __init__(self, *, is_rounded: bool) -> None:
        self.is_rounded = is_rounded
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []

    def op(self, kind: str, *inputs: str, **attributes: int | float | list[int]) -> str:
        """Add an operator with one output, and return its name."""
        from onnx import helper

        output = f"{kind}.{len(self.nodes)}"
        node = helper.make_node(kind, list(inputs), [output], **attributes)  # type: ignore[arg-type]
        self.nodes.append(node)
        return output

    def constant(self, value: Tensor | npt.NDArray[np.generic] | np.generic, name: str = "") -> str:
        """Store a tensor once for each name; a tensor without a name is named after its value."""
        from onnx import numpy_helper

        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        name = name or f"{array.dtype}{array.tolist()}"
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def integers(self, *values: int) -> str:
        """Store a list of integers, such as axes."""
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        """Store a single number."""
        return self.constant(np.float32(value))

    def add_input(self, name: str, dtype: type, *shape: str | int) -> str:
        """Declare an input; a size given by a word is dynamic."""
        self.inputs.append(_declare(name, dtype, shape))
        return name

    def add_output(self, name: str, value: str, *shape: str | int) -> None:
        """Declare the tensor ``value`` as an output called ``name``."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(_declare(name, np.float32, shape))

    def serialize(self) -> bytes:
        """Check the graph and return it as the bytes of a file.

        Raises:
            HeadwayError: If the graph is larger than a file of this format can be.
        """
        from onnx import checker, helper

        if sum(len(tensor.raw_data) for tensor in self.constants.values()) > MAX_BYTES:
            raise HeadwayError("onnx: the model is larger than 2 GB, which a file cannot hold")
        weights = list(self.constants.values())
        model = helper.make_model(
            helper.make_graph(self.nodes, "headway", self.inputs, self.outputs, weights),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="headway",
        )
        checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())

    def linear(self, x: str, weight: Tensor, bias: Tensor | None, name: str) -> str:
        """Multiply by a matrix [outputs, inputs] and add a bias."""
        if self.is_rounded:
            y = self._rounded_product(x, weight, name)
        else:
            y = self.op("MatMul", x, self.constant(weight.T, f"{name}.weight"))
        return y if bias is None else self.op("Add", y, self.constant(bias, f"{name}.bias"))

    def _rounded_product(self, x: str, weight: Tensor, name: str) -> str:
        """Multiply 8-bit integers; each row of inputs and each output has a scale of its own.

        Both factors are unsigned, because signed products overflow on older processors.
        """
        scale = weight.abs().amax(1).clamp(min=MIN_MAGNITUDE) / 127
        rounded = (weight / scale[:, None]).round().T.numpy() + ZERO_POINT
        largest = self.op("ReduceMax", self.op("Abs", x), axes=[-1], keepdims=1)
        step = self.op("Div", self.op("Max", largest, self.number(MIN_MAGNITUDE)), self.number(127))
        rows = self.op("Add", self.op("Round", self.op("Div", x, step)), self.number(ZERO_POINT))
        rows = self.op("Cast", rows, to=UINT8)
        stored = self.constant(rounded.astype(np.uint8), f"{name}.weight.rounded")
        zero = self.constant(np.uint8(ZERO_POINT))
        sums = self.op("Cast", self.op("MatMulInteger", rows, stored, zero, zero), to=FLOAT)
        # Two multiplications: onnxruntime fuses a product of both scales as if they were one number.
        y = self.op("Mul", sums, step)
        return self.op("Mul", y, self.constant(scale, f"{name}.weight.scale"))

    def layer_norm(self, x: str, norm: nn.LayerNorm, name: str) -> str:
        """Normalize the last axis."""
        gain = self.constant(norm.weight, f"{name}.weight")
        bias = self.constant(norm.bias, f"{name}.bias")
        return self.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=norm.eps)

    def embed(self, ids: str, table: Tensor, embedding: Embedding, name: str) -> str:
        """Look up ids [B, T] in a table: [B, T, D]."""
        x = self.op("Gather", self.constant(table, name), ids)
        if embedding.scale != 1:
            x = self.op("Mul", x, self.number(embedding.scale))
        if embedding.expand is not None:
            x = self.linear(x, embedding.expand.weight, None, f"{name}.expand")
        return x

    def add_positions(self, x: str, positions: Positions, first: str, rows: int, name: str) -> str:
        """Add the positions from ``first`` on to [B, T, D].

        Args:
            x: The embeddings.
            positions: Of the model.
            first: The position of the first token, [1].
            rows: The number of positions of a sinusoidal table.
            name: The name of the stored table.
        """
        if positions.kind == "none":
            return x
        width = positions.table.size(1)
        table = positions.table if positions.kind == "learned" else sinusoids(rows, width)
        end = self.op("Add", first, self.op("Shape", x, start=1, end=2))
        axis = self.integers(0)
        return self.op("Add", x, self.op("Slice", self.constant(table, name), first, end, axis))


def _declare(name: str, dtype: type, shape: tuple[str | int, ...]) -> "ValueInfoProto":
    from onnx import helper

    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), list(shape)
    )
