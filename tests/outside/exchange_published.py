"""Published models of other programs, imported and compared with these programs, text by text.

    python tests/outside/exchange_published.py FOLDER [--texts 500] [--lines FILE]

FOLDER is one of two things. `aren-transliteration` of CTranslate2's test data (tests/data/models/v2, 742 kB) writes
Arabic names in Latin letters; OpenNMT-tf has trained it. Its file is of an old version, so CTranslate2's own classes
write it anew here, and a sentencepiece model of its characters is added, since the original has none. Random words of
its letters are translated by CTranslate2 from the old file and from the new one, and by Headway after
``headway import``. Or FOLDER is a published OPUS-MT model in Hugging Face's layout, perhaps without its weights (which
are large): then random ones of its shape are made. The lines of FILE are divided into tokens by both programs, and
the first twenty are translated. All must agree. This needs the package ctranslate2 or transformers.
"""

import shutil
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch

from headway import SearchConfig, Translator
from support.campaign import Campaign

LAYERS, HEADS = 6, 8
SPECIAL = ("<blank>", "<s>", "</s>")


class Published(Campaign):
    """A model in both programs."""

    def work(self):
        """Import, translate and compare."""
        self.out, self.log = self.folder / "imported", self.folder / "log"
        is_marian = (self.options.model / "source.spm").exists()
        (self.compare_with_marian if is_marian else self.compare_with_ctranslate2)()

    def convert(self, path, *options):
        """Import a directory."""
        self.finish(self.start("import", path, self.out, *options, log=self.log), self.log)

    def compare_with_marian(self):
        """Compare the tokens of lines, and greedy translations."""
        from transformers import MarianConfig, MarianMTModel, MarianTokenizer

        path = self.folder / "model"
        shutil.copytree(self.options.model, path)
        torch.manual_seed(self.options.seed)
        weights = [path / name for name in ("pytorch_model.bin", "model.safetensors")]
        if not any(file.exists() and file.stat().st_size > 1000 for file in weights):
            for file in weights:
                file.unlink(missing_ok=True)
            model = MarianMTModel(MarianConfig.from_pretrained(path))
            for name, parameter in model.named_parameters():
                if parameter.dim() == 2 and "positions" not in name:
                    torch.nn.init.normal_(parameter, std=0.08)
            model.save_pretrained(path)
        self.convert(path)
        model, theirs = (
            MarianMTModel.from_pretrained(path).eval(),
            MarianTokenizer.from_pretrained(path),
        )
        translator = Translator.load(self.out)
        ours = translator.tokenizer
        symbol = f">>{ours.target_languages[0]}<<" if ours.target_languages else ""
        lines = [symbol + line for line in self.options.lines.read_text().splitlines()]
        lines = lines[: self.options.texts]
        same = 0
        for line in lines:
            expected = theirs.convert_ids_to_tokens(theirs(line).input_ids)
            same += ours.source_subwords(ours.encode_source([line])[0]) == expected
        print(f"{same} of {len(lines)} lines have the same tokens")
        self.expect(same == len(lines), "tokens differ")
        with torch.no_grad():
            for line in lines[:20]:
                ids = theirs(line, return_tensors="pt")
                answer = model.generate(**ids, num_beams=1, max_new_tokens=ids.input_ids.size(1))[
                    0
                ].tolist()
                expected = theirs.convert_ids_to_tokens(answer)[1:]
                limited = SearchConfig(beam=1, max_extra=0)
                [[found]] = translator.stream([line], limited)
                count = min(len(found.tokens), len(expected))
                self.expect(
                    count > 0 and found.tokens[:count] == expected[:count], f"{line}: differs"
                )
                self.counts["lines translated"] += 1

    def compare_with_ctranslate2(self):
        """Compare the transliterations of random words."""
        import ctranslate2

        old, new = self.options.model, self.folder / "model"
        source, target = (
            (old / f"{side}_vocabulary.txt").read_text().splitlines()
            for side in ("source", "target")
        )
        write_anew(old / "model.bin", new, [*source, "<unk>"], [*target, "<unk>"])
        for side, entries in (("source", source), ("target", target)):
            (new / f"{side}.model").write_bytes(make_characters([*entries, "<unk>"]))
        self.convert(new, "--languages", "ar", "en")
        letters = [entry for entry in source if entry not in SPECIAL and entry.isalpha()]
        words = [
            "".join(self.luck.choices(letters, k=self.luck.randint(1, 12)))
            for _ in range(self.options.texts)
        ]
        programs = [
            ctranslate2.Translator(str(path), compute_type="float32") for path in (old, new)
        ]
        for beam in (1, 4):
            found = Translator.load(self.out).translate(words, SearchConfig(beam=beam, alpha=0.0))
            for program in programs:
                results = program.translate_batch(
                    list(map(list, words)), beam_size=beam, length_penalty=0, max_batch_size=64
                )
                expected = ["".join(result.hypotheses[0]) for result in results]
                same = sum(map(str.__eq__, found, expected))
                print(f"beam {beam}: {same} of {len(words)} words are the same")
                self.counts["words compared"] += len(words)
                self.expect(beam > 1 or same == len(words), "greedy translations differ")


