"""Files of keys: what counts as a key, and what stays when a file cannot be read again."""

import pytest

from headway.errors import HeadwayError
from headway.ext.server.keys import Keys


def test_keys_are_read_again_or_stay(tmp_path):
    file = tmp_path / "keys"
    file.write_text("first\n")
    keys = Keys(file)
    name = keys.find_owner("first")
    file.write_text("second\nfirst\n")
    assert keys.find_owner("second") is None
    keys.read()
    assert keys.find_owner("first") == name  # the client's rate continues
    assert keys.find_owner("second") != name
    assert "second" not in keys.find_owner("second")
    for broken in (b"# none\n", b"\xff"):
        file.write_bytes(broken)
        with pytest.raises(HeadwayError, match="keys"):
            keys.read()
        assert keys.find_owner("second")
    file.unlink()
    with pytest.raises(OSError, match="keys"):
        keys.read()
    assert keys.find_owner("second")


def test_what_a_key_is(tmp_path):
    file = tmp_path / "keys"
    file.write_bytes(b"\xef\xbb\xbffirst\nTrue\n")  # a byte order mark is no part of a key
    assert Keys(file).find_owner("first") != Keys(file).find_owner("True")
    for wrong in (True, ["True"], {"True": 5}, None, "", 0):
        assert Keys(file).find_owner(wrong) is None
