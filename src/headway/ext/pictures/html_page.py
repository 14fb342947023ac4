"""Attention as a web page: one file that works offline. The server uses its script and style, too.

The script is in ``page/``. It draws the layouts of `view_json` and loads nothing.
"""

import base64
import hashlib
import json
from importlib.resources import files

from headway.ext.pictures.maps import AttentionMaps
from headway.ext.pictures.report_page import render_report
from headway.ext.pictures.style import style_json
from headway.ext.pictures.views import view_json

# Each script adds to the object `headway`; later scripts use earlier ones.
_SCRIPTS = ("maps.js", "draw.js", "reading.js", "fragment.js", "attention.js")


def html(maps: AttentionMaps) -> str:
    """Return a page that shows attention and contains its script, style and data.

    The content security policy of the page names script and style by their hashes, so that no text
    in the data can run. It allows no connection.

    Args:
        maps: The maps of one sentence and its translation.
    """
    style = style_sheet() + _read("page.css")
    script = view_script() + _read("file.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    values = {"policy": policy, "style": style, "script": script, "data": _data(maps)}
    return render_report(__package__, "attention.html", title="Attention", **values)


def view_script() -> str:
    """Return the script of the view, which defines ``headway.attention(root, json, options)``.

    The script contains the colors and dashes of `style.py`.
    """
    style = f"globalThis.headway = {{ style: {json.dumps(style_json())} }};\n"
    return style + "".join(_read(name) for name in _SCRIPTS)


def style_sheet() -> str:
    """Return the style sheet of the view, which takes the colors of the page around it."""
    return _read("attention.css")


def _data(maps: AttentionMaps) -> str:
    # ASCII alone keeps broken surrogates; a plain "<" could end the element.
    return json.dumps(view_json(maps), separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files("headway.ext.pictures").joinpath("page", name).read_text(encoding="utf-8")
