"""Generated office files and books, and their translations, in the programs of others; print figures.

    python tests/outside/office_programs.py [--count 20] [--python PYTHON] [--soffice SOFFICE] [--epubcheck COMMAND]
        [--xliff FOLDER]

A translator writes every text in capitals. LibreOffice, and the libraries that PYTHON has (python-docx, python-pptx,
openpyxl, odfpy, EbookLib), must find the same words in a file and in its translation, but for capitals. epubcheck must
find no error. Translation files must be valid by the schemas of OASIS in FOLDER (xliff-core-1.2-transitional.xsd and
xliff-core-2.0.xsd beside an xml.xsd), which PYTHON's lxml reads, before they are translated and after. A program that is not given is left out.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from support.campaign import Campaign
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


class Programs(Campaign):
    """Files and their translations, in the programs that are given."""

    def work(self) -> None:
        """Check ``--count`` files of each format."""
        count = self.options.count
        self.names = [f"{seed}{suffix}" for suffix in OFFICE_MAKERS for seed in range(count)]
        for part in ("a", "b"):
            (self.folder / part).mkdir()
        for name in self.names:
            stem, _, suffix = name.partition(".")
            self.write(name, make_file(f".{suffix}", int(stem)))
        for program in ("python", "soffice", "epubcheck", "xliff"):
            if getattr(self.options, program):
                getattr(self, f"ask_{program}")()

    def write(self, name: str, data: bytes) -> list[Path]:
        """Write a file into the directory ``a``, and its translation into ``b``."""
        files = [self.folder / part / name for part in ("a", "b")]
        for file, content in zip(files, (data, capitalize(data, name)), strict=True):
            file.write_bytes(content)
        return files

    def compare_words(self, program: str, names: list[str], texts: dict[str, list[str]]) -> None:
        """Find the files that have lost or gained words, apart from capitals, when they were translated."""
        self.counts[f"files, {program}"] += len(names)
        for name in names:
            before, after = (
                Counter(texts.get(f"{part}/{name}", ["nothing"])) for part in ("a", "b")
            )
            difference = f"{name}: {dict(before - after)} {dict(after - before)}"[:300]
            self.expect(before == after, difference)

    def ask_python(self) -> None:
        """Read the files by libraries."""
        paths = [str(self.folder / part / name) for part in ("a", "b") for name in self.names]
        done = ask(self.options.python, "-W", "ignore", "-c", LIBRARIES, given=json.dumps(paths))
        self.expect(done.returncode == 0, done.stderr[-500:])
        found = json.loads(done.stdout or "{}").items()
        texts = {  # libraries count spaces that OpenDocument does not
            str(Path(key).relative_to(self.folder)): ["".join(split_words(value))]
            for key, value in found
        }
        self.compare_words("libraries", self.names, texts)

    def ask_soffice(self) -> None:
        """Convert the files by LibreOffice."""
        profile = f"-env:UserInstallation=file://{self.folder}/profile"
        for suffix, kind in FLAT.items():
            own = [name for name in self.names if name.endswith(suffix)]
            texts = {}
            for part in ("a", "b"):
                out = self.folder / "flat" / part / suffix
                files = [str(self.folder / part / name) for name in own]
                ask(self.options.soffice, profile, "--headless", "--convert-to", kind, "--outdir", str(out), *files)  # fmt: skip
                for path in out.glob(f"*.{kind}"):
                    texts[f"{part}/{path.stem}{suffix}"] = read_flat(path)
            self.compare_words(f"soffice {suffix}", own, texts)

    def ask_epubcheck(self) -> None:
        """Check the translated books."""
        for name in self.names:
            if name.endswith(".epub"):
                done = ask(*self.options.epubcheck.split(), str(self.folder / "b" / name))
                said = done.stdout + done.stderr
                self.counts["books"] += 1
                self.expect("0 fatals / 0 errors" in said, f"{name}: {said[-300:]}")

    def ask_xliff(self) -> None:
        """Validate translation files by the schemas."""
        files = []
        for seed in range(10 * self.options.count):
            files += self.write(f"{seed}.xlf", make_file(".xlf", seed))
        schemas = str(Path(self.options.xliff).absolute())
        done = ask(self.options.python, "-c", SCHEMAS, schemas, *map(str, files))
        self.counts["files of XLIFF"] += len(files)
        self.expect(done.returncode == 0, done.stderr[-500:])
        for line in done.stdout.splitlines():
            self.expect(False, line)


def ask(*command: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a program, and return what it says."""
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    programs = dict.fromkeys(("--python", "--soffice", "--epubcheck", "--xliff"), "")
    Programs.run(__doc__, {"--count": 20, **programs})
