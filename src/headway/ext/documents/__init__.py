"""Documents: files in, the same files with their text translated out; and texts of several sentences."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.documents.document_translation import translate_file

__all__ = ["translate_file"]
_MODULES = {"document_translation": ("translate_file",)}

extension = Extension(
    name="documents",
    version=__version__,
    names={"translate_file": f"{__name__}.document_translation:translate_file"},
    inputs={"documents": f"{__name__}.command"},
)

__getattr__ = import_at_first_use(__name__, _MODULES)
