"""Use each name of ``headway.__all__`` as a program does; run by each side: MODEL BOTH TEXT GLOSSARY OUT.

It prints a line of JSON for each answer. Numbers of networks are rounded to 1e-6, others are as they are.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

import headway
from headway import ModelConfig, SearchConfig, TextConfig, TrainingConfig

SIZES = {"d_model": 24, "d_ff": 44, "num_heads": 3, "num_encoder_layers": 2, "num_decoder_layers": 2, "dropout": 0.0}  # fmt: skip
NETWORKS = {
    "base": {}, "pre": {"norm": "pre", "activation": "gelu"}, "learned": {"positions": "learned", "tying": "none"},
    "additive": {"compatibility": "additive", "attention_bias": True}, "window": {"window": 2, "d_k": 5, "d_v": 7},
    "lstm": {"encoder_mixer": "lstm", "decoder_mixer": "gru"}, "wide": {"d_embedding": 10, "output_bias": True, "scale_logits": True},
    "gated": {"encoder_mixer": "convolution", "decoder_mixer": "dilated", "gated": True}, "separable": {"encoder_mixer": "separable", "activation": "swish"},
}  # fmt: skip


def main(model: str, both: str, text: str, glossary: str, out: str) -> None:
    """Print the answers."""
    lines = Path(text).read_text("utf-8").splitlines()
    say("all", sorted(headway.__all__))
    say("native", headway.compile_native())
    say("settings", asdict(headway.Config()))
    ask_translator(model, both, lines, glossary, Path(out))
    ask_files(model, Path(out))
    ask_networks()
    ask_tokenizer(lines, Path(out))
    ask_training(lines, Path(out))
    ask_mistakes(model, both)


def ask_translator(model: str, both: str, lines: list[str], glossary: str, out: Path) -> None:
    """Translate, stream and score."""
    translator = headway.Translator.load(model)
    say("one", translator.translate(lines[0]))
    say("many", translator.translate(lines))
    say("search", translator.translate(lines[:20], SearchConfig(beam=2, alpha=0.3, max_extra=5)))
    say("sample", translator.translate(lines[:20], SearchConfig(sample=True, seed=3)))
    read = headway.read_glossary(glossary)
    made = headway.Glossary.of({"the": ["dieser", "jener"], "week": "Woche"})
    say("glossary", translator.translate(lines[:40], glossary=read))
    say("with_glossary", translator.with_glossary(made).translate(lines[:40]))
    for name, search, options in (
        ("stream", None, {}), ("aligned", SearchConfig(n_best=2), {"align": True, "quality": True}),
        ("prefix", SearchConfig(beam=1), {"prefix": "Das", "window": 3}),
    ):  # fmt: skip
        found = translator.stream(iter(lines[:30]), search, **options)
        say(name, [[asdict(translation) | {"notes": translation.notes} for translation in each] for each in found])  # fmt: skip
    say("score", translator.score(lines[0], "Ein Satz."))
    say("scores", translator.score(lines[:10], lines[10:20]))
    say("ensemble", headway.Translator.load([model, model]).translate(lines[:10]))
    say("backward", headway.Translator.load(model, backward=both).translate(lines[:10], SearchConfig(candidates=4)))  # fmt: skip
    several = headway.Translator.load(both)
    say("to", [several.to("de").translate(lines[:10]), several.to("en", "de").translate(["Guten Morgen."])])  # fmt: skip
    translator.save_pretrained(out / "saved", licence="cc-by-4.0")
    say("saved", headway.Translator.load(out / "saved").translate(lines[:10]))
    vectors = headway.SentenceEncoder.load(model).encode(lines[:5], every_layer=True)
    say("vectors", [list(vectors.shape), *rounded(torch.from_numpy(vectors))])


def ask_files(model: str, out: Path) -> None:
    """Translate a table."""
    table = out / "table.csv"
    table.write_text("id,title\n1,Nina bought the book.\n2,5 km/h\n", encoding="utf-8")
    headway.translate_file(headway.Translator.load(model), table, out / "table.de.csv", columns=["title"])  # fmt: skip


def ask_networks() -> None:
    """Run networks with the weights of a seed."""
    source = torch.tensor([[5, 6, 9, 3, 1], [7, 1, 30, 30, 30]])
    target = torch.tensor([[7, 8, 9, 1], [4, 1, 30, 30]])
    for name, settings in NETWORKS.items():
        torch.manual_seed(5)
        config = ModelConfig(source_vocab_size=31, target_vocab_size=31, **SIZES | settings)
        network = headway.Transformer(config).eval()
        say(f"weights {name}", {key: [list(value.shape), *rounded(value)[:4]] for key, value in network.state_dict().items()})  # fmt: skip
        with headway.watch(network) as seen:
            say(f"logits {name}", rounded(network(source, target)))
        say(f"attention {name}", {key: [list(value.shape), *rounded(value)[:9]] for key, value in seen.attention.items()})  # fmt: skip
    torch.manual_seed(5)
    sizes = {"source_vocab_size": 31, "target_vocab_size": 31, **SIZES}
    say("language model", rounded(headway.LanguageModel(ModelConfig(kind="language-model", **sizes)).eval()(source)))  # fmt: skip
    say("classifier", rounded(headway.Classifier(ModelConfig(kind="classifier", **sizes), 5).eval()(source)))  # fmt: skip
    headway.Trainer(headway.Transformer(ModelConfig(**sizes)), TrainingConfig(warmup_steps=7))


def ask_tokenizer(lines: list[str], out: Path) -> None:
    """Learn subwords, and split and join text."""
    for name, config in (("bpe", TextConfig(vocab_size=400)), ("apart", TextConfig(vocab_size=400, joint_vocab=False, split_digits=True))):  # fmt: skip
        tokenizer = headway.Tokenizer.learn(zip(lines, reversed(lines), strict=True), config)
        ids = tokenizer.encode_source([*lines[:50], "漢字 😀", ""])
        say(name, [ids, tokenizer.encode_target(lines[:5]), [tokenizer.decode(row) for row in tokenizer.encode_target(lines[:5])]])  # fmt: skip
        (out / name).mkdir()
        tokenizer.save(out / name)
        say(f"{name} again", headway.Tokenizer.load(out / name).encode_source(lines[:5]))


def ask_training(lines: list[str], out: Path) -> None:
    """Train a translator for a few steps."""
    for code in ("en", "de"):
        rows = lines if code == "en" else [f"{line[:-1].lower()} ja." for line in lines]
        (out / f"text.{code}").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    settings = {
        "training.max-steps": "3", "training.validate-every": "3", "training.batch-tokens": "300", "text.vocab-size": "400",
        "model.d-model": "32", "model.d-ff": "64", "training.precision": "fp32", "training.threads": "1",
    }  # fmt: skip
    translator = headway.train(out / "run", [str(out / "text.en"), str(out / "text.de")], 20, preset="tiny", settings=settings)  # fmt: skip
    say("trained", translator.translate(lines[:3], SearchConfig(max_extra=5)))
    say("metrics", (out / "run" / "metrics.jsonl").read_text("utf-8").splitlines())


def ask_mistakes(model: str, both: str) -> None:
    """Make mistakes, and print what is said of them."""
    translator = headway.Translator.load(model)
    mistakes: dict[str, Callable[[], object]] = {
        "load": lambda: headway.Translator.load("nowhere"), "to": lambda: translator.to("it"),
        "direction": lambda: headway.Translator.load(both).translate("a"), "beam": lambda: SearchConfig(beam=0),
        "n-best": lambda: SearchConfig(n_best=9), "heads": lambda: ModelConfig(d_model=10, num_heads=3),
        "glossary": lambda: headway.read_glossary("nowhere.tsv"), "term": lambda: headway.Glossary.of({"": "a"}),
        "file": lambda: headway.translate_file(translator, "nowhere.html", "x.html"), "scores": lambda: translator.score(["a"], []),
        "sample": lambda: translator.translate("a week", SearchConfig(sample=True), glossary=headway.Glossary.of({"week": "Woche"})),
        "generator": lambda: headway.TextGenerator.load(model), "classifier": lambda: headway.TextClassifier.load(model),
        "name": lambda: headway.Translater,  # type: ignore[attr-defined]
    }  # fmt: skip
    for name, make in mistakes.items():
        try:
            say(f"mistake {name}", repr(make()))
        except Exception as error:
            say(f"mistake {name}", [type(error).__name__, str(error)])


def rounded(values: torch.Tensor) -> list[float]:
    """Return the numbers of an array, rounded to 1e-6."""
    return [round(number, 6) + 0.0 for number in values.detach().double().flatten().tolist()]


def say(case: str, answer: object) -> None:
    """Print a line of JSON."""
    print(json.dumps({"case": case, "answer": answer}, ensure_ascii=False, default=str))


main(*sys.argv[1:])
