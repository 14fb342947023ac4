"""Drive a real browser over the translation page and over the attention page's file.

    python -m venv build/pages && build/pages/bin/pip install playwright==1.65.2   (and apt-get install chromium)
    build/pages/bin/python tests/outside/browser.py [--model runs/mine] [--shots FOLDER]

Without a model, page_server.py answers: hostile text then comes back as a translation, a label and
an error message. With one, `headway serve` does, and what needs made-up answers is left out. Prints
figures; exits with 1 if a promise was broken.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention_view import download, shown_lines, use_file, use_keyboard
from hostile import hostile_texts
from page_files import use_files
from playwright.sync_api import Browser, sync_playwright
from watching import FIGURES, Watch, count, take, until

from support.proxies import free_port, serving

HERE = Path(__file__).parent


def write(page, text):
    """Put a text into the box and return its translation when it is there."""
    with page.expect_response(
        lambda reply: reply.url.endswith("/translate") and reply.ok
    ) as waiting:
        page.locator("#source").fill(text)
    translation = waiting.value.json()["translatedText"]
    until(page, "text => document.querySelector('#target').textContent === text", translation)
    return str(translation)


def use_translation(context, origin, shots):
    """The translation page: type, look at words, open the attention of a sentence, swap, share."""
    watch = Watch(context, origin)
    page = context.new_page()
    response = page.goto(origin)
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    until(page, "document.querySelector('#from').options.length > 0")
    take(page, shots, "empty")
    page.locator("#source").press_sequentially("A man is walking.", delay=30)
    until(page, "document.querySelector('#target').textContent.length > 0")
    started = time.monotonic()
    write(
        page,
        "A man in an orange hat is looking at something. Two dogs run through the snow.\n\nThey are happy.",
    )
    FIGURES["seconds from the last key to the translation"] = round(time.monotonic() - started, 2)
    page.locator("#target .word").nth(3).hover()
    page.wait_for_selector("#backdrop .linked")
    assert page.locator("#target .linked").count() == 1
    # Which words of the source have links depends on the model.
    for x in range(20, 400, 20):
        page.locator("#source").hover(position={"x": x, "y": 30})
        page.wait_for_timeout(50)
        if page.locator("#target .linked").count():
            break
    else:
        raise AssertionError("no word of the source has a link")
    count("words highlighted both ways")
    take(page, shots, "highlighted")
    words = page.locator("#target .word")
    for number in range(words.count()):  # up to a word of the second sentence
        with page.expect_response(lambda reply: reply.url.endswith("/attention")) as waiting:
            words.nth(number).click()
        assert waiting.value.json()["maps"]
        page.wait_for_selector("#view .figure line", state="attached")
        if page.locator("#sentence").inner_text().startswith("Two dogs"):
            break
        page.keyboard.press("Escape")
    else:
        raise AssertionError("no word belongs to the second sentence")
    chosen = {line[0] for line in shown_lines(page)}
    assert len(chosen) == 1, chosen
    page.wait_for_function("location.hash.includes('pin=q')")
    take(page, shots, "attention")
    page.get_by_label("Whole words").uncheck()
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        assert download(page, kind).startswith(start)
    page.locator("#next").click()
    until(page, "document.querySelector('#sentence').textContent === 'They are happy.'")
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    # By keyboard: from the text to its translation, along the words, into the attention and out.
    page.locator("#source").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('word')"):
            break
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#backdrop .linked")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view .figure line", state="attached")
    page.locator("#view .figure").focus()
    page.keyboard.press("ArrowDown")
    use_keyboard(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.classList.contains('word')")
    count("keyboard paths", 2)
    # Alternatives, the link, and what it opens.
    page.get_by_text("Alternatives").click()
    page.wait_for_selector("#alternatives button")
    other = page.locator("#alternatives button").first.inner_text()
    first = page.locator("#target").inner_text().split()
    page.locator("#alternatives button").first.click()
    assert page.locator("#target").inner_text().split() == other.split()
    page.locator("#target .word").last.click()
    page.wait_for_selector("#view .figure line", state="attached")
    assert page.locator("#sentence").inner_text() == "They are happy."
    last_line = page.locator("#target").inner_text().split("\n")[-1]
    assert page.locator("#sentence-target").inner_text() == last_line
    page.keyboard.press("Escape")
    others = [text.split() for text in page.locator("#alternatives button").all_inner_texts()]
    assert first in others
    assert other.split() not in others
    page.locator("#alternatives button").nth(others.index(first)).click()
    assert page.locator("#target").inner_text().split() == first
    page.locator("#link").click()
    again = context.new_page()
    again.goto(page.url)
    until(again, "document.querySelector('#target').textContent.length > 0")
    assert again.locator("#source").input_value() == page.locator("#source").input_value()
    again.close()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    take(page, shots, "phone")
    watch.check(page)


def use_hostile(context, origin):
    """Hostile text as source, translation, alternative, label, language name and error."""
    watch = Watch(context, origin, ("status of 400", "status of 429"))
    page = context.new_page()
    page.goto(origin)
    page.get_by_text("Alternatives").click()
    texts = hostile_texts()
    for start in range(0, len(texts), 25):
        part = texts[start : start + 25]
        until(page, "document.querySelector('#from').options.length > 0")
        translation = write(page, "\n".join(part))
        assert translation == "\n".join(part).upper()
        kinds = page.evaluate(
            "[...new Set([...document.querySelectorAll('#target *, #backdrop *')].map(e => e.className))].join()"
        )
        assert {*kinds.split(",")} <= {"word", "word poor"}, kinds
        found = page.locator("#alternatives button").first.evaluate(
            "e => [e.textContent, e.children.length]"
        )
        assert found == ["\n".join(part) + " 0", 0]
        count("hostile texts translated", len(part))
    page.locator("#target .word").first.click()
    page.wait_for_selector("#view .figure line", state="attached")
    write(page, "taken")
    page.locator("#source").fill("refuse " + texts[1])
    until(page, "document.querySelector('#status').textContent.startsWith('refuse')")
    assert page.locator("#status").evaluate("e => [e.textContent, e.children.length]") == [
        "refuse " + texts[1],
        0,
    ]
    page.locator("#from").select_option("auto")
    # An older, slower answer never replaces a newer one.
    page.locator("#source").fill("slow and old")
    page.wait_for_timeout(500)
    assert write(page, "quick and new") == "QUICK AND NEW"
    page.wait_for_timeout(1200)
    assert page.locator("#target").inner_text() == "QUICK AND NEW"
    # The server counts characters, of which a browser may count two units.
    write(page, "\U0001f600\U0001f600\U0001f600 a b c d e f g h")
    assert page.locator("#target .poor").count() == 4
    words = page.locator("#target .word")
    assert words.first.get_attribute("title") == "Quality 0.10, loop"
    assert words.last.get_attribute("title") == "Quality 0.90, numbers repaired"
    assert "Quality 0.50" in page.locator("#status").inner_text()
    page.locator("#source").fill("busy")
    until(page, "document.querySelector('#status').textContent.includes('busy')")
    until(page, "document.querySelector('#target').textContent === 'BUSY'")
    page.locator("#source").fill("x" * 20_001)
    until(page, "document.querySelector('#status').textContent.includes('over the limit')")
    watch.check(page)


@contextmanager
def serving_page(args, folder):
    """Run a server of ours, and yield its address."""
    port, prefix = free_port(), "" if args.model else "under/"
    if args.model:
        words = ["-m", "headway.cli.main", "serve", str(Path(args.model).absolute())]
    else:
        words = [str(HERE / "page_server.py"), "--prefix", f"/{prefix}", "--folder", str(folder)]
    origin = f"http://127.0.0.1:{port}/{prefix}"
    with serving([args.python, *words, "--port", str(port)], origin, folder / "log"):
        yield origin


def main():
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", help="a run or model directory to serve, English to something")
    parser.add_argument(
        "--python",
        default=str(HERE.parents[1] / ".venv/bin/python"),
        help="the Python that has headway",
    )
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=Path, help="keep screenshots here")
    args = parser.parse_args()
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    parts: list[Callable[[Browser, str, Path], None]] = [
        lambda browser, origin, _: use_translation(browser.new_context(), origin, args.shots),
    ]
    if args.model:
        parts.append(
            lambda browser, origin, _: use_files(browser.new_context(), origin, args.shots)
        )
    else:
        parts += [
            lambda browser, _, folder: use_file(
                browser.new_context(accept_downloads=True), folder, args.shots
            ),
            lambda browser, origin, _: use_hostile(
                browser.new_context(color_scheme="dark"), origin
            ),
        ]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "hostile.json").write_text(json.dumps(hostile_texts()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=args.browser, args=["--no-sandbox"])
        with serving_page(args, folder) as origin:
            for part in parts:
                part(browser, origin, folder)
        browser.close()
    for figure, value in FIGURES.items():
        print(f"{figure:<48}{value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
