"""What the command prints without a model: help, settings, presets, and a line for each mistake of a user."""

import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from side import Side, scrub, write_messages
from texts import write_lines, write_pairs

GOLDEN = Path(__file__).parents[1] / "golden" / "0.2" / "model"
PRESETS = ("quick", "thorough", "tiny", "small", "medium", "base", "big")
# A command on each line, run in a directory that holds the files of `write_files`.
MISTAKES = """
trian
resume
help tran
--version
translate
translate nowhere
translate runs/nowhere
translate a.en
translate tinny
translate model --alignmnt
translate model --beam 2
translate model --n_best 2
translate model --model.d-model 3
translate model --threads two
translate model --threads 0
translate model --device gpu
translate model --to it
translate model
translate model --to de --search.beam 0
translate model --to de --search.beam 4 --search.sample true
translate model --to de --search.n-best 5 --search.beam 4
translate model --to de --search.precision int4
translate model --to de --input nowhere.en --output x
translate model --to de --input a.en
translate model --to de --input a.en --output nowhere/x
translate model --to de --input latin.en --output x
translate model --to de --input a.en --output x --part 3/2
translate model --to de --scores --json
translate model --to de --workers 2
translate model --to de --glossary nowhere.tsv
translate model --to de --glossary one-column.tsv
translate model --to de --glossary flags.tsv
translate model --to de --glossary regex.tsv
translate model --to de --glossary languages.tsv
translate model --to de --glossary latin.en
translate model --to de --glossary terms.tsv --search.sample true
translate model --to de --input a.xyz --output b.xyz
translate model --to de --search.round-trip true
translate model model2 --to de
translate model --to de --backward nowhere
translate damaged --to de
translate newer --to de
info nowhere
info tinny
info .
info model a=b
config --model.d-modle 3
config --model.d-model wide
config --model.d-model
config --model.d-model 10 --model.num-heads 3
config --preset tinny
config --config nowhere.toml
config --config wrong.toml
config --only modl
config --training.max-steps 0
config --model.dropout 1.5
train x
train x --train a.en a.de
train x --train a.en a.de --valid 1,000
train x --train a.en a.de --valid 10%
train x --train a.en nowhere.de --valid 5
train x --train a.en short.de --valid 5
train x --train a.en a.en --valid 5
train x --train a.en a.de --valid 5 --languages english deutsch
train x --train a.en a.de --valid 5 --trainin.seed 5
train x --train a.en a.de --valid 5 --preset quik
train x --train a.en a.de --valid 5 --model.kind classifier
train x --train a.en a.de --valid 5 --init nowhere
train x --train en-de a.en a.de --valid en-fr 5
train model
prepare x --train . a.en --valid 5
prepare x --train corpus-en corpus-de --valid 5
prepare a.en --train a.en a.de --valid 5
evaluate model --source a.en --reference nowhere.de
evaluate model --to de --source a.en --reference short.de
evaluate model --source - --reference -
score a.de short.de
score - -
score a.de a.de --only bleuu
score a.de a.de --language zz
score a.de a.de "two words"
score "" a.de
compare a.de a.de short.de
average nowhere out
average model out
export model out --to onx
export model out --to ctranslate2 --precision int9
export model a.en --to ctranslate2
import nowhere out
import a.en out
import model out
lm x --prompt Hello
lm x --generate 1 --search.mbr true
lm nowhere --score a.en
classify x --train one-column.tsv --valid one-column.tsv
classify nowhere
encode model --out vectors.txt
best x --hours one
best x --preset quick
best nowhere
serve nowhere
serve model --port 99999
serve model --server.char-limt 3
heads model --source a.en --reference a.de --pairs 0
picture model
picture model "0 7" --layer 9 --out x.svg
plot nowhere
check nowhere
bench trian
bench train --text x
reproduce table99
parse model
treebank x --train a.en --valid a.en
completion tcsh
"""


def record(side: Side, model: Path, out: Path) -> None:
    """Write what depends on no processor: all of it."""
    record_stored(side, out)


def record_stored(side: Side, out: Path) -> None:
    """Write the help of each verb, the settings and presets, and the answers to mistakes."""
    overview = side.run("--help").out.decode()
    verbs = [line.split()[0] for line in overview.splitlines() if line.startswith("  ") and "   " in line.strip()]  # fmt: skip
    pages = {
        "overview.txt": ["--help"], "settings.txt": ["config"], "server-settings.txt": ["config", "--only", "server"],
        **{f"verbs/{verb}.txt": [verb, "--help"] for verb in verbs},
        **{f"presets/{preset}.toml": ["config", "--preset", preset] for preset in PRESETS},
        **{f"presets/{preset}.txt": ["info", preset] for preset in PRESETS},
    }  # fmt: skip
    mistakes = MISTAKES.strip().splitlines()
    with TemporaryDirectory() as folder:
        files = write_files(Path(folder) / "files")
        answers = side.run_each([*pages.values(), *map(shlex.split, mistakes)], cwd=files)
    for name, answer in zip(pages, answers, strict=False):
        path = out / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(scrub((answer.out + answer.err).decode()), encoding="utf-8", newline="\n")
    rows = zip(mistakes, answers[len(pages) :], strict=True)
    write_messages(out / "mistakes.jsonl", rows)


def write_files(folder: Path) -> Path:
    """Write the files that the mistakes name, and return their directory."""
    folder.mkdir()
    shutil.copytree(GOLDEN, folder / "model")
    for name, old, new in (
        ("damaged", '"num_heads": 2', '"num_heads": 3'), ("newer", '"format": 1', '"format": 99'),
    ):  # fmt: skip
        shutil.copytree(GOLDEN, folder / name)
        path = folder / name / "config.json"
        text = path.read_text("utf-8")
        assert old in text, (path, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    write_pairs(folder, "a", [("a dog runs", "ein Hund läuft"), ("a cat", "eine Katze")])
    tables = {
        "short.de": "ein Hund läuft", "corpus-en": "a", "corpus-de": "b", "a.xyz": "a dog", "wrong.toml": "[model]\nd_modle = 3\n[text]\nvocab_size = 'x'",
        "one-column.tsv": "dog", "flags.tsv": "dog\tHund\tcases", "regex.tsv": "(dog\tHund\tregex",
        "languages.tsv": "English\tFrench\ndog\tchien", "terms.tsv": "dog\tHund",
    }  # fmt: skip
    for name, text in tables.items():
        write_lines(folder / name, [text])
    (folder / "latin.en").write_bytes("caf\xe9\n".encode("latin-1"))
    return folder
