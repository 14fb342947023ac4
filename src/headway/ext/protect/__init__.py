"""Text that must stay in a translation (placeholders, code, numbers, tags, emoji), and terms that must come in it.

Mask, translate, restore: `masking` is the stage that the pipeline of a translation calls. `line_pieces` makes a `MarkedText` of a line
(`text_masking`), which is cut like any text; each piece gets a `MaskedSource` (`masked_source`): what the model reads instead, and what its
translation must contain. It writes the translation, too: `restoring` puts what stays, and the terms that are missing, into what the model
has written. They ask

- what must stay: `protected_text`, by the table ``patterns.tsv``; `message_formats`, what programs replace; `capitals`;
- what must come: `glossary`, and its files, `glossary_file`;
- how the target language writes a number with its unit: `number_forms`;
- what a model reads instead: `placeholder_words`, which `learned_placeholder_words` counts in a training text.

`numbers` and `word_ranges` are for other rooms, too: do two texts have the same numbers, and which words belong to which.
"""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.protect.capitals import starts_sentence
    from headway.ext.protect.glossary import Glossary
    from headway.ext.protect.glossary_file import LanguageError, parse_glossary, read_glossary
    from headway.ext.protect.masked_source import MaskedSource
    from headway.ext.protect.message_formats import FormattedMessage
    from headway.ext.protect.numbers import NUMBER, count_different_numbers, spell_numbers
    from headway.ext.protect.patterns import BREAK_TAG, BREAKS
    from headway.ext.protect.protected_text import (
        PRIVATE_USE,
        ProtectedText,
        divide_at_breaks,
        find_meaning,
        find_protected_text,
        has_words,
        is_measure,
        is_symbol,
        split_protected,
    )
    from headway.ext.protect.word_ranges import between, overlapped, translate_range

__all__ = ["Glossary", "read_glossary"]

extension = Extension(
    name="protect",
    version=__version__,
    names={
        "Glossary": f"{__name__}.glossary:Glossary",
        "read_glossary": f"{__name__}.glossary_file:read_glossary",
    },
    masking=f"{__name__}.masking:ProtectedTextMasking",
    sidecars={"stand_ins.json": "text"},
    end_steps={"stand_ins": f"{__name__}.learned_placeholder_words"},
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
