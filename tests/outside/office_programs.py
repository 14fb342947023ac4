"""Generated office files and books, and their translations, in the programs of others; print figures.

    python tests/outside/office_programs.py [--count 20] [--python PYTHON] [--soffice SOFFICE] [--epubcheck COMMAND]
        [--xliff FOLDER]

A translator writes every text in capitals, or another one, with which spreadsheets must compute the same numbers in LibreOffice. LibreOffice, and the libraries that PYTHON has (python-docx, python-pptx,
openpyxl, odfpy, EbookLib), must find the same words in a file and in its translation, but for capitals. epubcheck must
find no error. Translation files must be valid by the schemas of OASIS in FOLDER (xliff-core-1.2-transitional.xsd and
xliff-core-2.0.xsd beside an xml.xsd), which PYTHON's lxml reads, before they are translated and after. A program that is not given is left out.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from html import escape
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from support.campaign import Campaign
from support.documents import make_file, translate
from support.office_files import OFFICE_MAKERS
from support.office_packages import OFFICE, SPREADSHEET, write_office_package

SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
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


def capitalize(data, name):
    """Return a document with its text in capitals."""
    document = open_document(data, name, DocumentOptions("en", "de"))
    return document.write([translate(paragraph, _upper) for paragraph in document.paragraphs])


def _upper(text):
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


def read_flat(path):
    """Return the words of a flat OpenDocument file."""

    def walk(element):
        if element.tag.rpartition("}")[2] in HIDDEN:
            return ""
        inside = "".join(walk(child) + (child.tail or "") for child in element)
        return f"{element.text or ''}{inside}"

    return split_words(walk(ElementTree.parse(path).getroot()))


def split_words(text):
    """Return the words in capitals, with plain hyphens."""
    return text.replace("\u2011", "-").replace("\u00ad", "").upper().split()


def make_counts(chooser):
    """Return a spreadsheet with texts, numbers and formulas that count and find texts, one in each row."""
    texts = chooser.choices(
        ["Yes", "yes", "No", "Yes, sir", "dog", "a dog", "hot dog", "done", "qbar", "Lrf"], k=12
    )
    formulas = [
        'COUNTIF(A$1:A$12,"Yes")', 'COUNTIF(A$1:A$12,"*dog*")', "COUNTIF(A$1:A$12,A{0})", 'SUMIF(A$1:A$12,"<>No",B$1:B$12)',
        "VLOOKUP(A{0},A$1:B$12,2,FALSE())", "MATCH(A{0},A$1:A$12,0)", 'IF(A{0}="done",B{0},0)', 'IF(ISNUMBER(SEARCH("dog",A{0})),1,0)',
        'SUMPRODUCT((A$1:A$12="Yes, sir")*B$1:B$12)', 'IF(EXACT(A{0},"Yes"),1,2)', 'COUNTIFS(A$1:A$12,"yes*",B$1:B$12,">3")',
        'IF(LEFT(A{0},3)="hot",1,0)',
    ]  # fmt: skip
    chooser.shuffle(formulas)
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>{n - 1}</v></c><c r="B{n}"><v>{chooser.randrange(9)}</v></c>'
        f'<c r="C{n}"><f>{escape(formula.format(n))}</f></c></row>'
        for n, formula in enumerate(formulas, 1)
    )
    names = f'xmlns="{SHEETS}" xmlns:r="{OFFICE}/relationships"'
    parts = [
        ("workbook", "sheet.main", f'<workbook {names}><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'),
        ("worksheets/sheet1", "worksheet", f"<worksheet {names}><sheetData>{rows}</sheetData></worksheet>"),
        ("sharedStrings", "sharedStrings", f"<sst {names}>{''.join(f'<si><t>{text}</t></si>' for text in texts)}</sst>"),
    ]  # fmt: skip
    return write_office_package(
        "xl/workbook.xml",
        [(f"xl/{name}.xml", f"{SPREADSHEET}.{kind}", content) for name, kind, content in parts],
        {"xl/workbook.xml": [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")]},
    )  # fmt: skip


class Programs(Campaign):
    """Files and their translations, in the programs that are given."""

    def work(self):
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

    def write(self, name, data):
        """Write a file into the directory ``a``, and its translation into ``b``."""
        files = [self.folder / part / name for part in ("a", "b")]
        for file, content in zip(files, (data, capitalize(data, name)), strict=True):
            file.write_bytes(content)
        return files

    def compare_words(self, program, names, texts):
        """Find the files that have lost or gained words, apart from capitals, when they were translated."""
        self.counts[f"files, {program}"] += len(names)
        for name in names:
            before, after = (
                Counter(texts.get(f"{part}/{name}", ["nothing"])) for part in ("a", "b")
            )
            difference = f"{name}: {dict(before - after)} {dict(after - before)}"[:300]
            self.expect(before == after, difference)

    def ask_python(self):
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

    def ask_soffice(self):
        """Convert the files by LibreOffice, and compute spreadsheets."""
        self.compute()
        for suffix, kind in FLAT.items():
            own = [name for name in self.names if name.endswith(suffix)]
            texts = {}
            for part in ("a", "b"):
                out = self.folder / "flat" / part / suffix
                files = [str(self.folder / part / name) for name in own]
                self.convert(kind, out, *files)
                for path in out.glob(f"*.{kind}"):
                    texts[f"{part}/{path.stem}{suffix}"] = read_flat(path)
            self.compare_words(f"soffice {suffix}", own, texts)

    def compute(self):
        """Let LibreOffice compute spreadsheets and their translations."""
        names = []
        for seed in range(self.options.count):
            (self.folder / f"{seed}.xlsx").write_bytes(make_counts(random.Random(seed)))
            names.append(str(self.folder / f"{seed}.xlsx"))
        self.convert("ods", self.folder, *names)
        for path in [*self.folder.glob("*.xlsx"), *self.folder.glob("*.ods")]:
            document = open_document(path.read_bytes(), path.name, DocumentOptions("en", "de"))
            written = document.write([translate(paragraph) for paragraph in document.paragraphs])
            path.with_stem(f"{path.stem}-new").write_bytes(written)
        for suffix in ("xlsx", "ods"):
            self.convert("csv", self.folder / suffix, *map(str, self.folder.glob(f"*.{suffix}")))
            for seed in range(self.options.count):
                before, after = (
                    [line.rpartition(",")[2] for line in path.read_text().splitlines()]
                    for path in (self.folder / suffix / f"{seed}{end}.csv" for end in ("", "-new"))
                )
                self.counts[f"computed .{suffix}"] += len(before)
                self.expect(before == after, f"{seed}.{suffix}: {before} {after}"[:300])

    def convert(self, kind, out, *files):
        """Convert files by LibreOffice."""
        profile = f"-env:UserInstallation=file://{self.folder}/profile"
        ask(self.options.soffice, profile, "--headless", "--convert-to", kind, "--outdir", str(out), *files)  # fmt: skip

    def ask_epubcheck(self):
        """Check the translated books."""
        for name in self.names:
            if name.endswith(".epub"):
                done = ask(*self.options.epubcheck.split(), str(self.folder / "b" / name))
                said = done.stdout + done.stderr
                self.counts["books"] += 1
                self.expect("0 fatals / 0 errors" in said, f"{name}: {said[-300:]}")

    def ask_xliff(self):
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


def ask(*command, given=""):
    """Run a program, and return what it says."""
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    programs = dict.fromkeys(("--python", "--soffice", "--epubcheck", "--xliff"), "")
    Programs.run(__doc__, {"--count": 20, **programs})
