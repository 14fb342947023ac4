"""Checks of the attention view in a browser, run by browser.py: controls, keyboard, file and downloads."""

import base64
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hostile import hostile_texts
from playwright.sync_api import BrowserContext, Page
from watching import FIGURES, Watch, count, take, until

LINES = "els => els.map(e => [+e.dataset.query, +e.dataset.key, +e.dataset.head, +e.getAttribute('stroke-opacity'), e.getAttribute('stroke'), e.getAttribute('stroke-dasharray')])"


def shown_lines(page: Page) -> list[list[Any]]:
    """Return the lines as (query, key, head, opacity, color, dashes)."""
    return page.eval_on_selector_all(".figure line", LINES)


def check_lines(page: Page, found: dict[str, Any], layer: int, heads: list[int]) -> None:
    """Check that every weight has its line, and that the opacity of the line is the weight."""
    size_T, size_S = len(found["queries"]), len(found["keys"])
    weights = base64.b64decode(found["weights"])
    lines = shown_lines(page)
    style = page.evaluate("headway.style")

    def at(head: int, query: int, key: int) -> int:
        return weights[((layer * found["heads"] + head) * size_T + query) * size_S + key]

    wanted = {
        (query, key, head): at(head, query, key) / 255
        for head in heads for query in range(size_T) for key in range(size_S) if at(head, query, key) / 255 >= style["faintest"]
    }  # fmt: skip
    assert {tuple(line[:3]) for line in lines} == set(wanted)
    assert len(lines) == len(wanted)
    worst = max(abs(line[3] - wanted[tuple(line[:3])]) for line in lines)
    assert worst <= 0.01, worst
    assert all(line[4] == style["heads"][line[2]]["color"] for line in lines)
    assert len({line[5] for line in lines}) == len(heads)  # the second cue
    count("lines compared with their weights", len(lines))
    FIGURES["largest error of an opacity"] = max(
        worst, FIGURES.get("largest error of an opacity", 0)
    )


def use_attention(page: Page, maps: dict[str, Any]) -> None:
    """Use every control of the view with the pointer."""
    kind = "cross"
    found = maps["maps"][kind]
    layer = maps["views"]["maps"][kind]["layer"]
    heads = list(range(found["heads"]))
    check_lines(page, found, layer, heads)
    buttons = page.locator(".head")
    buttons.nth(1).click()  # off
    check_lines(page, found, layer, [head for head in heads if head != 1])
    buttons.nth(2).dblclick()
    check_lines(page, found, layer, [2])
    assert buttons.nth(2).get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="All heads").click()
    page.locator("select.layer").select_option("0")
    check_lines(page, found, 0, heads)
    for name, other in (("Decoder", "decoder"), ("Encoder", "encoder")):
        page.get_by_role("radio", name=name, exact=True).check()
        check_lines(page, maps["maps"][other], 0, heads)
    page.get_by_role("radio", name="Encoder–decoder").check()
    page.get_by_role("radio", name="Paper").check()
    check_lines(page, found, 0, heads)
    assert page.locator(".figure text[transform^=rotate]").count() == len(found["queries"]) + len(
        found["keys"]
    )
    # The view of one word has its lines only; a click pins it.
    for view in ("Paper", "Heads"):
        page.get_by_role("radio", name=view).check()
        page.locator(".hit[data-query='3']").hover()
        assert {line[0] for line in shown_lines(page)} == {3}
        page.locator(".hit[data-key='2']").hover()
        assert {line[1] for line in shown_lines(page)} == {2}
        page.mouse.move(1, 1)
        check_lines(page, found, 0, heads)
    page.locator(".hit[data-query='3']").click()
    page.mouse.move(1, 1)
    assert {line[0] for line in shown_lines(page)} == {3}
    assert "pin=q4" in page.url
    page.reload()
    page.wait_for_selector(".figure line", state="attached")
    assert {line[0] for line in shown_lines(page)} == {3}
    assert page.locator("select.layer").input_value() == "0"
    page.locator(".hit[data-query='3']").click()
    page.mouse.move(1, 1)
    check_lines(page, found, 0, heads)
    page.get_by_role("radio", name="Grid").check()
    assert page.locator(".hit").count() == found["layers"] * found["heads"]
    page.locator(".hit[data-layer='1'][data-head='2']").click()
    assert page.get_by_role("radio", name="Heat map").is_checked()
    box = page.locator(".hit").bounding_box()
    assert box
    cell = box["height"] / len(found["queries"])
    page.mouse.move(box["x"] + 4.5 * cell, box["y"] + 2.5 * cell)
    first, second = (found[side][at].strip() for side, at in (("queries", 2), ("keys", 4)))
    assert re.match(
        rf"·?{re.escape(first)} → ·?{re.escape(second)} \d", page.locator(".reading").inner_text()
    )
    assert "layer=2&heads=3" in page.url
    page.get_by_role("radio", name="Alignment").check()
    assert page.locator(".hit[data-query]").count() == len(found["queries"])
    assert page.locator(".hit[data-key]").count() == len(found["keys"])
    page.get_by_label("Whole words").check()
    words = [label for label in found["queries"] if label.startswith(" ")]
    assert page.locator(".hit[data-query]").count() == len(words) + 1
    page.get_by_text("As a table").click()
    page.wait_for_selector(".numbers tbody tr")
    assert page.locator(".numbers tbody tr").count() == len(words) + 1


def use_keyboard(page: Page) -> None:
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
    assert "pin=q2" in page.url
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
    assert "kind=encoder" in page.url
    page.keyboard.press("w")
    assert page.get_by_label("Whole words").is_checked()


def download(page: Page, kind: str) -> bytes:
    """Press a download button and return the file."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {kind}").click()
    return Path(waiting.value.path()).read_bytes()


def use_file(context: BrowserContext, folder: Path, shots: Path | None) -> None:
    """Check the page of one file: every control, the keyboard, the downloads, hostile labels."""
    watch = Watch(context, "file:///")
    page = context.new_page()
    page.goto((folder / "plain.html").as_uri())
    maps = json.loads(page.locator("#data").text_content() or "")
    use_attention(page, maps)
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


def hostile_labels() -> list[str]:
    """Return the hostile texts as labels show them: with visible spaces."""
    return [
        " ".join(text.split(" ")).replace(" ", "␣").replace("\ufeff", "␣")
        for text in hostile_texts()
    ]
