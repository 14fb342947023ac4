"""DeepL's codes of languages: sources have no region, and some targets must have one."""

from headway.ext.server.deepl.messages import DeepLLanguage
from headway.ext.server.models import Models
from headway.text import base_code, name_of, shorten_code

# DeepL's clients refuse these targets without a region.
REGIONS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "pt": {"PT-BR": "Portuguese (Brazilian)", "PT-PT": "Portuguese (European)"},
}


def source_code(code: str) -> str:
    """Return the code by which DeepL calls a served language as a source."""
    return base_code(shorten_code(code.lower())).upper()


def list_sources(models: Models) -> list[DeepLLanguage]:
    """Return the languages that can be translated from."""
    codes = dict.fromkeys(source_code(source) for source, _ in models.pairs)
    return [{"language": code, "name": name_of(code.lower())} for code in codes]


def list_targets(models: Models) -> list[DeepLLanguage]:
    """Return the languages that can be translated into."""
    found: dict[str, str] = {}
    for code in dict.fromkeys(target for _, target in models.pairs):
        written = code.replace("_", "-").upper()
        found |= REGIONS.get(code, {written: name_of(code)})
    return [
        {"language": code, "name": name, "supports_formality": False}
        for code, name in found.items()
    ]
