"""The requests and answers of every address: what the handlers take and return.

`openapi.py` renders these classes. A string in the annotation of a request's field names the setting
that limits the field; a second one describes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

from headway.config import ServerConfig
from headway.serving.rejection import Rejection, missing_field, too_long

R = TypeVar("R")
Text = Annotated[str, "char_limit"]
Texts = Annotated[str | list[str], "char_limit"]


@dataclass(frozen=True, kw_only=True)
class TranslateRequest:
    """Fields of ``POST /translate``."""

    q: Texts
    source: str
    target: str
    format: Literal["text", "html"] = "text"
    alternatives: Annotated[int, "alternatives_limit"] = 0
    scores: Annotated[bool, "", "Also return length-normalized log-probabilities."] = False


@dataclass(frozen=True, kw_only=True)
class DetectRequest:
    """Fields of ``POST /detect``; of a long text only the beginning is examined."""

    q: str | list[str]


@dataclass(frozen=True, kw_only=True)
class AlignRequest:
    """Fields of ``POST /align``."""

    q: Text
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class AttentionRequest:
    """Fields of ``POST /attention``."""

    q: Text
    source: str
    target: str
    translation: Annotated[
        str | None, "char_limit", "A translation to examine instead of the model's own."
    ] = None


@dataclass(frozen=True, kw_only=True)
class StreamRequest:
    """Fields of ``POST /stream``."""

    q: Text
    source: str
    target: str


class Error(TypedDict):
    """Why a request was rejected."""

    error: str


class DetectedLanguage(TypedDict):
    """A language and a confidence from 0 to 100."""

    confidence: float
    language: str


class Translation(TypedDict):
    """A translation: a text for a text, a list for a list."""

    translatedText: str | list[str]
    detectedLanguage: NotRequired[DetectedLanguage | list[DetectedLanguage]]
    alternatives: NotRequired[list[str] | list[list[str]]]
    score: NotRequired[float | list[float]]
    alternativeScores: NotRequired[list[float] | list[list[float]]]


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
    """A served language and the languages that it can be translated into."""

    code: str
    name: str
    targets: list[str]


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
    suggestions: bool
    supportedFilesFormat: list[str]


class Health(TypedDict):
    """The server answers."""

    status: Literal["ok"]


def parse_request(kind: type[R], fields: Mapping[str, object], config: ServerConfig) -> R:
    """Make a request of its fields.

    Args:
        kind: One of the request classes above.
        fields: From `read_fields`; unknown ones are ignored.
        config: Limits.

    Raises:
        Rejection: 400 for the first field that is missing, wrong or over its limit.
    """
    values: dict[str, Any] = {}
    limits = get_type_hints(kind, include_extras=True)
    for name, hint in get_type_hints(kind).items():
        value, limit = fields.get(name), _limit(limits[name], config)
        if hint is str:
            values[name] = _parse_text(name, value, limit)
        elif hint == str | None:
            values[name] = _parse_text(name, value, limit) if value else None
        elif hint == str | list[str]:
            values[name] = _parse_texts(name, value, limit, config.batch_limit)
        elif hint is int:
            values[name] = _parse_count(name, value, limit)
        elif hint is bool:
            values[name] = _parse_flag(name, value)
        else:
            values[name] = _parse_choice(name, value, get_args(hint))
    return kind(**values)


def _limit(hint: Any, config: ServerConfig) -> int | None:
    setting = next(iter(getattr(hint, "__metadata__", ())), "")
    return getattr(config, setting) if setting else None


def _parse_text(name: str, value: object, limit: int | None) -> str:
    if value is None or value == "":
        raise missing_field(name)
    if not isinstance(value, str):
        raise Rejection(400, f"Invalid request: {name} parameter is not a string")
    if limit is not None and len(value) > limit:
        raise too_long(len(value), limit)
    return value


def _parse_texts(name: str, value: object, limit: int | None, batch_limit: int) -> str | list[str]:
    if value is None or value in ("", []):
        raise missing_field(name)
    texts: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        message = f"Invalid request: {name} parameter is not a string or a list of strings"
        raise Rejection(400, message)
    if limit is not None:
        if len(texts) > batch_limit:
            raise too_long(len(texts), batch_limit)
        for text in texts:
            if len(text) > limit:
                raise too_long(len(text), limit)
    return texts if isinstance(value, list) else texts[0]


def _parse_count(name: str, value: Any, limit: int | None) -> int:
    try:
        count = 0 if value is None else max(0, int(value))
    except (ValueError, OverflowError, TypeError):
        raise Rejection(400, f"Invalid request: {name} parameter is not a number") from None
    if limit is not None and count > limit:
        raise Rejection(400, f"Invalid request: {name} parameter must be <= {limit}")
    return count


def _parse_flag(name: str, value: object) -> bool:
    if isinstance(value, str):
        return value.lower() in ("1", "true", "yes", "on")
    if value is not None and not isinstance(value, bool):
        raise Rejection(400, f"Invalid request: {name} parameter is not true or false")
    return bool(value)


def _parse_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    if not value:
        return choices[0]
    if value not in choices:
        shown = value[:20] if isinstance(value, str) else "this"
        raise Rejection(400, f"{shown} {name} is not supported")
    return str(value)
