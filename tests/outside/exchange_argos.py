"""Compare Argos Translate, on an exported package and without network, with Headway.

    python tests/outside/exchange_argos.py MODEL --argos PYTHON --lines FILE [--count 500]

PYTHON belongs to an environment of its own: ``python -m venv E; E/bin/pip install argos-translate-lt``
(or ``argostranslate``). Argos Translate would download a splitter of sentences; here a line stays whole.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.exchange.exporting import export_model
from headway.translation import Translator, load_model
from support.campaign import Campaign

INSIDE = r"""
import json, socket, sys
tried = []
def deny(*args, **kwargs):
    tried.append(str(args))
    raise OSError("denied")
socket.socket.connect = socket.socket.connect_ex = deny
socket.create_connection = socket.getaddrinfo = deny
import minisbd
class Whole:
    def __init__(self, *args, **kwargs): pass
    def sentences(self, text): return [text]
minisbd.SBDetect = Whole
import argostranslate.package, argostranslate.translate
package, source, target, lines = json.load(sys.stdin)
argostranslate.package.install_from_path(package)
translation = argostranslate.translate.get_translation_from_codes(source, target)
found = [translation.hypotheses(line, 1)[0].value for line in lines]
try:
    from importlib.metadata import version
    name = "argos-translate-lt"
    number = version(name)
except Exception:
    name = "argostranslate"
    number = version(name)
json.dump({"found": found, "tried": tried, "version": f"{name} {number}"}, sys.stdout)
"""


class Argos(Campaign):
    """An exported package in Argos Translate, and its model in Headway."""

    def work(self):
        """Translate the lines by both, and compare."""
        options, package = self.options, self.folder / "package.argosmodel"
        model, translator = load_model(options.model), Translator.load(options.model)
        lines = options.lines.read_text(encoding="utf-8").split("\n")[: options.count]
        export_model(model, "argos", package, verify=False)
        kept = {
            name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ
        }
        home = {"HOME": str(self.folder), "XDG_DATA_HOME": f"{self.folder}/data"}
        home |= {"XDG_CACHE_HOME": f"{self.folder}/cache", "ARGOS_BEAM_SIZE": "1"}
        given = json.dumps([str(package), *model.languages, lines])
        done = subprocess.run(
            [options.argos, "-c", INSIDE], input=given, stdout=subprocess.PIPE, text=True, env=kept | home, check=True
        )  # fmt: skip
        said = json.loads(done.stdout)
        # Argos Translate allows 256 tokens for every translation.
        greedy = replace(
            translator.default_search,
            beam=1,
            precision="fp32",
            max_extra=256,
            split_sentences=False,
        )
        found = translator.translate(lines, greedy)
        for line, text, theirs in zip(lines, found, said["found"], strict=True):
            ours = text.replace("_", " ")
            self.expect(ours == theirs.strip(), f"{line}\n  ours   {ours}\n  theirs {theirs}")
        self.expect(not said["tried"], f"tried to connect: {said['tried']}")
        print(f"{said['version']}: {len(lines)} lines, package of {package.stat().st_size:,} bytes")


if __name__ == "__main__":
    given = {"type": Path, "required": True}
    argos = {"required": True}
    Argos.run(__doc__, {"model": Path, "--argos": argos, "--lines": given, "--count": 500})
