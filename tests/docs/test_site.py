"""The site: its reference is complete, its pages look as on a code host, and no link is dead."""

import importlib
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import lxml.html
import pytest
from markdown_it import MarkdownIt

import headway
from headway.cli.arguments import make_parser
from headway.cli.verbs import list_verbs, load_verb
from headway.config import setting_types
from headway.config.sections import SECTIONS
from headway.extension import collect
from support.documentation import PAGES, ROOT

LONGEST = 160  # characters of a cell
# What a page consists of. Material wraps code and headings in tags of its own.
PARTS = ("h1", "h2", "h3", "h4", "li", "table", "tr", "td", "pre", "img", "strong", "blockquote")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with the pages from which the site is built."""
    target = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "website"))
        importlib.import_module("stage").stage(target)
    return target


@pytest.fixture(scope="module")
def staged(folder):
    """The text of each page of the site, by its path."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.md")
    }


def test_the_reference_has_every_verb_with_its_options(staged):
    sections = staged["docs/reference/command-line.md"].split("\n### headway ")
    assert [section.split()[0] for section in sections[1:]] == list(list_verbs())
    for verb, section in zip(list_verbs(), sections[1:], strict=True):
        parser = make_parser(verb, load_verb(verb))
        names = [o for a in parser._actions for o in a.option_strings if o not in ("-h", "--help")]
        assert [name for name in names if not re.search(rf"^\| `{name}[ `]", section, re.M)] == []


def test_the_reference_has_every_public_name_and_every_setting(staged):
    named = re.findall(r"^::: headway\.(\w+)$", staged["docs/reference/library.md"], re.MULTILINE)
    assert sorted(named) == sorted(headway.__all__)
    settings = staged["docs/reference/settings.md"]
    for name in setting_types((*SECTIONS, *collect("sections"))):
        section, setting = name.split(".")
        assert re.search(rf"^{setting} += ", settings.split(f"\n## {section}\n")[1], re.MULTILINE)


def test_the_notebook_is_a_page_with_its_code_and_plots(staged, folder):
    page = staged["docs/walk.md"]
    source = (ROOT / "docs" / "walk.py").read_text(encoding="utf-8")
    code = [line for line in source.splitlines() if line and line[:1] != "#"]
    shown = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)).splitlines()
    assert [line for line in code if line not in shown] == []
    plots = re.findall(r"!\[[^\]]*\]\(([^)]*output_[^)]*)\)", page)
    assert len(plots) == source.count("plt.show()") + source.count("\nshow(") - 1
    assert all((folder / "docs" / plot).is_file() for plot in plots)


def test_no_row_stands_outside_of_its_table_and_cells_are_short():
    parser = MarkdownIt().enable("table")
    for page in PAGES:
        tokens = parser.parse((ROOT / page).read_text(encoding="utf-8"))
        assert [
            t.content for t in tokens if t.type == "inline" and t.content.startswith("|")
        ] == [], page
        cells = [t.content for before, t in pairwise(tokens) if before.type == "td_open"]
        assert [cell for cell in cells if len(cell) > LONGEST] == [], page


def outline(html):
    """Count the parts of a page, and each text that is code in a sentence or a table."""
    tree = lxml.html.fromstring(f"<div>{html}</div>")
    parts = Counter(each.tag for each in tree.iter() if each.tag in PARTS)
    code = (
        each for each in tree.iter("code") if not any(a.tag == "pre" for a in each.iterancestors())
    )
    return parts + Counter(f"code {' '.join(each.text_content().split())}" for each in code)


def test_the_site_is_built_and_pages_look_as_on_a_code_host(folder, staged, tmp_path):
    site = tmp_path / "site"
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("build/pages", str(folder)).replace("build/site", str(site))
    text = text.replace("paths: [src]", f"paths: [{ROOT / 'src'}]")
    (tmp_path / "mkdocs.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"],  # with --quiet, it counts no warnings
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # strict: a dead link or anchor is an error
    for name in headway.__all__:
        reference = (site / "docs" / "reference" / "library.html").read_text(encoding="utf-8")
        assert f'id="headway.{name}"' in reference
    problems = []
    for name, page in staged.items():
        if name == "docs/reference/library.md":
            continue
        path = (site / name.replace("README.md", "index.html")).with_suffix(".html")
        html = path.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|link|img)[^>]* (?:src|href)="?(?:https?:)?//', html)
        shown = outline(html.split("<article")[1].split("</article>")[0])
        source = ROOT / name
        text = source.read_text(encoding="utf-8") if source.is_file() else page
        written = outline(MarkdownIt().enable("table").render(text))
        if shown != written:
            problems.append(f"{name}: {written - shown}, but {shown - written}")
    assert not problems, "\n".join(problems)
