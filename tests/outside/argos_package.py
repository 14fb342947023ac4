"""A model directory as packages of Argos Translate, which LibreTranslate serves; for libretranslate.py.

    PYTHON tests/outside/argos_package.py MODEL FOLDER en-de de-en de-fr

PYTHON is LibreTranslate's own, with onnx added: it has ctranslate2 and neither torch nor headway. Every
pair gets the same weights: what a server says about directions does not depend on what they say.
The model must be one that the paper's CTranslate2 layout fits: post-norm, sinusoids, one vocabulary.
"""

import json
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import common_spec, transformer_spec
from onnx import TensorProto, helper, numpy_helper
from sentencepiece import SentencePieceProcessor

LONGEST = 1_100  # CTranslate2 wants a row for each position of an input, of which it takes 1,024
ENDS, CLOSE = ".!?…。！？", "\"'”’»)]"


def read_weights(file: Path) -> dict[str, np.ndarray]:
    """Read a safetensors file of float32."""
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    found = {}
    for name, about in header.items():
        if name != "__metadata__":
            start, end = (8 + size + offset for offset in about["data_offsets"])
            found[name] = np.frombuffer(data[start:end], np.float32).reshape(about["shape"]).copy()
    return found


def sinusoids(d_model: int) -> np.ndarray:
    """The paper's position table, sines and cosines alternating (section 3.5)."""
    angles = np.arange(LONGEST)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return (
        np.stack([np.sin(angles), np.cos(angles)], -1).reshape(LONGEST, d_model).astype("float32")
    )


def write_ctranslate2(model: Path, out: Path) -> None:
    """Write the model in the layout of CTranslate2."""
    settings = json.loads((model / "config.json").read_text(encoding="utf-8"))["settings"]["model"]
    weights = read_weights(model / "model.safetensors")
    layers = settings["num_encoder_layers"], settings["num_decoder_layers"]
    spec = transformer_spec.TransformerSpec.from_config(
        layers, settings["num_heads"], pre_norm=False, activation=common_spec.Activation.RELU
    )

    def linear(name: str) -> common_spec.LinearSpec:
        found = common_spec.LinearSpec()
        found.weight = weights[f"{name}.weight"]
        found.bias = weights.get(f"{name}.bias", np.zeros(len(found.weight), np.float32))
        return found

    def copy(target: common_spec.LinearSpec, source: common_spec.LinearSpec) -> None:
        target.weight, target.bias = source.weight, source.bias

    def norm(target: common_spec.LayerNormSpec, name: str) -> None:
        target.gamma, target.beta = weights[f"{name}.norm.weight"], weights[f"{name}.norm.bias"]

    def attention(target: object, name: str, own: bool) -> None:
        query, key, value = (linear(f"{name}.{part}") for part in ("query", "key", "value"))
        if own:
            fuse_linear(target.linear[0], [query, key, value])
        else:
            copy(target.linear[0], query)
            fuse_linear(target.linear[1], [key, value])
        copy(target.linear[-1], linear(f"{name}.output"))

    embedding = weights["source_embedding.weight"]
    for side, name in ((spec.encoder, "encoder"), (spec.decoder, "decoder")):
        table = side.embeddings[0] if name == "encoder" else side.embeddings
        table.weight, side.scale_embeddings = embedding, True
        side.position_encodings.encodings = sinusoids(settings["d_model"])
        for number, layer in enumerate(side.layer):
            here = f"{name}.layers.{number}"
            attention(layer.self_attention, f"{here}.mixer.attention", True)
            norm(layer.self_attention.layer_norm, f"{here}.residuals.0")
            if name == "decoder":
                attention(layer.attention, f"{here}.cross", False)
                norm(layer.attention.layer_norm, f"{here}.residuals.1")
            copy(layer.ffn.linear_0, linear(f"{here}.feed_forward.inner"))
            copy(layer.ffn.linear_1, linear(f"{here}.feed_forward.outer"))
            norm(layer.ffn.layer_norm, f"{here}.residuals.{1 if name == 'encoder' else 2}")
    spec.decoder.projection.weight = embedding
    spec.decoder.start_from_zero_embedding = True
    spec.config.layer_norm_epsilon = settings["norm_epsilon"]
    spec.config.add_source_eos = True
    pieces = SentencePieceProcessor(model_file=str(model / "tokenizer.model"))
    names = [pieces.id_to_piece(i) for i in range(pieces.vocab_size())] + ["<pad>"]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.validate()
    spec.optimize()
    out.mkdir()
    spec.save(str(out))


