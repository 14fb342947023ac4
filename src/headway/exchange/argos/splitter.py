"""A sentence splitter for Argos Translate: rules as an ONNX graph.

Argos Translate splits text with MiniSBD, which downloads a model for the language unless the package
has one. The rules end a sentence after one of ``ENDS``, and a closing quotation mark or bracket, before
white space or the end of the text. They also split after "Mr.".

Shapes: B rows, T characters, F features; MiniSBD requires the features, and the rules ignore them.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.exchange.optional_package import import_package

if TYPE_CHECKING:
    from onnx import NodeProto

ENDS, CLOSINGS = ".!?…。！？", "\"'”’»)]"
# The id of a character is its index here; all others have that of <UNK>.
UNITS = ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", " ", *ENDS, *CLOSINGS]
OPSET, IR_VERSION = 17, 8


def write_splitter(path: Path, language: str) -> None:
    """Write the splitter of a language, about 2 kB.

    Raises:
        HeadwayError: If onnx is not installed.
    """
    onnx = import_package("onnx")
    helper = onnx.helper

    def node(operation: str, reads: str, writes: str, **how: int) -> "NodeProto":
        return helper.make_node(operation, reads.split(), [writes], **how)

    def indicator(characters: list[str]) -> NDArray[np.float32]:
        return np.array([unit in characters for unit in UNITS], dtype=np.float32)

    constants = {
        "ends": indicator(list(ENDS)),
        "closes": indicator(list(CLOSINGS)),
        "spaces": indicator(["<PAD>", " "]),
        "right": np.array([0, 0, 0, 1]),
        "left": np.array([0, 1, 0, 0]),
        "first": np.array([0]),
        "second": np.array([1]),
        "last": np.array([-1]),
        "far": np.array([1 << 40]),
        "axis": np.array([2]),
        **{f"x{number}": np.float32(number) for number in (0, 1, 2, 4)},
    }
    nodes = [
        node("Slice", "units second far second", "tail"),
        node("Pad", "tail right", "next"),
        node("Slice", "units first last second", "head"),
        node("Pad", "head left", "previous"),
        node("Gather", "spaces next", "before_space"),
        node("Gather", "ends units", "is_end"),
        node("Gather", "ends previous", "after_end"),
        node("Gather", "closes units", "is_closing"),
        node("Mul", "after_end is_closing", "closing"),
        node("Max", "is_end closing", "last_of_sentence"),
        node("Mul", "last_of_sentence before_space", "ending"),
        # MiniSBD has five classes: inside, end of a token, end of a sentence, and two more.
        node("Mul", "before_space x0", "none"),
        node("Add", "none x1", "inside"),
        node("Mul", "before_space x2", "token"),
        node("Mul", "ending x4", "sentence"),
        *(
            node("Unsqueeze", f"{name} axis", f"{name}_column")
            for name in ("none", "inside", "token", "sentence")
        ),
        node("ReduceSum", "features axis", "read", keepdims=1),
        node("Mul", "read x0", "nothing"),
        node("Add", "inside_column nothing", "inside_read"),
        node(
            "Concat",
            "inside_read token_column sentence_column none_column none_column",
            "logits",
            axis=2,
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "splitter",
        [
            helper.make_tensor_value_info("units", onnx.TensorProto.INT64, ["B", "T"]),
            helper.make_tensor_value_info("features", onnx.TensorProto.FLOAT, ["B", "T", "F"]),
        ],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["B", "T", 5])],
        [onnx.numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()],
    )
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    for name, value in _metadata(language).items():
        entry = model.metadata_props.add()
        entry.key, entry.value = name, value
    path.write_bytes(model.SerializeToString())


def _metadata(language: str) -> dict[str, str]:
    """Return the metadata that MiniSBD reads."""
    config = {
        "skip_newline": False,
        "max_seqlen": 1000,
        "no_ssplit": False,
        "batch_size": 16,
        "feat_funcs": ["space_before", "capitalized"],
        "use_dictionary": False,
        "num_dict_feat": 0,
    }
    vocabulary = {
        "lang": language,
        "idx": 0,
        "cutoff": 0,
        "lower": False,
        "_unit2id": {unit: i for i, unit in enumerate(UNITS)},
        "_id2unit": UNITS,
    }
    return {
        "lang_code": language,
        "lexicon": "null",
        "config": json.dumps(config),
        "vocab": json.dumps(vocabulary),
    }