def write_anew(old, new, source, target):
    """Write a file of version 2 as the installed CTranslate2 writes models."""
    from ctranslate2.specs import TransformerSpec

    variables = read_old(old)
    spec = TransformerSpec.from_config(LAYERS, HEADS, pre_norm=True)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    for name, value in variables.items():
        place: Any = spec
        *scopes, last = name.split("/")
        for scope in scopes:
            if scope == "embeddings" and isinstance(place.embeddings, list):
                place = place.embeddings[0]
            elif scope.startswith("layer_") and scope != "layer_norm":
                place = place.layer[int(scope.removeprefix("layer_"))]
            elif scope.startswith("linear_") and scopes[-2] != "ffn":
                place = place.linear[int(scope.removeprefix("linear_"))]
            else:
                place = getattr(place, scope)
        setattr(place, last, value)
    spec.validate()
    new.mkdir()
    spec.save(str(new))


def read_old(path):
    """Read the tensors of a file of version 2, all of them in float32."""
    data, at = path.read_bytes(), 0

    def take(form):
        nonlocal at
        values = struct.unpack_from(f"<{form}", data, at)
        at += struct.calcsize(f"<{form}")
        return values

    def take_name():
        nonlocal at
        (length,) = take("H")
        at += length
        return data[at - length : at - 1].decode()

    (version,), _, _ = take("I"), take_name(), take("I")
    assert version == 2
    found = {}
    for _ in range(take("I")[0]):
        name, (rank,) = take_name(), take("B")
        shape, (width,), (count,) = take(f"{rank}I"), take("B"), take("I")
        assert width == 4, f"{name} is not in float32"
        found[name] = np.frombuffer(data, np.float32, count, at).reshape(shape).copy()
        at += width * count
    return found


def make_characters(entries):
    """Return a sentencepiece model whose pieces are the characters of a vocabulary."""
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    proto = ModelProto()
    kinds = proto.SentencePiece
    for entry in entries:
        kind = (
            kinds.UNKNOWN
            if entry == "<unk>"
            else kinds.CONTROL
            if entry in SPECIAL
            else kinds.NORMAL
        )
        proto.pieces.add(piece=entry, score=-1.0, type=kind)
    proto.trainer_spec.model_type = proto.trainer_spec.UNIGRAM
    proto.normalizer_spec.name = "identity"
    proto.normalizer_spec.add_dummy_prefix = False
    return bytes(proto.SerializeToString())


if __name__ == "__main__":
    Published.run(__doc__, {"model": Path, "--texts": 500, "--lines": Path, "--seed": 1})
