"""Corpora by name give the same text from every source, are fetched once, and are whole and recorded.

Stand-ins with the same interfaces replace mtdata and datasets. sacreBLEU is the real program, with a
cache that holds the files that it would download.
"""

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
import sacrebleu

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.ext.corpora.named import list_origins, local_files
from headway.text.readers import read_pairs
from support.cases import each_case, read_rows
from support.toy_models import sentences, translate_words

PAIRS = [(text, translate_words(text)) for text in sentences(30, 1)]
FIRST, SECOND, THIRD = (f"Group-part{n}-1-deu-eng" for n in "abc")
COMMIT = "0123456789abcdef0123456789abcdef01234567"

# A command with the options, files and error messages of mtdata.
MTDATA = f"""#!{sys.executable}
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "calls"), "a") as file:
    print(*sys.argv[1:], file=file)
time.sleep(float(os.environ.get("SLOW", 0)))
data = json.load(open(os.path.join(here, "data.json")))
words = sys.argv[1:]
if words[:3] == ["list-recipe", "-f", "json"]:
    print(json.dumps({{"id": "other", "langs": "fra-eng", "train": ["X-y-1-fra-eng"]}}))
    print(json.dumps({{"id": "odd", "langs": "eng-deu", "train": [*data, "X-y-1-eng"]}}))
    print(json.dumps({{"id": "three", "langs": "eng-deu", "train": list(data), "dev": list(data)[:1]}}))
    sys.exit()
assert words[0] == "get" and "--merge" in words
pair, identity, out = (words[words.index(name) + 1] for name in ("-l", "--train", "--out"))
if identity not in data:
    sys.exit(f"Traceback\\nException: Could not find {{identity}}")
codes = [{{"en": "eng", "de": "deu"}}[code] for code in pair.split("-")]
known = identity.split("-")[3:]
assert sorted(codes) == sorted(known)
os.makedirs(os.path.join(out, "train-parts"))
for code in codes:
    with open(os.path.join(out, f"train.{{code}}"), "w") as file:
        file.writelines(row[known.index(code)] + "\\n" for row in data[identity])
with open(os.path.join(out, "mtdata.signature.txt"), "a") as file:
    file.write(f"mtdata get -l {{'-'.join(codes)}} --train {{identity}} --merge -o <out-dir>\\n")
    file.write("mtdata version 0.5.1\\n")
"""

# A package with the part of the interface of datasets that Headway uses.
DATASETS = """
import json, pathlib
__version__ = "5.2.0"
class Dataset(list):
    download_checksums = {"hf://datasets/org/text@COMMIT/data/a.parquet": {"num_bytes": 1}}
def load_dataset(path, name=None, data_dir=None, data_files=None, split=None, revision=None):
    known = json.loads(pathlib.Path(__file__).with_name("rows.json").read_text())
    key = f"{path} {name} {split} {revision}"
    if key not in known:
        raise ValueError(f'Unknown split in "{key}".\\nand much more')
    return Dataset(known[key])
""".replace("COMMIT", COMMIT)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "corpora"


@pytest.fixture
def mtdata(tmp_path, monkeypatch):
    """Replace mtdata: each data set has ten pairs, with the sides in the order of its name."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "mtdata").write_text(MTDATA)
    (place / "mtdata").chmod(0o755)
    rows = [(target, source) for source, target in PAIRS]
    parts = {name: rows[n * 10 : n * 10 + 10] for n, name in enumerate((FIRST, SECOND, THIRD))}
    (place / "data.json").write_text(json.dumps(parts))
    monkeypatch.setenv("PATH", str(place), prepend=":")
    return place


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Replace the hub by data sets given as "path config split revision" -> rows."""
    place = tmp_path / "packages"
    place.mkdir()
    (place / "datasets.py").write_text(DATASETS)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "datasets", raising=False)

    def keep(**rows):
        (place / "rows.json").write_text(json.dumps(rows))

    return keep


def fetch(*names, languages=("en", "de"), place="train"):
    files = local_files(names, languages, place, print)
    return [(pair.source, pair.target) for pair in read_pairs(files)]


def calls(mtdata):
    return [line.split()[0] for line in (mtdata / "calls").read_text().splitlines()]


