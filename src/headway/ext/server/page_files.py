"""The static files of the translation page and of its attention view."""

from importlib.resources import files

from headway.ext.pictures import style_sheet, view_script

# No other file of the folder is served.
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/words.js": ("words.js", "text/javascript; charset=utf-8"),
    "/server.js": ("server.js", "text/javascript; charset=utf-8"),
    "/panel.js": ("panel.js", "text/javascript; charset=utf-8"),
    "/glossary.js": ("glossary.js", "text/javascript; charset=utf-8"),
    "/files.js": ("files.js", "text/javascript; charset=utf-8"),
    "/translate.js": ("translate.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the bytes and the media type of each file, by its path on the server.

    The page uses relative addresses, so that it works below any path that ends in "/". It has no
    inline script or style and loads nothing from other servers, so that
    ``Content-Security-Policy: default-src 'self'; img-src 'self' data:`` allows all of it. A
    picture becomes a PNG by way of a data address.
    """
    folder = files("headway.ext.server").joinpath("page")
    found = {
        path: (folder.joinpath(name).read_bytes(), kind) for path, (name, kind) in FILES.items()
    }
    found["/attention.js"] = view_script().encode(), "text/javascript; charset=utf-8"
    found["/attention.css"] = style_sheet().encode(), "text/css; charset=utf-8"
    return found
