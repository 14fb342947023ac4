"""The static files of the translation page and of its attention view."""

from importlib.resources import files
from pathlib import PurePath

from headway.ext.pictures import style_sheet, view_script

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the bytes and the media type of each file, by its path on the server.

    The page uses relative addresses, so that it works below any path that ends in "/". It has no
    inline script or style and loads nothing from other servers, so that
    ``Content-Security-Policy: default-src 'self'; img-src 'self' data:`` allows all of it. A
    picture becomes a PNG by way of a data address.
    """
    found = {}
    for file in files("headway.ext.server").joinpath("page").iterdir():
        if (kind := KINDS.get(PurePath(file.name).suffix)) is not None:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            found[path] = file.read_bytes(), kind
    found["/attention.js"] = view_script().encode(), KINDS[".js"]
    found["/attention.css"] = style_sheet().encode(), KINDS[".css"]
    return found
