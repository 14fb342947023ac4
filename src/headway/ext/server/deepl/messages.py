"""Requests and answers of DeepL's addresses; ``ext/server/messages.py`` says how they are used."""

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

from headway.ext.server.files import Upload
from headway.ext.server.messages import Glossary, Texts

Formality = Literal["default", "more", "less", "prefer_more", "prefer_less"]


@dataclass(frozen=True, kw_only=True)
class DeepLTextRequest:
    """Fields of ``POST /v2/translate``. Other fields of DeepL are accepted and have no effect."""

    text: Texts
    target_lang: str
    source_lang: str | None = None
    split_sentences: Literal["1", "0", "nonewlines"] = "1"
    formality: Formality = "default"
    glossary_id: str | None = None
    tag_handling: Literal["", "xml", "html"] = ""
    outline_detection: Annotated[
        bool, "", "Whether tags of XML without text beside them separate sentences."
    ] = True
    splitting_tags: str | list[str] | None = None
    non_splitting_tags: str | list[str] | None = None
    ignore_tags: str | list[str] | None = None
    show_billed_characters: bool = False


@dataclass(frozen=True, kw_only=True)
class DeepLLanguagesRequest:
    """Fields of ``GET /v2/languages``."""

    type: Literal["source", "target"] = "source"


class DeepLError(TypedDict):
    """Why a request was rejected."""

    message: str


class DeepLTranslation(TypedDict):
    """The translation of a text, and the language of the text."""

    detected_source_language: str
    text: str
    billed_characters: NotRequired[int]


class DeepLTranslations(TypedDict):
    """The translations of a request's texts, in their order."""

    translations: list[DeepLTranslation]


class DeepLLanguage(TypedDict):
    """A language; of a target also whether ``formality`` has an effect."""

    language: str
    name: str
    supports_formality: NotRequired[bool]


class DeepLUsage(TypedDict):
    """The characters that the owner of a key has sent, and the limit."""

    character_count: int
    character_limit: int


class DeepLPair(TypedDict):
    """A pair of languages."""

    source_lang: str
    target_lang: str


class DeepLPairs(TypedDict):
    """Pairs of languages."""

    supported_languages: list[DeepLPair]


class DeepLGlossary(TypedDict):
    """A glossary of the server's settings for a pair of languages, without its entries."""

    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class DeepLGlossaries(TypedDict):
    """The glossaries of the server's settings."""

    glossaries: list[DeepLGlossary]


@dataclass(frozen=True, kw_only=True)
class DeepLDocumentRequest:
    """Fields of ``POST /v2/document``; the last three are those of ``/translate_file``."""

    file: Upload
    target_lang: str
    source_lang: str | None = None
    filename: str | None = None
    output_format: str | None = None
    formality: Formality = "default"
    glossary_id: str | None = None
    glossary: Glossary = None
    columns: Annotated[str | None, "char_limit"] = None
    quality: bool = False


@dataclass(frozen=True, kw_only=True)
class DeepLDocumentKeyRequest:
    """Names a document; both come from ``POST /v2/document``."""

    document_id: str
    document_key: str


class DeepLDocument(TypedDict):
    """The name of a document, and the secret that its other addresses need."""

    document_id: str
    document_key: str


class DeepLDocumentStatus(TypedDict):
    """How far a translation is; ``quality`` is the mean of its sentences, from 0 to 1."""

    document_id: str
    status: Literal["queued", "translating", "done", "error"]
    seconds_remaining: NotRequired[int]
    billed_characters: NotRequired[int]
    quality: NotRequired[float]
    error_message: NotRequired[str]
    message: NotRequired[str]
