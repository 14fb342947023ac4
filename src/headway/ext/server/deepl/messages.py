"""Requests and answers of DeepL's addresses; ``ext/server/messages.py`` says how they are used."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct

from headway.ext.server.files import Upload
from headway.ext.server.messages import Glossary, Text, Texts

DeepLSource = str
DeepLTarget = str
Formality = Literal["default", "more", "less", "prefer_more", "prefer_less"]


class DeepLTextRequest(Struct, frozen=True, kw_only=True):
    """Fields of ``POST /v2/translate``. Other fields of DeepL are accepted and have no effect."""

    text: Texts
    target_lang: DeepLTarget
    source_lang: DeepLSource = ""
    split_sentences: Literal["1", "0", "nonewlines"] = "1"
    formality: Formality = "default"
    glossary_id: str = ""
    tag_handling: Literal["", "xml", "html"] = ""
    outline_detection: Annotated[
        bool, Meta(description="Whether tags of XML without text beside them separate sentences.")
    ] = True
    splitting_tags: str | list[str] = ""
    non_splitting_tags: str | list[str] = ""
    ignore_tags: str | list[str] = ""
    show_billed_characters: bool = False


class DeepLLanguagesRequest(Struct, frozen=True, kw_only=True):
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


class DeepLDocumentRequest(Struct, frozen=True, kw_only=True):
    """Fields of ``POST /v2/document``; the last three are those of ``/translate_file``."""

    file: Upload
    target_lang: DeepLTarget
    source_lang: DeepLSource = ""
    filename: str = ""
    output_format: str = ""
    formality: Formality = "default"
    glossary_id: str = ""
    glossary: Glossary = ""
    columns: Text = ""
    quality: bool = False


class DeepLDocumentKeyRequest(Struct, frozen=True, kw_only=True):
    """The secret of the document that the address names; both come from ``POST /v2/document``."""

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
