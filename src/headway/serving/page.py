"""The translation page: the static files that the server shows, the attention view among them."""

from importlib.resources import files

from headway.pictures.page import style_sheet, view_script

# What a browser asks for, beside "/": no other file of the folder is shown.
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/words.js": ("words.js", "text/javascript; charset=utf-8"),
    "/server.js": ("server.js", "text/javascript; charset=utf-8"),
    "/panel.js": ("panel.js", "text/javascript; charset=utf-8"),
    "/translate.js": ("translate.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the page's files: by path, their bytes and media type.

    The page asks for everything by relative addresses, so that it works below any path that ends
    in "/". It needs no more than ``Content-Security-Policy: default-src 'self'``: no inline script
    or style, nothing from elsewhere.
    """
    folder = files("headway.serving").joinpath("page")
    found = {
        path: (folder.joinpath(name).read_bytes(), kind) for path, (name, kind) in _FILES.items()
    }
    found["/attention.js"] = view_script().encode(), "text/javascript; charset=utf-8"
    found["/attention.css"] = style_sheet().encode(), "text/css; charset=utf-8"
    return found
