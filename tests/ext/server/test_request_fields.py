"""Fields of every request, with values of any kind."""

import pytest

from headway.ext.server.files import Upload
from headway.ext.server.rejection import Rejection
from headway.ext.server.routes import list_addresses
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import RequestParser

KINDS = {address.request for address in list_addresses()} - {None}
VALUES = (
    5, -1, 2.5, 1e300, 10**30, True, "", "5", "a", "x" * 200_000, "a\nb", " - at `$.q`", "a - at `$.q[", [], ["a"], ["a", 5],
    [["a"]], ["x" * 200_000], ["a"] * 100, {}, {"a": 1}, Upload("a", b""),
)  # fmt: skip


@pytest.mark.parametrize("kind", sorted(KINDS, key=str), ids=lambda kind: kind.__name__)
def test_a_wrong_value_of_any_field_is_one_line_that_names_the_field(kind):
    parser = RequestParser(kind, ServerConfig())
    sound = {
        name: Upload("a", b"") if kind is Upload else "1" for name, kind in parser.types.items()
    }
    sound |= dict.fromkeys({"format"} & sound.keys(), "text")
    sound |= dict.fromkeys({"type"} & sound.keys(), "source")
    sound |= dict.fromkeys({"formality"} & sound.keys(), "more")
    sound |= dict.fromkeys({"tag_handling"} & sound.keys(), "xml")
    assert isinstance(parser.parse(sound), kind)
    rejected = []
    for name in parser.types:
        for value in VALUES:
            try:
                assert isinstance(parser.parse(sound | {name: value}), kind)
            except Rejection as error:
                rejected.append((name, error))
    for name, error in rejected:
        assert error.status == 400
        assert name in error.message
        assert len(error.message) < 200
        assert "\n" not in error.message