def test_names_of_files_are_returned_unchanged(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hf:mine.tsv").write_text("a\tb\n")
    for words in (["a.en", "a.de"], ["-"], [], ["hf:mine.tsv"]):
        assert local_files(words, None, "train", print) == words
    assert not cache.exists()


def test_sides_are_in_the_order_of_the_languages(mtdata):
    assert fetch(f"mtdata:{FIRST}") == PAIRS[:10]
    turned = fetch(f"mtdata:{FIRST}", languages=("de", "en"))
    assert turned == [(target, source) for source, target in PAIRS[:10]]


def test_a_corpus_in_the_cache_is_not_fetched_again(mtdata, monkeypatch):
    first = fetch(f"mtdata:{FIRST}", f"mtdata:{SECOND}")
    assert first == PAIRS[:20]
    assert calls(mtdata) == ["get", "get"]
    shutil.rmtree(mtdata)
    assert fetch(f"mtdata:{FIRST}", f"mtdata:{SECOND}") == first
    assert fetch(f"mtdata:{SECOND}") == PAIRS[10:20]


@pytest.mark.parametrize(
    "damage",
    ["shorter", "other", "gone", "no manifest", "no JSON", "other names", "no name", "no facts"],
)
def test_a_damaged_copy_is_fetched_again(mtdata, damage):
    said = []
    files = [Path(f) for f in local_files([f"mtdata:{FIRST}"], ("en", "de"), "train", said.append)]
    assert len(said) == 1
    assert "is damaged" not in said[0]
    whole = files[1].read_bytes()
    manifest = files[1].with_name("manifest.json")
    match damage:
        case "shorter":
            files[1].write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
        case "other":
            files[1].write_bytes(whole.replace(b"e", b"f", 1))
        case "gone":
            files[1].unlink()
        case "no manifest":
            manifest.unlink()
        case "no JSON":
            manifest.write_text("{")
        case "other names":  # with the texts that the manifest describes
            values = json.loads(manifest.read_text())
            for name, file in (("x", files[0]), ("y", files[1])):
                shutil.copy(file, file.with_name(name))
                values["files"][name] = values["files"].pop(file.name)
            files[1].write_bytes(whole.replace(b"e", b"f", 1))
            manifest.write_text(json.dumps(values))
        case "no name":
            manifest.write_text(json.dumps({"files": {"x\0": {}, "y": {}}}))
        case "no facts":
            manifest.write_text(json.dumps({"files": {file.name: 1 for file in files}}))
    for _ in range(2):  # the second time the copy is whole, and there is no message
        assert local_files([f"mtdata:{FIRST}"], ("en", "de"), "train", said.append) == [
            *map(str, files)
        ]
    assert len(said) == 2
    assert "is damaged" in said[1]
    assert calls(mtdata) == ["get", "get"]
    assert files[1].read_bytes() == whole


def test_an_interrupted_recipe_continues_after_its_last_whole_part(mtdata, cache):
    data = json.loads((mtdata / "data.json").read_text())
    broken = dict(data) | {THIRD: [["only German"]]}  # the stand-in ends in the middle of a file
    (mtdata / "data.json").write_text(json.dumps(broken))
    with pytest.raises(HeadwayError, match=f"mtdata:{THIRD}: mtdata failed: "):
        fetch("mtdata:three")
    there = {path.name for path in cache.iterdir() if path.suffix != ".lock"}
    assert len(there) == 2
    assert not any("three" in name or THIRD in name for name in there)
    (lock,) = cache.glob("mtdata-three*.lock")
    left = cache / f".tmp-4194303-{lock.stem}"  # as left by a killed process
    left.mkdir()
    (mtdata / "data.json").write_text(json.dumps(data))
    before = len(calls(mtdata))
    assert fetch("mtdata:three") == PAIRS
    assert calls(mtdata)[before:] == ["list-recipe", "get"]
    assert not left.exists()
    assert fetch("mtdata:three", place="valid") == fetch("mtdata:three:dev") == PAIRS[:10]


def test_processes_that_need_one_corpus_fetch_it_once(mtdata, monkeypatch):
    monkeypatch.setenv("SLOW", "0.5")
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: fetch(f"mtdata:{FIRST}"), range(3)))
    assert found == [PAIRS[:10]] * 3
    assert calls(mtdata) == ["get"]


def test_the_manifest_records_where_the_text_is_from(mtdata):
    files = local_files(["mtdata:three"], ("en", "de"), "train", print)
    (about,) = list_origins([*files, "another.txt"])
    assert about["name"] == "mtdata:three:train"
    assert [part["name"] for part in about["parts"]] == [
        f"mtdata:{n}" for n in (FIRST, SECOND, THIRD)
    ]
    assert {part["program"] for part in about["parts"]} == {"mtdata 0.5.1"}
    for file in map(Path, files):
        content = file.read_bytes()
        expected = {"sha256": sha256(content).hexdigest(), "lines": content.count(b"\n")}
        assert about["files"][file.name] == expected
    assert [part["files"]["source.en"]["lines"] for part in about["parts"]] == [10] * 3


