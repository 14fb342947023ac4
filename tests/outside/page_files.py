"""Drive the translation page's glossary and files; `browser.py` runs it with a model."""

import re
from pathlib import Path

from watching import Watch, count, take, until

MARKDOWN = "# Dogs\n\nTwo **brown** dogs run through the `snow`.\n"
TABLE = "id,text\n1,Two dogs run.\n"


def use_files(context, origin, shots):
    """The glossary holds for text and files; files are translated, saved, or refused with a reason."""
    watch = Watch(context, origin, ("status of 400", "status of 404", "status of 429"))
    page = context.new_page()
    page.goto(origin)
    until(page, "document.querySelector('#from').options.length > 0")
    page.get_by_text("Glossary").click()
    page.locator("#glossary").fill("dogs = |")
    page.locator("#source").fill("Two dogs run through the snow.")
    until(page, "document.querySelector('#status').textContent.includes('has no target')")
    page.locator("#glossary").fill("")
    until(page, "document.querySelector('#target').textContent.length > 0")
    before = page.locator("#target").inner_text()
    page.locator("#glossary").fill("dogs = Quarkze\nsnow: Pulver\n")
    until(
        page, "document.querySelector('#status').textContent.startsWith('Line 2 of the glossary')"
    )
    page.locator("#glossary").fill("dogs = Quarkze\nsnow\tPulver|Pulverschnee\n# a comment\n")
    until(page, "document.querySelector('#target').textContent.includes('Quarkze')")
    assert page.locator("#target").inner_text() != before
    page.locator("#target .word").first.hover()
    page.wait_for_timeout(500)
    take(page, shots, "glossary")
    count("texts with a glossary")
    saved = translate_file(page, "dogs.md", MARKDOWN)
    assert saved.startswith("# ")
    assert saved.count("**") == 2
    assert "`snow`" in saved
    assert "Quarkze" in saved
    take(page, shots, "file")
    with page.expect_download() as waiting:
        page.locator("#file-quality").click()
    assert waiting.value.suggested_filename == "dogs.de.md.quality.tsv"
    names, *rows = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    column = names.split("\t").index("source")
    texts = {row.split("\t")[column] for row in rows}  # the worst are first
    assert texts == {"Dogs", "Two brown dogs run through the snow."}
    assert re.fullmatch(r"Done\. Quality [01]\.\d\d", page.locator("#file-status").inner_text())
    count("tables of quality saved")
    # A busy server is asked again, and a table that is gone does not keep the file back.
    answers = [("result", 429), ("quality", 404)]

    def refuse(route):
        part, status = answers[0] if answers else ("", 0)
        if not route.request.url.endswith(part) or not part:
            return route.continue_()
        answers.pop(0)
        headers = {"Retry-After": "1"}
        return route.fulfill(status=status, headers=headers, json={"message": "gone"})

    page.route("**/v2/document/**", refuse)
    assert translate_file(page, "dogs.md", MARKDOWN) == saved
    until(page, "document.querySelector('#file-status').textContent === 'gone'")
    assert page.locator("#file-save").is_visible()
    assert page.locator("#file-quality").is_hidden()
    assert answers == []
    page.unroute_all()
    count("files saved in spite of refusals")
    saved = translate_file(page, "dogs.csv", TABLE, columns="text")
    assert saved.startswith("id,text\n1,")
    assert "Quarkze" in saved
    count("files translated on the page", 2)
    for name, content, reason in (
        ("dogs.json", "{", "no JSON"),
        ("dogs.exe", "x", "use one of"),
    ):
        choose(page, name, content)
        until(page, f"document.querySelector('#file-status').textContent.includes('{reason}')")
        assert page.locator("#file-save").is_hidden()
        assert page.locator("#file-quality").is_hidden()
        count("files refused with a reason")
    take(page, shots, "refused")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    take(page, shots, "file-phone")
    page.locator("#file-close").click()
    assert page.locator("#file-panel").is_hidden()
    watch.check(page)


def choose(page, name, content):
    """Choose a file on the page."""
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content.encode()}
    page.locator("#file").set_input_files([file])


def translate_file(page, name, content, columns=""):
    """Return the translation of a file that the page saves."""
    with page.expect_download() as waiting:
        choose(page, name, content)
        if columns:
            page.locator("#columns").fill(columns)
            page.locator("#columns").press("Enter")
    stem, _, suffix = name.partition(".")
    assert waiting.value.suggested_filename == f"{stem}.de.{suffix}"
    return Path(waiting.value.path()).read_text(encoding="utf-8")
