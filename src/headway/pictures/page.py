"""Attention as a web page: one file that works offline, and the script that the server shows too.

The view draws SVG by a script of our own, which is kept in ``page/`` and never fetched from anywhere.
"""

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path

from headway.errors import HeadwayError
from headway.pictures.maps import AttentionMaps

# Each adds to the one name `headway`; later ones use what earlier ones added.
_SCRIPTS = (
    "maps.js",
    "writers.js",
    "scenes.js",
    "reading.js",
    "fragment.js",
    "attention.js",
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attention</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1 id="source" dir="auto">Attention</h1>
<p id="target" dir="auto"></p>
<div id="view"><noscript>This picture is drawn by a script: allow scripts to see it.</noscript></div>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def html(maps: AttentionMaps) -> str:
    """Return a page that shows attention and needs nothing else: script, style and data are in it.

    Its content security policy names script and style by their hashes, so that no text in the data
    can run, and allows no connection.

    Args:
        maps: Of one sentence and its translation.
    """
    style = style_sheet() + _read("page.css")
    script = view_script() + _read("file.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(policy=policy, style=style, script=script, data=_data(maps))


def write_html(path: str | Path, maps: AttentionMaps) -> None:
    """Write the page that `html` makes.

    Raises:
        HeadwayError: If the file cannot be written.
    """
    try:
        Path(path).write_text(html(maps), encoding="utf-8", newline="\n")
    except OSError as error:
        raise HeadwayError(f"{path}: cannot be written: {error.strerror or error}") from None


def view_script() -> str:
    """Return the script of the view: it adds ``headway.attention(root, json, options)``."""
    return "".join(_read(name) for name in _SCRIPTS)


def style_sheet() -> str:
    """Return the style of the view, which takes the colours of the page around it."""
    return _read("attention.css")


def _data(maps: AttentionMaps) -> str:
    # All but ASCII is escaped, so that broken surrogates stay data; "<" could end the element.
    return json.dumps(maps.to_json(), separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files("headway.pictures").joinpath("page", name).read_text(encoding="utf-8")
