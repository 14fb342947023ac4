"""The docs show the demo's model only sentences like those that it has learned."""

import re
from pathlib import Path

from headway.ext.demo.frames import SLOT, built_in_frames

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "docs" / "walk").glob("*.py"),
    *(ROOT / "src" / "headway").rglob("verbs/*.py"),
]
# A sentence beside the name of the demo's model, in a command or in a few lines of Python.
SENTENCES = re.compile(
    r'picture runs/demo "([^"]+)"|echo "([^"]+)" \| headway translate runs/demo'
    r'|load\("runs/demo"\)\n(?:.*\n)?.*?\.(?:translate|stream)\(\[?"([^"]+)"'
    r"|'q=([^']+)' -d source=en -d target=de"
)
EXAMPLES = sorted(
    {
        (str(file.relative_to(ROOT)), next(filter(None, groups)))
        for file in FILES
        for groups in SENTENCES.findall(file.read_text(encoding="utf-8"))
    }
)


def pattern_of(sentence):
    """Return a pattern of all that a frame's sentence can become; what a rule fills may be anything."""
    tables = built_in_frames().tables
    pattern, end = "", 0
    for slot in SLOT.finditer(sentence):
        forms = [word["en"] for word in tables.get(slot["name"], {}).values()]
        texts = {t for form in forms for t in ([form] if isinstance(form, str) else form.values())}
        pattern += re.escape(sentence[end : slot.start()])
        pattern += f"({'|'.join(map(re.escape, texts)) or '.+'})"
        end = slot.end()
    return pattern + re.escape(sentence[end:])


def test_every_example_is_a_sentence_of_the_corpus():
    files = {file for file, _ in EXAMPLES}
    assert {"README.md", "docs/serving.md", "docs/library.md", "docs/pictures.md"} <= files
    frames = built_in_frames().sentences.values()
    pattern = re.compile("|".join(pattern_of(texts["en"]) for texts in frames))
    assert not [example for example in EXAMPLES if not pattern.fullmatch(example[1])]
