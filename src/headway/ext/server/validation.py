"""Makes the requests of `messages.py` of the fields that clients send; msgspec checks their types and limits."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import Meta

from headway.ext.server.files import Upload
from headway.ext.server.rejection import Rejection, missing_field
from headway.ext.server.server_settings import ServerConfig

# Python's words in what msgspec says, and those of clients.
WORDS = {
    "`": "",
    " | ": " or ",
    "str": "string",
    "bool": "true or false",
    "int": "number",
    "float or null": "number",
    "Expected": "expected",
}
SCALAR = str | int | float | bool | None  # what a field of JSON may be, alone or in a list
R = TypeVar("R", bound=msgspec.Struct)
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def list_types(config: ServerConfig, languages: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the types of `messages.py` that depend on a server.

    Args:
        config: Limits.
        languages: For types of languages, such as ``Source``, the codes of which the description tells.
    """
    text = Annotated[str, Meta(max_length=config.char_limit)]
    about = "The name of a glossary of the server, or rows of a source, a tab and a target."
    found: dict[str, Any] = {
        "Text": text,
        "Texts": text | Annotated[list[text], Meta(max_length=config.batch_limit)],
        "Glossary": Annotated[str, Meta(max_length=config.glossary_limit, description=about)],
        "Count": Annotated[int, Meta(ge=0, le=config.alternatives_limit)],
    }
    for name, codes in languages.items():
        found[name] = Annotated[str, Meta(extra_json_schema={"enum": list(codes)})]
    return found


def define_request(kind: type[R], types: Mapping[str, Any]) -> type[R]:
    """Return a request class with the types of a server, from `list_types`."""
    hints = get_type_hints(kind, localns=dict(types), include_extras=True)
    fields = [(each.name, hints[each.name], each.default) for each in msgspec.structs.fields(kind)]
    names = {"__doc__": kind.__doc__}
    found = msgspec.defstruct(kind.__name__, fields, bases=(kind,), namespace=names, kw_only=True)
    return cast(type[R], found)


class RequestParser(Generic[R]):
    """Makes requests of one class.

    Args:
        kind: A request class of `messages.py`.
        config: Limits.

    Attributes:
        types: Those of the fields, by their names.
        has_file: Whether a field is a file.
    """

    def __init__(self, kind: type[R], config: ServerConfig) -> None:
        self.kind = define_request(kind, list_types(config, {}))
        self.types = get_type_hints(kind)
        self.has_file = Upload in self.types.values()
        fields = [(name, SCALAR | list[SCALAR], None) for name in self.types]
        self._decoder = msgspec.json.Decoder(msgspec.defstruct("Fields", fields))

    def decode(self, body: bytes) -> dict[str, Any]:
        """Return the fields of an object of JSON, with None for those that it lacks; others are skipped.

        Raises:
            msgspec.DecodeError: If it is no JSON, or (a `msgspec.ValidationError`) has lists or objects where none can be.
            RecursionError: If it has too many lists in lists.
        """
        return msgspec.structs.asdict(self._decoder.decode(body))

    def parse(self, fields: Mapping[str, Any]) -> R:
        """Make a request of its fields, from `read_fields`; empty ones count as missing, and unknown ones are ignored.

        Raises:
            Rejection: 400 for the first field that is missing, wrong or over its limit.
        """
        kinds, given = self.types, {}
        for name, value in fields.items():
            if (
                kinds[name] is int
            ):  # LibreTranslate takes whatever Python reads as one, and no empty text
                given[name] = _read_number(name, value)
            elif value not in ("", []):
                given[name] = value
        try:
            return msgspec.convert(given, self.kind, strict=False)
        except msgspec.ValidationError as error:
            raise self._explain(str(error), given) from None

    def _explain(self, problem: str, given: Mapping[str, Any]) -> Rejection:
        """Return the rejection of fields about which msgspec has reported a problem; it shows at most a few words of them."""
        if found := _MISSING.match(problem):
            return missing_field(found[1])
        # Of a problem with the second text of q: "Expected `str`, got `int` - at `$.q[1]`".
        what, _, place = problem.rpartition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        if self.types[name] is Upload:
            return missing_field(name)
        if what.startswith("Invalid enum value"):
            shown = " ".join(given[name][:20].split())
            choices = ", ".join(filter(None, get_args(self.types[name])))
            return Rejection(400, f"{shown} {name} is not supported: send one of {choices}")
        return Rejection(400, f"Invalid request: {name} parameter: {_in_words(what)}")


def _in_words(problem: str) -> str:
    for theirs, ours in WORDS.items():
        problem = problem.replace(theirs, ours)
    return problem


def _read_number(name: str, value: Any) -> int:
    try:
        return max(0, int(value))
    except (ValueError, OverflowError, TypeError):
        raise Rejection(400, f"Invalid request: {name} parameter is not a number") from None
