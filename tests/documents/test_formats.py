"""Documents of text formats: through translators whose result is known, only the text changes."""

from collections.abc import Callable

import pytest

from headway.documents.opening import SUFFIXES, is_document, open_document
from headway.errors import HeadwayError
from support.document_promises import SHAPES, changed, damaged, read_shape, unchanged
from support.documents import MAKERS


@pytest.mark.parametrize("suffix", MAKERS)
@pytest.mark.parametrize("promise", [unchanged, changed, damaged])
def test_documents_keep_their_promises(suffix: str, promise: Callable[[str, int], str]) -> None:
    assert [broken for seed in range(15) if (broken := promise(suffix, seed))] == []


@pytest.mark.slow
def test_repeated_marks_take_no_time() -> None:
    assert [broken for shape in SHAPES if (broken := read_shape(*shape, 4_000))] == []


def test_every_suffix_is_read_and_others_are_named() -> None:
    for suffix in SUFFIXES:
        with pytest.raises(HeadwayError) as raised:
            open_document(b"\xff\x00\x01", f"x{suffix}")
        assert "use one of" not in str(raised.value)
    with pytest.raises(HeadwayError, match=r"x\.exe: is no document that can be translated: use"):
        open_document(b"", "x.exe")
    assert not is_document("x.txt")
    assert not is_document("x.en")
    assert is_document("X.HTML")
