"""Checks of the attention view in a browser, run by browser.py: controls, keyboard, file and downloads."""

import json
from pathlib import Path
from xml.etree import ElementTree

from hostile import hostile_texts
from watching import Watch, count, take, until

LINES = "els => els.map(e => [+e.dataset.query, +e.dataset.key, +e.dataset.head, +e.getAttribute('stroke-opacity'), e.getAttribute('stroke'), e.getAttribute('stroke-dasharray')])"


def shown_lines(page):
    """Return the lines as (query, key, head, opacity, color, dashes)."""
    return page.eval_on_selector_all(".figure line", LINES)


def use_attention(page):
    """Use the controls of the view with the pointer; what it draws is compared in ``test_page_drawing.py``."""
    for kind in ("Decoder", "Encoder", "Encoder–decoder"):
        page.get_by_role("radio", name=kind, exact=True).check()
        for view in ("Paper", "Grid", "Alignment", "Heads"):
            page.get_by_role("radio", name=view).check()
            until(page, "document.querySelectorAll('.figure .hit').length > 0")
            count("views shown")
    page.locator(".head").nth(2).dblclick()
    assert {line[2] for line in shown_lines(page)} == {2}
    page.get_by_role("button", name="All heads").click()
    page.locator("select.layer").select_option("0")
    page.locator(".hit[data-query='3']").hover()
    assert {line[0] for line in shown_lines(page)} == {3}
    page.locator(".hit[data-query='3']").click()
    page.mouse.move(1, 1)
    page.wait_for_function("location.hash.includes('pin=q4')")
    page.reload()
    page.wait_for_selector(".figure line", state="attached")
    assert {line[0] for line in shown_lines(page)} == {3}
    assert page.locator("select.layer").input_value() == "0"
    page.locator(".hit[data-query='3']").click()
    page.get_by_text("As a table").click()
    page.wait_for_selector(".numbers tbody tr")


def use_keyboard(page):
    """Use the view with the keyboard alone."""
    page.evaluate("location.hash = 'kind=cross&view=heads'")
    page.locator(".figure").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert {line[0] for line in shown_lines(page)} == {1}
    assert page.locator(".reading").inner_text().count("→") == 1
    page.keyboard.press("ArrowRight")
    assert {line[1] for line in shown_lines(page)} == {1}
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('pin=q2')")
    page.keyboard.press("Shift+Digit2")
    assert {line[2] for line in shown_lines(page)} == {1}
    page.keyboard.press("0")
    page.keyboard.press("1")
    assert 0 not in {line[2] for line in shown_lines(page)}
    page.keyboard.press("Escape")
    assert len({line[0] for line in shown_lines(page)}) > 1
    before = page.locator("select.layer").input_value()
    page.keyboard.press("l")
    assert page.locator("select.layer").input_value() != before
    seen = set()
    for _ in range(5):
        page.keyboard.press("v")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        seen.add(page.evaluate("new URLSearchParams(location.hash.slice(1)).get('view')"))
    assert len(seen) == 5
    page.keyboard.press("k")
    page.wait_for_function("location.hash.includes('kind=encoder')")
    page.keyboard.press("w")
    assert page.get_by_label("Whole words").is_checked()


def download(page, kind):
    """Press a download button and return the file."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {kind}").click()
    return Path(waiting.value.path()).read_bytes()


def use_file(context, folder, shots):
    """Check the page of one file: every control, the keyboard, the downloads, hostile labels."""
    watch = Watch(context, "file:///")
    page = context.new_page()
    page.goto((folder / "plain.html").as_uri())
    maps = json.loads(page.locator("#data").text_content() or "")
    use_attention(page)
    use_keyboard(page)
    page.evaluate("location.hash = 'kind=cross&view=heads&layer=2'")
    until(page, "document.querySelectorAll('.figure line').length > 0")
    drawn = shown_lines(page)
    picture = ElementTree.fromstring(download(page, "SVG"))
    lines = [e for e in picture if e.tag.endswith("line")]
    assert [float(e.attrib["stroke-opacity"]) for e in lines] == [line[3] for line in drawn]
    assert download(page, "PNG").startswith(b"\x89PNG")
    assert json.loads(download(page, "JSON")) == maps
    take(page, shots, "file")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    watch.check(page)
    page.goto((folder / "hostile.html").as_uri())
    page.get_by_text("As a table").click()
    page.wait_for_selector(".numbers tbody tr")
    labels = page.locator(".numbers tbody th").all_text_contents()
    assert labels == [" ".join([text]) for text in hostile_labels()]
    for view in ("paper", "grid", "alignment", "heads"):
        page.evaluate(f"location.hash = 'view={view}'")
        page.wait_for_timeout(200)
    assert len(ElementTree.fromstring(download(page, "SVG"))) > 500
    for nonsense in (
        "kind=__proto__&view=constructor",
        "layer=1e99&heads=-1.x.99&pin=q999",
        "pin=k0&words=<b>",
    ):
        page.evaluate("hash => { location.hash = hash; }", nonsense)
        until(page, "document.querySelectorAll('.figure .hit').length > 0")
    strangers = "img,iframe,video,audio,object,embed,form,math,link:not([rel=icon]),base,marquee,foreignObject,animate,set"
    assert page.locator(strangers).count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == f"Attention: {hostile_texts()[0]}"
    count("hostile labels shown as text", len(labels))
    watch.check(page)


def hostile_labels():
    """Return the hostile texts as labels show them: with visible spaces."""
    return [
        " ".join(text.split(" ")).replace(" ", "␣").replace("\ufeff", "␣")
        for text in hostile_texts()
    ]
