"""Parallel text from elsewhere: public corpora by name, and translation memories (TMX)."""

from headway import __version__
from headway.extension import Extension

extension = Extension(
    name="corpora",
    version=__version__,
    corpora={"corpora": f"{__name__}.named"},
    readers={".tmx": f"{__name__}.tmx:read_memory"},
)
