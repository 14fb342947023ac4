"""The web pages as files: nothing in them runs but their own script, and nothing comes from outside.

How they behave in a browser is tested by tests/outside/browser.py.
"""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.pictures.maps import AttentionMap, AttentionMaps
from headway.pictures.page import html, style_sheet, view_script, write_html
from headway.pictures.page_layouts import view_json
from headway.serving.page import page_files

SOURCE = Path(__file__).parents[2] / "src" / "headway"
SCRIPTS = sorted(
    [*(SOURCE / "pictures/page").glob("*.js"), *(SOURCE / "serving/page").glob("*.js")]
)
NODE = shutil.which("node")
HOSTILE = [" </script><script>alert(1)</script>", " <!--<script>", " \u2028'\"&", "]]>"]


class Page(HTMLParser):
    """The elements of a page with their attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(("", {}, ""))  # what follows is not the element's text

    def handle_data(self, data: str) -> None:
        if self.elements:
            tag, attributes, text = self.elements[-1]
            self.elements[-1] = tag, attributes, text + data

    def named(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.elements if name == tag]


@pytest.fixture
def maps() -> AttentionMaps:
    random = np.random.default_rng(5)
    queries, keys = [" Der", " Hu", "nd", "</s>", *HOSTILE], ["<start>", " ", "The", " d", "og"]
    weights = random.dirichlet(np.ones(len(keys)), (2, 3, len(queries))).astype(np.float32)
    return AttentionMaps(HOSTILE[0], "half \ud800", {"cross": AttentionMap(queries, keys, weights)})


def test_the_file_runs_only_what_its_policy_names(maps: AttentionMaps) -> None:
    page = Page(html(maps))
    scripts, styles = page.named("script"), page.named("style")
    [policy] = [str(a["content"]) for a, _ in page.named("meta") if "http-equiv" in a]
    assert [a for a, _ in scripts] == [{"type": "application/json", "id": "data"}, {}]
    for name, text in [("script-src", scripts[1][1]), ("style-src", styles[0][1])]:
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{hashed}';" in policy
    assert len(styles) == 1
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_the_file_holds_the_maps_and_no_text_leaves_its_element(maps: AttentionMaps) -> None:
    page = Page(html(maps))
    [data] = [text for a, text in page.named("script") if a.get("id") == "data"]
    assert "<" not in data
    assert data.isascii()
    assert json.loads(data) == view_json(maps)


def test_pages_request_nothing_from_other_servers(maps: AttentionMaps) -> None:
    texts = [html(maps), *(content.decode() for content, _ in page_files().values())]
    for text in texts:
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text))
        assert addresses <= {"http://www.w3.org"}  # the name of SVG, which is never requested


def test_written_file_is_the_page(maps: AttentionMaps, tmp_path: Path) -> None:
    write_html(tmp_path / "a.html", maps)
    assert (tmp_path / "a.html").read_bytes().decode() == html(maps)
    with pytest.raises(HeadwayError, match=r"nowhere.*cannot be written"):
        write_html(tmp_path / "nowhere" / "a.html", maps)


def test_the_translation_page_finds_all_it_names_and_needs_no_inline_code() -> None:
    found = page_files()
    page = Page(found["/"][0].decode())
    named = [
        a.get("src") or a.get("href") for _, a, _ in page.elements if "src" in a or "href" in a
    ]
    assert set(named) == {path.removeprefix("/") for path in found} - {""}
    for tag, attributes, text in page.elements:
        assert tag != "style"
        assert tag != "script" or not text.strip()
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", "": "text/html"}
    for path, (content, kind) in found.items():
        assert kind.startswith(kinds[Path(path).suffix])
        assert content
    assert found["/attention.js"][0].decode() == view_script()
    assert found["/attention.css"][0].decode() == style_sheet()


def test_scripts_ask_for_elements_that_are_there() -> None:
    page = Page(page_files()["/"][0].decode())
    there = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(there) == len(set(there))
    for path in (SOURCE / "serving/page").glob("*.js"):
        wanted = set(re.findall(r'\$\("([\w-]+)"\)', path.read_text(encoding="utf-8")))
        assert wanted <= set(there), path.name
    for attributes in (a for _, a, _ in page.elements):
        for name in ("for", "aria-labelledby", "aria-describedby"):
            assert attributes.get(name) in (None, *there)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_and_no_code_of_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    never = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    assert not re.search(never, text)
    assert not re.search(r'"style"|cssText|javascript:', text)
    assert "</" not in text.replace("</s>", "")  # the file holds the script as it is


@pytest.mark.skipif(NODE is None, reason="no node")
@pytest.mark.parametrize("form", ["maps", "words"])
def test_the_browser_reads_the_weights(maps: AttentionMaps, form: str) -> None:
    expected = (maps if form == "maps" else maps.words()).maps["cross"]
    json_maps = view_json(maps)[form]
    found = in_node("[...headway.decode(given.cross).weights]", json_maps)
    assert np.allclose(found, expected.weights.ravel(), atol=0.51 / 255)
    with pytest.raises(subprocess.CalledProcessError):
        in_node("headway.decode({...given.cross, layers: 7})", json_maps)


@pytest.mark.skipif(NODE is None, reason="no node")
@pytest.mark.parametrize("view", ["heads", "paper", "grid", "heat", "alignment"])
def test_arrow_keys_reach_everything_and_stay_inside(maps: AttentionMaps, view: str) -> None:
    found = in_node(
        "const map = headway.decode(given.json.maps.cross);"
        "const state = {view: given.view, layer: 1, heads: [2], pin: null}; const seen = new Set();"
        "const open = [headway.moved(map, state, null, 'ArrowDown')];"
        "while (open.length) { const spot = open.pop(); const name = JSON.stringify(spot);"
        "  if (!seen.has(name)) for (const key of given.keys) open.push(headway.moved(map, state, spot, key));"
        "  seen.add(name); }"
        "[...seen].map((name) => JSON.parse(name))",
        {
            "json": maps.to_json(),
            "view": view,
            "keys": ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"],
        },
    )
    layers, heads, rows, columns = maps.maps["cross"].weights.shape
    queries, keys = [{"query": q} for q in range(rows)], [{"key": k} for k in range(columns)]
    wanted = {
        "heads": [*queries, *keys],
        "paper": [*queries, *keys],
        "alignment": [*queries, *keys],
        "heat": [{**q, **k} for q in queries for k in keys],
        "grid": [{"layer": i, "head": h} for i in range(layers) for h in range(heads)],
    }[view]
    assert isinstance(found, list)
    assert sorted(map(str, found)) == sorted(map(str, wanted))


@pytest.mark.skipif(NODE is None, reason="no node")
def test_the_browser_counts_words_as_the_server_does() -> None:
    text = "  Ein\u00a0Hund,\u2003der\x1cläuft \x85 …\n\n🐶🐶\u3000x\u2028y\u200bz\t"
    assert in_node("headway.words(given).map((word) => word.text)", text) == text.split()


@pytest.mark.skipif(NODE is None, reason="no node")
def test_sentences_cover_all_words_in_order() -> None:
    text = "One man. Two dogs run! Three?\nNo end here\n\n  Last one.  "
    found = in_node('headway.sentences(given, "en")', text)
    assert [part["text"] for part in found] == [
        "One man.", "Two dogs run!", "Three?", "No end here", "Last one.",
    ]  # fmt: skip
    assert all(text[part["start"] : part["end"]].strip() == part["text"] for part in found)
    assert in_node('headway.sentences(given, "no such_code")', text) == found


def in_node(expression: str, given: object) -> object:
    """Return what an expression over the scripts gives in JavaScript."""
    pictures = SOURCE / "pictures/page"
    scripts = [pictures / "maps.js", pictures / "reading.js", SOURCE / "serving/page/words.js"]
    code = "".join(path.read_text(encoding="utf-8") for path in scripts)
    program = f"{code}\nconst given = {json.dumps(given)};\nconst found = eval({json.dumps(expression)});\n"
    answer = subprocess.run(
        [str(NODE), "-"],
        input=program + "console.log(JSON.stringify(found));",
        capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    return json.loads(answer.stdout)
