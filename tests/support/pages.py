"""The parts of a web page, and its scripts in Node."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "headway"
PICTURE_SCRIPTS = SOURCE / "ext" / "pictures" / "page"
SERVER_SCRIPTS = SOURCE / "ext" / "server" / "page"


class Page(HTMLParser):
    """The elements of a page with their attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        self.elements.append(("", {}, ""))  # what follows is not the element's text

    def handle_data(self, data):
        if self.elements:
            tag, attributes, text = self.elements[-1]
            self.elements[-1] = tag, attributes, text + data

    def named(self, tag):
        return [(attributes, text) for name, attributes, text in self.elements if name == tag]


def foreign_addresses(text):
    """Return the servers that a text names, but for the name of SVG, which is never requested."""
    return set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)) - {"http://www.w3.org"}


def run_in_node(program):
    """Run a program in Node, or skip the test without Node; return the JSON that it prints."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    answer = subprocess.run(
        [node, "-"], input=program, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return json.loads(answer.stdout)


def evaluate(scripts, expression, given):
    """Return the value of a JavaScript expression, in which `given` is a JSON value."""
    code = "".join(path.read_text(encoding="utf-8") for path in scripts)
    return run_in_node(
        f"{code}\nconst given = {json.dumps(given)};\nconst found = eval({json.dumps(expression)});\n"
        "console.log(JSON.stringify(found));"
    )
