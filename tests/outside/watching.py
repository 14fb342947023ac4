"""Tools of the browser checks: watch the requests of pages, wait, count; used by browser.py."""

from typing import Any

# Runs in every page: counts calls that no text may make, and breaches of the content security policy.
SPY = """window.pwnedCalls = 0; window.pwned = () => { window.pwnedCalls++; };
window.breaches = []; addEventListener('securitypolicyviolation', (e) => breaches.push(e.violatedDirective));"""
FIGURES: dict[str, Any] = {}


def count(name, number=1):
    """Add to a counter."""
    FIGURES[name] = FIGURES.get(name, 0) + number


class Watch:
    """The requests and the errors of all pages in one browser context."""

    def __init__(self, context, origin, expected=()):
        self.wrong: list[str] = []
        for figure in (
            "requests to other origins",
            "console errors and dialogs",
            "policy breaches",
        ):
            count(figure, 0)
        context.add_init_script(SPY)

        def asked(url):
            count("requests")
            if not url.startswith((origin, "file:///", "data:", "blob:")):
                count("requests to other origins")
                self.wrong.append(f"asked {url}")

        def complain(text):
            count("console errors and dialogs")
            self.wrong.append(text)

        def said(kind, text):
            if kind in ("error", "warning") and not any(part in text for part in expected):
                complain(f"console: {text}")

        def dismiss(dialog):
            complain("dialog")
            dialog.dismiss()

        context.on("request", lambda request: asked(request.url))
        context.on("console", lambda message: said(message.type, message.text))
        context.on("weberror", lambda error: complain(f"error: {error.error}"))
        context.on("dialog", dismiss)

    def check(self, page):
        """Fail if any page has broken a promise so far."""
        calls, breaches = page.evaluate("[window.pwnedCalls, window.breaches]")
        count("policy breaches", len(breaches))
        assert (calls, breaches, self.wrong[:5]) == (0, [], [])


def until(page, condition, given=None):
    """Wait until a condition is true; the policy of the page forbids the driver's own function."""
    for _ in range(200):
        if page.evaluate(condition, given):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"still false after 10 seconds: {condition}")


def take(page, shots, name):
    """Save a screenshot if a folder is given."""
    if shots:
        page.screenshot(path=shots / f"{name}.png", full_page=True)
