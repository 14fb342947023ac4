"""DeepL's codes of languages: sources have no region, and some targets must have one."""

from headway.ext.server.deepl.messages import DeepLLanguage
from headway.ext.server.models import Models
from headway.ext.server.rejection import Rejection
from headway.text import name_of

# DeepL's clients refuse these targets without a region.
REGIONS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "pt": {"PT-BR": "Portuguese (Brazilian)", "PT-PT": "Portuguese (European)"},
}
SCRIPT = 4  # letters of a script's code; a region has fewer


def source_code(code: str) -> str:
    """Return the code by which DeepL calls a served language as a source."""
    return code.replace("_", "-").partition("-")[0].upper()


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


def find_language(code: str, field: str, models: Models) -> str:
    """Return the code that the models use for one of DeepL's codes.

    Args:
        code: Such as EN, en-GB or ZH-HANS. A region that no model knows does not count.
        field: The name of the request's field, for messages.
        models: The served models.

    Raises:
        Rejection: 400 if the language is not served.
    """
    base, _, rest = code.partition("-")
    found = models.find_code(code)
    if found is None and len(rest) < SCRIPT:
        found = models.find_code(base)
    if found is None and not rest:
        variants = [served for served in models.codes if source_code(served) == base.upper()]
        found = variants[0] if len(variants) == 1 else None
    if found is None:
        raise Rejection(400, f"Value for '{field}' not supported.")
    return found