@pytest.mark.parametrize("kind", ["translation", "codes", "sides"])
def test_all_layouts_of_columns_give_the_same_text(hub, kind):
    row = {
        "translation": lambda s, t: {"id": 1, "translation": {"de": t, "en": s}},
        "codes": lambda s, t: {"de": t, "en": s, "fr": "non"},
        "sides": lambda s, t: {"source": s, "target": t},
    }
    rows = [row[kind](source, target) for source, target in PAIRS]
    hub(**{"org/text None train None": [*rows, row[kind]("two\r\nlines", "")]})
    assert fetch("hf:org/text") == [*PAIRS, ("two lines", "")]


def test_a_row_without_text_becomes_an_empty_line(hub):
    rows = [{"en": "a", "de": None}, {"en": "b", "de": "B"}]
    hub(**{"org/text None train None": rows})
    assert fetch("hf:org/text") == [("a", ""), ("b", "B")]


@each_case
def test_a_name_selects_configuration_split_and_revision(hub, name, place, asked):
    hub(**{asked: [{"en": "a", "de": "b"}]})
    files = local_files([name], ("en", "de"), place, print)
    assert Path(files[0]).read_text() == "a\n"
    assert list_origins(files)[0]["revision"] == COMMIT


def test_a_local_directory_is_not_taken_for_a_data_set_of_the_hub(hub, tmp_path, monkeypatch):
    """The package datasets would read the directory, and the cache would keep it under the hub's name."""
    hub(**{"org/text None train None": [{"en": "a", "de": "b"}]})
    (tmp_path / "org" / "text").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        HeadwayError, match=r"there is a local directory org/text, which datasets would read"
    ):
        fetch("hf:org/text")
    monkeypatch.chdir(tmp_path / "org")
    assert fetch("hf:org/text") == [("a", "b")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        *read_rows(
            __file__, "test_a_data_set_that_is_no_parallel_text_gives_a_message_of_one_line"
        ),
        (
            None,
            r'hf:org/text::train: datasets failed: Unknown split in "org/text None train None"\.$',
        ),
    ],
)
def test_a_data_set_that_is_no_parallel_text_gives_a_message_of_one_line(hub, cache, rows, message):
    hub(**({"org/text None train None": rows} if rows is not None else {}))
    with pytest.raises(HeadwayError, match=message) as caught:
        fetch("hf:org/text")
    assert "\n" not in str(caught.value)
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_missing_programs_are_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(HeadwayError, match="pipx install mtdata"):
        fetch(f"mtdata:{FIRST}")
    with pytest.raises(HeadwayError, match=r"pip install 'headway.corpora.'"):
        fetch("hf:org/text")


def test_the_first_of_several_references_is_taken(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("src", "ref", "refB")]
    for file in files:
        file.write_text(f"{file.name}\n")
    monkeypatch.setattr(sacrebleu, "get_source_file", lambda *_: str(files[0]))
    monkeypatch.setattr(sacrebleu, "get_reference_files", lambda *_: [str(f) for f in files[1:]])
    assert fetch("sacrebleu:wmt14/full") == [("src", "ref")]
    paths = local_files(["sacrebleu:wmt14/full"], ("en", "de"), "train", print)
    assert list_origins(paths)[0]["references"] == 2


def test_prepare_accepts_names_and_records_them(mtdata, tmp_path, monkeypatch):
    """`headway prepare` fetches a test set from sacreBLEU's cache and drops its pairs from training."""
    kept = tmp_path / "sacrebleu" / "wmt14" / "full"
    kept.mkdir(parents=True)
    for field, side in (("src", 0), ("ref", 1)):
        text = "".join(f"{pair[side]}\n" for pair in PAIRS[:10])
        (kept / f"wmt14_full.en-de.{field}").write_text(text)
    for field in ("docid", "genre", "origlang"):
        (kept / f"wmt14_full.en-de.{field}").write_text("x\n" * 10)
    out = tmp_path / "data"
    # The data set looked for its cache when it was imported.
    monkeypatch.setattr(sacrebleu.DATASETS["wmt14/full"], "_outdir", str(kept))
    words = [
        "prepare", str(out), "--languages", "en", "de", "--train", "mtdata:three",
        "--valid", f"mtdata:{SECOND}", "--test", "sacrebleu:wmt14/full", "--text.vocab-size", "300",
    ]  # fmt: skip
    assert dispatch(words) == 0
    report = json.loads((out / "report.json").read_text())
    assert report["read"] == 30
    assert report["kept"] == len(set(PAIRS[20:]) - set(PAIRS[:20]))
    facts = json.loads((out / "data.json").read_text())
    assert facts["languages"] == ["en", "de"]
    names = [about["name"] for about in facts["origins"]]
    assert names == ["mtdata:three:train", f"mtdata:{SECOND}", "sacrebleu:wmt14/full"]
    test = facts["origins"][2]
    assert test["program"].startswith("sacrebleu 2.")
    expected = sha256((kept / "wmt14_full.en-de.ref").read_bytes()).hexdigest()
    assert test["files"]["target.de"]["sha256"] == expected
