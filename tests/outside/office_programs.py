"""Generated office files and books, and their translations, in the programs of others; print figures.

    python tests/outside/office_programs.py [--count 20] [--python PYTHON] [--soffice SOFFICE] [--epubcheck COMMAND]
        [--xliff FOLDER]

A translator writes every text in capitals. LibreOffice, and the libraries that PYTHON has (python-docx, python-pptx,
openpyxl, odfpy, EbookLib), must find the same words in a file and in its translation, but for capitals. epubcheck must
find no error. Translation files must be valid by the schemas of OASIS in FOLDER (xliff-core-1.2-transitional.xsd and
xliff-core-2.0.xsd beside an xml.xsd), which PYTHON's lxml reads, before they are translated and after. A program that is not given is left out. The exit code is 1 if one of them disagrees.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from support.documents import make_file, translate
from support.office_files import OFFICE_MAKERS

FLAT = {".docx": "fodt", ".odt": "fodt", ".pptx": "fodp", ".odp": "fodp", ".xlsx": "fods", ".ods": "fods"}  # fmt: skip
HIDDEN = {"binary-data", "settings", "meta", "scripts", "font-face-decls", "styles"}
LIBRARIES = """
import json, sys, docx, openpyxl, pptx
from odf import teletype, text
from odf.opendocument import load
from ebooklib import ITEM_DOCUMENT, epub
found = {}
for name in json.load(sys.stdin):
    kind = name.rpartition(".")[2]
    if kind == "docx":
        found[name] = "\\n".join(p.text for p in docx.Document(name).paragraphs)
    elif kind == "pptx":
        found[name] = "\\n".join(s.text_frame.text for x in pptx.Presentation(name).slides for s in x.shapes if s.has_text_frame)
    elif kind == "xlsx":
        sheet = openpyxl.load_workbook(name).active
        found[name] = "\\n".join(str(cell.value) for row in sheet.iter_rows() for cell in row)
    elif kind == "epub":
        book = epub.read_epub(name)
        found[name] = "\\n".join(i.get_content().decode() for i in book.get_items_of_type(ITEM_DOCUMENT))
    else:
        found[name] = "\\n".join(teletype.extractText(p) for p in load(name).getElementsByType(text.P))
json.dump(found, sys.stdout)
"""


def capitalize(data: bytes, name: str) -> bytes:
    """Return a document with its text in capitals."""
    document = open_document(data, name, DocumentOptions("en", "de"))
    return document.write([translate(paragraph, _upper) for paragraph in document.paragraphs])


def _upper(text: str) -> str:
    """Return a text in capitals in which every word stands where it stood: ß stays."""
    return "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in text)


SCHEMAS = """
import re, sys
from lxml import etree
folder, *files = sys.argv[1:]
def read(name):  # some copies of the schemas name the one of xml: by an address
    text = open(folder + "/" + name).read()
    text = re.sub('schemaLocation=[^ >]*xml.xsd.', 'schemaLocation="xml.xsd"', text)
    return etree.XMLSchema(etree.fromstring(text.encode(), base_url=folder + "/" + name))
schemas = {"1": read("xliff-core-1.2-transitional.xsd"), "2": read("xliff-core-2.0.xsd")}
for file in files:
    root = etree.parse(file).getroot()
    schema = schemas[root.get("version")[0]]
    if not schema.validate(root):
        print(file, schema.error_log[0].message)
"""


def read_flat(path: Path) -> list[str]:
    """Return the words of a flat OpenDocument file."""

    def walk(element: ElementTree.Element) -> str:
        if element.tag.rpartition("}")[2] in HIDDEN:
            return ""
        inside = "".join(walk(child) + (child.tail or "") for child in element)
        return f"{element.text or ''}{inside}"

    return split_words(walk(ElementTree.parse(path).getroot()))


def split_words(text: str) -> list[str]:
    """Return the words in capitals, with plain hyphens."""
    return text.replace("\u2011", "-").replace("\u00ad", "").upper().split()


def differ(names: list[str], texts: dict[str, list[str]]) -> list[str]:
    """Return the files that have lost or gained words, apart from capitals, when they were translated."""
    broken = []
    for name in names:
        before, after = (Counter(texts.get(f"{part}/{name}", ["nothing"])) for part in ("a", "b"))
        if before != after:
            broken.append(f"{name}: {dict(before - after)} {dict(after - before)}"[:300])
    return broken


def main() -> int:
    """Check ``--count`` files of each format."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--python")
    parser.add_argument("--soffice")
    parser.add_argument("--epubcheck")
    parser.add_argument("--xliff", type=Path)
    args = parser.parse_args()
    failed = 0

    def report(program: str, count: int, broken: list[str]) -> None:
        nonlocal failed
        failed += len(broken)
        print(f"{program:<12} {count:>5} files, {len(broken)} broken", flush=True)
        print("".join(f"  {line}\n" for line in broken[:10]), end="")

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        names = [f"{seed}{suffix}" for suffix in OFFICE_MAKERS for seed in range(args.count)]
        for part in ("a", "b"):
            (work / part).mkdir()
        for name in names:
            stem, _, suffix = name.partition(".")
            data = make_file(f".{suffix}", int(stem))
            (work / "a" / name).write_bytes(data)
            (work / "b" / name).write_bytes(capitalize(data, name))
        if args.python:
            paths = [str(work / part / name) for part in ("a", "b") for name in names]
            done = subprocess.run([args.python, "-W", "ignore", "-c", LIBRARIES], input=json.dumps(paths), capture_output=True,
                                  text=True, check=False)  # fmt: skip
            found = json.loads(done.stdout) if done.returncode == 0 else {}
            texts = {  # libraries count spaces that OpenDocument does not
                str(Path(key).relative_to(work)): ["".join(split_words(value))]
                for key, value in found.items()
            }
            report(
                "libraries", len(names), differ(names, texts) or [done.stderr[-500:]][: not found]
            )
        if args.soffice:
            for suffix, kind in FLAT.items():
                own = [name for name in names if name.endswith(suffix)]
                texts = {}
                for part in ("a", "b"):
                    out = work / "flat" / part / suffix
                    command = [args.soffice, f"-env:UserInstallation=file://{work}/profile", "--headless", "--convert-to", kind,
                               "--outdir", str(out), *(str(work / part / name) for name in own)]  # fmt: skip
                    subprocess.run(command, capture_output=True, check=False)
                    for path in out.glob(f"*.{kind}"):
                        texts[f"{part}/{path.stem}{suffix}"] = read_flat(path)
                report(f"soffice {suffix}", len(own), differ(own, texts))
        if args.epubcheck:
            broken = []
            books = [name for name in names if name.endswith(".epub")]
            for name in books:
                done = subprocess.run([*args.epubcheck.split(), str(work / "b" / name)], capture_output=True, text=True,
                                      check=False)  # fmt: skip
                if "0 fatals / 0 errors" not in done.stdout + done.stderr:
                    broken.append(f"{name}: {(done.stdout + done.stderr)[-300:]}")
            report("epubcheck", len(books), broken)
        if args.xliff and args.python:
            files = []
            for seed in range(10 * args.count):
                data = make_file(".xlf", seed)
                for part, content in (("a", data), ("b", capitalize(data, "x.xlf"))):
                    files.append(work / part / f"{seed}.xlf")
                    files[-1].write_bytes(content)
            done = subprocess.run(
                [args.python, "-c", SCHEMAS, str(args.xliff.absolute()), *map(str, files)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            wrong = done.stdout.splitlines() if done.returncode == 0 else [done.stderr[-500:]]
            report("XLIFF", len(files), wrong)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
