"""Files of keys: what counts as a key, and what stays when a file cannot be read again."""

import pytest

from headway.errors import HeadwayError
from headway.ext.server.keys import Keys
from headway.ext.server.rejection import Rejection


def test_keys_are_read_again_or_stay(tmp_path):
    file = tmp_path / "keys"
    file.write_text("first\n")
    keys = Keys(file)
    name = keys.check("first")
    file.write_text("second\nfirst\n")
    with pytest.raises(Rejection):
        keys.check("second")
    keys.read()
    assert keys.check("first") == name  # the client's rate continues
    assert keys.check("second") != name
    assert "second" not in keys.check("second")
    for broken in (b"# none\n", b"\xff"):
        file.write_bytes(broken)
        with pytest.raises(HeadwayError, match="keys"):
            keys.read()
        assert keys.check("second")
    file.unlink()
    with pytest.raises(OSError, match="keys"):
        keys.read()
    assert keys.check("second")


def test_what_a_key_is(tmp_path):
    file = tmp_path / "keys"
    file.write_bytes(b"\xef\xbb\xbffirst\nTrue\n")  # a byte order mark is no part of a key
    assert Keys(file).check("first") != Keys(file).check("True")
    for key in (True, ["True"], {"True": 5}):
        with pytest.raises(Rejection, match="Invalid API key"):
            Keys(file).check(key)
    for nothing in (None, "", 0, False, []):
        with pytest.raises(Rejection, match="get an API key"):
            Keys(file).check(nothing)