def write_splitter(file: Path, language: str) -> None:
    """Write a network without weights to learn that ends a sentence at its mark.

    Argos would load one from the network otherwise. It gives each character five scores: inside, the end
    of a token (a space comes next), the end of a sentence (also a mark, closed quotes or not), and two
    that are never the highest.
    """
    units = ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", " ", *dict.fromkeys(ENDS + CLOSE)]

    def marks(characters: str | list[str]) -> np.ndarray:
        return np.array([float(unit in characters) for unit in units], np.float32)

    constants = {
        "ends": marks(list(ENDS)), "close": marks(list(CLOSE)), "space": marks(["<PAD>", " "]),
        "after": np.array([0, 0, 0, 1]), "before": np.array([0, 1, 0, 0]), "from0": np.array([0]),
        "from1": np.array([1]), "last": np.array([-1]), "all": np.array([1 << 40]),
        "axis": np.array([2]), "zero": np.float32(0), "one": np.float32(1), "four": np.float32(4),
    }  # fmt: skip
    lines = """Slice units from1 all from1 > tail
        Pad tail after > next
        Slice units from0 last from1 > head
        Pad head before > previous
        Gather space next > space_next
        Gather ends units > end_here
        Gather ends previous > end_before
        Gather close units > close_here
        Mul end_before close_here > closed
        Max end_here closed > end
        Mul end space_next > sentence
        Mul sentence four > score2
        Identity space_next > score1
        Mul space_next zero > score3
        Add score3 one > score0
        Unsqueeze score0 axis > wide0
        Unsqueeze score1 axis > wide1
        Unsqueeze score2 axis > wide2
        Unsqueeze score3 axis > wide3
        ReduceSum features axis > sum
        Mul sum zero > nothing
        Add wide0 nothing > first"""
    nodes = []
    for line in lines.splitlines():
        (kind, *given), (made,) = (part.split() for part in line.split(">"))
        nodes.append(helper.make_node(kind, given, [made]))
    scores = ["first", "wide1", "wide2", "wide3", "wide3"]
    nodes.append(helper.make_node("Concat", scores, ["logits"], axis=2))
    graph = helper.make_graph(
        nodes,
        "splitter",
        [
            helper.make_tensor_value_info("units", TensorProto.INT64, ["B", "T"]),
            helper.make_tensor_value_info("features", TensorProto.FLOAT, ["B", "T", "F"]),
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", "T", 5])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(network)
    config = {
        "skip_newline": False, "max_seqlen": 1000, "no_ssplit": False, "batch_size": 16,
        "feat_funcs": ["space_before", "capitalized"], "use_dictionary": False, "num_dict_feat": 0,
    }  # fmt: skip
    ids = {unit: number for number, unit in enumerate(units)}
    vocabulary = {"lang": language, "idx": 0, "cutoff": 0, "lower": False}
    vocabulary |= {"_unit2id": ids, "_id2unit": units}
    about = {"lang_code": language, "lexicon": "null"}
    about |= {"config": json.dumps(config), "vocab": json.dumps(vocabulary)}
    for name, value in about.items():
        entry = network.metadata_props.add()
        entry.key, entry.value = name, value
    onnx.save(network, str(file))


def main() -> None:
    """Write a package for each pair."""
    model, folder = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        converted = Path(name) / "model"
        write_ctranslate2(model, converted)
        for pair in sys.argv[3:]:
            source, target = pair.split("-")
            top = f"translate-{source}_{target}-1_0"
            splitter = Path(name) / "splitter.onnx"
            write_splitter(splitter, source)
            about = {
                "package_version": "1.0", "argos_version": "1.9.6", "type": "translate", "links": [],
                "from_code": source, "from_name": source, "to_code": target, "to_name": target,
            }  # fmt: skip
            with zipfile.ZipFile(folder / f"{top}.argosmodel", "w") as package:
                package.writestr(f"{top}/metadata.json", json.dumps(about))
                package.writestr(f"{top}/README.md", "# For a test\n")
                package.write(model / "tokenizer.model", f"{top}/sentencepiece.model")
                package.write(splitter, f"{top}/minisbd/{source}.onnx")
                for file in converted.iterdir():
                    package.write(file, f"{top}/model/{file.name}")


if __name__ == "__main__":
    main()
