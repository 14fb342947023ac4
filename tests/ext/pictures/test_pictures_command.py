"""``headway picture`` writes the requested view, and its numbers are those of the model."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from headway.cli.main import dispatch
from headway.errors import HeadwayError, UsageError
from headway.ext.pictures import sentence_maps
from headway.ext.pictures.explain import explain
from headway.ext.pictures.labels import find_token
from headway.ext.pictures.sentences import find_attention, read_sentence
from headway.ext.pictures.style import head_color
from support.cases import each_case

SOURCE, TARGET = "the cat sees a dog", "die Katze sieht"


def picture(model, *words):
    dispatch(["picture", str(model), SOURCE, "--target", TARGET, *words])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_explained_steps_give_the_output_of_the_model(translator, kind):
    """Each step follows from the step before; the last one is the head's output in the model."""
    layer, head = 1, 2
    sentence = read_sentence(translator, SOURCE, TARGET)
    seen = []
    attention = find_attention(translator.model, kind, layer)
    assert attention is not None
    hooks = [
        module.register_forward_hook(lambda _module, _inputs, output: seen.append(output))
        for module in (attention.core, attention.output)
    ]
    with torch.inference_mode():
        translator.model(sentence.batch.source, sentence.batch.target)
    for hook in hooks:
        hook.remove()
    found = explain(translator, SOURCE, TARGET, kind=kind, layer=layer, head=head)
    assert found.output == pytest.approx(seen[0][0, head].numpy(), abs=1e-4)
    assert found.heads == pytest.approx(seen[0][0].transpose(0, 1).numpy())
    assert found.output == pytest.approx(found.heads[:, head], abs=1e-4)
    assert found.mixed == pytest.approx(seen[1][0].numpy(), abs=1e-5)
    weights = sentence_maps(translator, SOURCE, TARGET).maps[kind].weights
    assert found.weights == pytest.approx(weights[layer, head], abs=1e-5)
    assert found.products == pytest.approx(found.q @ found.k.T)
    assert found.compatibilities == pytest.approx(found.products / found.q.shape[1] ** 0.5)
    counts = [t + 1 if kind == "decoder" else len(found.keys) for t in range(len(found.queries))]
    assert found.visible.sum(1).tolist() == counts
    assert not found.weights[~found.visible].any()
    for weights_S, output in zip(found.weights, found.output, strict=True):
        parts = [w * v for w, v in zip(weights_S, found.v, strict=True)]
        assert output == pytest.approx(sum(parts))


def test_explain_prints_the_numbers(model_directory, translator, capsys):
    words = ["--kind", "decoder", "--layer", "1", "--heads", "3", "--word", "Katze", "--explain"]
    picture(model_directory, *words)
    table = capsys.readouterr().out
    maps = sentence_maps(translator, SOURCE, TARGET).maps["decoder"]
    query = maps.queries.index(" Katze")
    found = explain(translator, SOURCE, TARGET, kind="decoder", layer=0, head=2)
    rows = [line for line in table.splitlines() if line.count("(") == 2]
    assert len(rows) == len(found.keys)
    assert sum("hidden" in row for row in rows) == (~found.visible[query]).sum()
    numbers = zip(rows, found.weights[query], found.products[query], strict=True)
    for row, weight, product in numbers:
        assert f"{product:.3f}" in row
        assert f"{weight:.4f}" in row or "hidden" in row
    assert "q of Katze" in table


def test_pages_json_and_numbers_need_no_matplotlib(model_directory, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in ("a.json", "a.html"):
        picture(model_directory, "--out", str(tmp_path / name))
        assert (tmp_path / name).stat().st_size
        with pytest.raises(UsageError, match=r"must end in \.svg, \.png, \.pdf$"):
            picture(model_directory, "--out", str(tmp_path / name), "--explain")
    picture(model_directory, "--explain")
    assert "softmax" in capsys.readouterr().out
    with pytest.raises(HeadwayError, match=re.escape("pip install 'headway[pictures]'")):
        picture(model_directory, "--out", str(tmp_path / "a.svg"))


@pytest.mark.slow
@each_case
def test_every_view_is_written(model_directory, tmp_path, words):
    pytest.importorskip("matplotlib")
    out = tmp_path / "a.svg"
    picture(model_directory, *words, "--out", str(out))
    text = out.read_text(encoding="utf-8")
    assert ("softmax" in text) == ("--explain" in words)
    title = str(re.search("<title>(.*)</title>", text)[1])
    for option, expected in {
        "--layer": "layer 1 of 2",
        "--word": "from Katze",
        "heat": "head 2",
        "grid": "2 layers of 3 heads",
    }.items():
        assert option not in words or expected in title
    if "1,3" in words:
        links = text[text.index('id="lines"') :].split("</g>")[0]
        assert set(re.findall("stroke: (#.{6})", links)) == {head_color(0), head_color(2)}
    if "--words" in words:
        tokens = re.findall("<text.*?>(.*?)</text>", text)
        assert {*SOURCE.split(), *TARGET.split()} <= {*tokens}


def test_tokens_are_found_by_text_or_number():
    labels = [" a", " b", "c", " a", " 2", "</s>"]
    assert find_token(labels, "b") == 1
    assert find_token(labels, "·c") == find_token(labels, "c") == 2
    assert find_token(labels, "2") == 4  # a text goes before a number
    assert find_token(labels, "4") == 3
    assert find_token(labels, "</s>") == 5
    with pytest.raises(HeadwayError, match="matches 2 tokens: give a number: 1, 4"):
        find_token(labels, "a")
    with pytest.raises(HeadwayError, match="must be one of 1:a 2:b 3:·c"):
        find_token(labels, "7")


DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("sentence", "options", "name"),
    re.findall(r'^    headway picture runs/demo "(.*?)" (.*) --out ([\w-]+)\.svg$', PAGE, re.M),
)
def test_a_picture_of_the_documentation_is_that_of_its_command(sentence, options, name):
    svg = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    title = str(re.search("<title>(.*)</title>", svg)[1])
    parts = {
        "kind": "{} self-attention",
        "layer": "layer {} of 2",
        "heads": "head {}",
        "word": "from {}",
    }
    for option, value in re.findall(r"--(kind|layer|heads|word) (\w+)(?!\S)", options):
        assert parts[option].format(value) in title
    if "--explain" in options:
        assert re.findall(r"^    (\w+ self-attention, .*)$", PAGE, re.M) == [
            title.split(", from")[0]
        ]
    else:
        assert f"<dc:description>{sentence} | " in svg


@pytest.mark.slow
def test_the_documentation_matches_the_code(model_directory, tmp_path, monkeypatch):
    """The pictures are those of the folder, and the Python example runs."""
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", PAGE)
    assert {DOCS / name for name in pictures} == set((DOCS / "pictures").iterdir())
    for name in pictures:
        ElementTree.fromstring((DOCS / name).read_text(encoding="utf-8"))
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("runs/demo", str(model_directory)), "pictures.md", "exec"), {})
    assert Path("grid.pdf").read_bytes().startswith(b"%PDF")
