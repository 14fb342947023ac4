"""How good translations probably are, and other translations for those that look broken."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Option
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.quality.defects import find_defects
    from headway.ext.quality.quality_model import FILE

extension = Extension(
    name="quality",
    version=__version__,
    options={
        "evaluate --calibrate": Option(
            f"{__name__}.calibrating:calibrate",
            "learn from this text how good translations are, for --quality, and what stands for placeholders",
        ),
    },
    quality=f"{__name__}.rating",
    facts=f"{__name__}.quality_model:list_facts",
    sidecars={"quality.json": "weights"},
    end_steps={"quality": f"{__name__}.learned_quality"},
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
