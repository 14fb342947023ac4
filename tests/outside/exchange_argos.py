"""Compare Argos Translate, on an exported package and without network, with Headway.

    python tests/outside/exchange_argos.py MODEL --argos PYTHON --lines FILE [--count 500]

PYTHON belongs to an environment of its own: ``python -m venv E; E/bin/pip install argos-translate-lt``
(or ``argostranslate``). Argos Translate would download a splitter of sentences; here a line stays whole.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

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


def main() -> int:
    """Print the comparison; return 1 if anything differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--argos", required=True)
    parser.add_argument("--lines", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    args = parser.parse_args()

    from headway.ext.exchange.exporting import export_model
    from headway.translation import Translator, load_model

    model = load_model(args.model)
    lines = args.lines.read_text(encoding="utf-8").split("\n")[: args.count]
    with tempfile.TemporaryDirectory() as place:
        package = Path(place) / "package.argosmodel"
        made = export_model(model, "argos", package, verify=False)
        environment = {
            **{
                name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ
            },
            "HOME": place,
            "XDG_DATA_HOME": f"{place}/data",
            "XDG_CACHE_HOME": f"{place}/cache",
            "ARGOS_BEAM_SIZE": "1",
        }
        done = subprocess.run(
            [args.argos, "-c", INSIDE],
            input=json.dumps([str(made.path), *model.languages, lines]),
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        size = package.stat().st_size
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return 1
    said = json.loads(done.stdout)
    translator = Translator.load(args.model)
    # Argos Translate allows 256 tokens for every translation.
    greedy = replace(
        translator.default_search, beam=1, precision="fp32", max_extra=256, split_sentences=False
    )
    same = 0
    for line, text, theirs in zip(
        lines, translator.translate(lines, greedy), said["found"], strict=True
    ):
        ours = text.replace("_", " ")
        same += ours == theirs.strip()
        if ours != theirs.strip():
            print(f"{line}\n  ours   {ours}\n  theirs {theirs}", file=sys.stderr)
    print(
        f"{said['version']}: {same} of {len(lines)} lines the same,"
        f" {len(said['tried'])} network attempts, package of {size:,} bytes"
    )
    return int(same != len(lines) or bool(said["tried"]))


if __name__ == "__main__":
    sys.exit(main())
