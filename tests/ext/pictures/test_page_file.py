"""The page of one sentence contains only its own script, and the script reads the weights and the keyboard.

tests/outside/browser.py tests the page in a browser.
"""

import base64
import hashlib
import json

import numpy as np
import pytest

from headway.ext.pictures.html_page import html
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.views import view_json
from support.pages import PICTURE_SCRIPTS, Page, evaluate, foreign_addresses

HOSTILE = [" </script><script>alert(1)</script>", " <!--<script>", " \u2028'\"&", "]]>"]
SCRIPTS = [PICTURE_SCRIPTS / "maps.js", PICTURE_SCRIPTS / "reading.js"]


@pytest.fixture
def maps():
    random = np.random.default_rng(5)
    queries, keys = [" Der", " Hu", "nd", "</s>", *HOSTILE], ["<start>", " ", "The", " d", "og"]
    weights = random.dirichlet(np.ones(len(keys)), (2, 3, len(queries))).astype(np.float32)
    return AttentionMaps(HOSTILE[0], "half \ud800", {"cross": AttentionMap(queries, keys, weights)})


def test_the_policy_of_the_page_allows_only_its_script_and_style(maps):
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


def test_the_page_contains_the_maps_and_their_text_cannot_end_the_element(maps):
    page = Page(html(maps))
    [data] = [text for a, text in page.named("script") if a.get("id") == "data"]
    assert "<" not in data
    assert data.isascii()
    assert json.loads(data) == view_json(maps)


def test_the_page_requests_nothing_from_other_servers(maps):
    assert not foreign_addresses(html(maps))


@pytest.mark.parametrize("view", ["heads", "paper", "grid", "heat", "alignment"])
def test_arrow_keys_reach_every_token_cell_and_head(maps, view):
    found = evaluate(
        SCRIPTS,
        "const map = {...headway.decode(given.json.maps.cross), ...given.json.views.maps.cross};"
        "const state = {view: given.view, layer: 1, heads: [2], pin: null}; const seen = new Set();"
        "const open = [headway.moved(map, state, null, 'ArrowDown')];"
        "while (open.length) { const spot = open.pop(); const name = JSON.stringify(spot);"
        "  if (!seen.has(name)) for (const key of given.keys) open.push(headway.moved(map, state, spot, key));"
        "  seen.add(name); }"
        "[...seen].map((name) => JSON.parse(name))",
        {
            "json": view_json(maps),
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
