"""The requests and answers of every address: what the handlers take and return.

`validation.py` makes the requests of what a client sends, and `openapi.py` describes these classes. The types with a capital
that are defined here get the limits of a server from `validation.list_types`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct

from headway.ext.server.files import Upload

Text = str
Texts = str | list[str]
Glossary = str
Count = int
Source = str
Target = str
Quality = Annotated[
    bool, Meta(description="Also rate the translations, and translate again what looks broken.")
]

Finished = Annotated[
    float, Meta(ge=0, le=1, description="From which quality a catalog needs nobody's review.")
]


class EmptyRequest(Struct, frozen=True):
    """No fields but the key."""

    api_key: Annotated[Any, Meta(description="The key, if no header has it.")] = ""


class TranslateRequest(EmptyRequest, frozen=True, kw_only=True):
    """Fields of ``POST /translate``."""

    q: Texts
    source: Source
    target: Target
    format: Literal["text", "html"] = "text"
    alternatives: Count = 0
    scores: Annotated[
        bool, Meta(description="Also return length-normalized log-probabilities.")
    ] = False
    quality: Quality = False
    glossary: Glossary = ""


class DetectRequest(EmptyRequest, frozen=True, kw_only=True):
    """Fields of ``POST /detect``; of a long text only the beginning is examined."""

    q: str | list[str]


class StreamRequest(EmptyRequest, frozen=True, kw_only=True):
    """Fields of ``POST /stream``."""

    q: Text
    source: Source
    target: Target


class AlignRequest(StreamRequest, frozen=True, kw_only=True):
    """Fields of ``POST /align``."""

    glossary: Glossary = ""


class AttentionRequest(StreamRequest, frozen=True, kw_only=True):
    """Fields of ``POST /attention``."""

    translation: Annotated[
        Text, Meta(description="A translation to examine instead of the model's own.")
    ] = ""


class FileRequest(EmptyRequest, frozen=True, kw_only=True):
    """Fields of ``POST /translate_file``, as multipart/form-data."""

    file: Upload
    source: Source
    target: Target
    columns: Annotated[
        Text, Meta(description="The columns of a table to translate, separated by commas.")
    ] = ""
    glossary: Glossary = ""
    quality: Quality = False
    finished: Finished | None = None


class FileTranslation(TypedDict):
    """The address of a translated file, where it is for half an hour.

    ``quality`` is the mean of its sentences, from 0 to 1, and ``qualityUrl`` the address of a table of them.
    """

    translatedFileUrl: str
    quality: NotRequired[float]
    qualityUrl: NotRequired[str]


class Error(TypedDict):
    """Why a request was rejected."""

    error: str


class Event(TypedDict):
    """A server-sent event of ``/stream``; ``data`` is JSON."""

    event: Literal["token", "done", "error"]
    data: str


class DetectedLanguage(TypedDict):
    """A language and a confidence from 0 to 100."""

    confidence: float
    language: str


class RatedSentence(TypedDict):
    """How good the translation of a sentence probably is, from 0 to 1.

    ``start`` and ``end`` are its place in the translation, in Unicode characters; ``defects`` is what looks
    broken in it (loop, numbers, untranslated, length, placeholders, names), and ``repaired`` what did in the translation
    that it replaces.
    """

    start: int
    end: int
    quality: float
    defects: list[str]
    repaired: list[str]


class Translation(TypedDict):
    """A translation: a text for a text, a list for a list.

    ``sentences`` has the sentences of a text in their order; HTML has none.
    """

    translatedText: str | list[str]
    detectedLanguage: NotRequired[DetectedLanguage | list[DetectedLanguage]]
    alternatives: NotRequired[list[str | list[str]]]
    score: NotRequired[float | list[float]]
    alternativeScores: NotRequired[list[float | list[float]]]
    quality: NotRequired[float | list[float]]
    sentences: NotRequired[Sequence[RatedSentence | list[RatedSentence]]]


class Word(TypedDict):
    """A word, and where it starts and ends in its text, in Unicode characters."""

    text: str
    start: int
    end: int


class Alignment(TypedDict):
    """A translation; ``alignment`` has pairs of a source word's and a target word's number."""

    translatedText: str
    sourceWords: list[Word]
    targetWords: list[Word]
    alignment: list[list[int]]
    detectedLanguage: NotRequired[DetectedLanguage]


class AttentionMap(TypedDict):
    """Base64 of bytes [layers, heads, queries, keys]; a weight is its byte / 255."""

    queries: list[str]
    keys: list[str]
    layers: int
    heads: int
    weights: str


class AttentionViews(TypedDict):
    """The labels of a map, the layer to show first, and the layout of each view by the view's name."""

    queries: list[str]
    keys: list[str]
    layer: int
    layouts: dict[str, Any]


class Attention(TypedDict):
    """The attention maps of a sentence by kind: encoder, decoder and cross.

    ``words`` has the maps with subwords merged to words; ``views`` has what the page draws for
    ``maps`` and for ``words``.
    """

    source: str
    target: str
    maps: dict[str, AttentionMap]
    words: dict[str, AttentionMap]
    views: dict[str, dict[str, AttentionViews]]


class Language(TypedDict):
    """A served language, the languages that it can be translated into, and other codes by which requests may name it."""

    code: str
    name: str
    targets: list[str]
    aliases: list[str]


class NamedCode(TypedDict):
    """A language."""

    code: str
    name: str


class LanguageChoice(TypedDict):
    """The languages that a page offers first."""

    source: NamedCode
    target: NamedCode


class FrontendSettings(TypedDict):
    """What a page needs to know about the server."""

    apiKeys: bool
    charLimit: int
    filesTranslation: bool
    frontendTimeout: int
    keyRequired: bool
    language: LanguageChoice
    quality: bool
    suggestions: bool
    supportedFilesFormat: list[str]


class ServedModel(TypedDict):
    """A model: its languages, and the first digits of its weights' SHA-256."""

    source: str
    target: str
    version: str


class QueueState(TypedDict):
    """Texts that wait or are being translated, tokens that wait, and the limits of both."""

    texts: int
    textsLimit: int
    tokens: int
    tokensLimit: int


class Health(TypedDict):
    """The server answers; ``version`` is Headway's, and ``api`` that of the addresses and their fields."""

    status: Literal["ok"]
    version: str
    api: str
    models: list[ServedModel]
    queue: QueueState
