"""Documents of text formats: through translators whose result is known, only the text changes."""

from contextlib import suppress

import pytest

from headway.errors import HeadwayError
from headway.ext.documents.opening import (
    CONVERSIONS,
    check_is_lines,
    is_document,
    list_suffixes,
    open_document,
)
from headway.ext.documents.paragraph import Translated
from support.bounds import grows_less
from support.cases import each_case
from support.document_promises import SHAPES, changed, damaged, read_shape, unchanged
from support.documents import TEXT_FORMATS


@pytest.mark.parametrize("suffix", TEXT_FORMATS)
@pytest.mark.parametrize("promise", [unchanged, changed, damaged])
def test_documents_keep_their_promises(suffix, promise):
    assert [broken for seed in range(8) if (broken := promise(suffix, seed))] == []


@each_case
def test_the_time_for_a_file_grows_with_its_size(name, begin, unit, end, count):
    """Each repeats a unit, in which its number may stand."""

    def work(count):
        text = begin + "".join(unit.replace("{k}", str(k)) for k in range(count)) + end
        with suppress(HeadwayError):
            document = open_document(text.encode(), f"x{name}")
            document.write([Translated(each.text.upper()) for each in document.paragraphs])

    assert grows_less(work, count, 8)


@pytest.mark.parametrize("suffix", sorted({suffix for suffix, *_ in SHAPES}))
def test_the_time_for_repeated_marks_is_linear(suffix):
    for shape in SHAPES:

        def read(count, shape=shape):
            assert not read_shape(*shape, count)

        # A page is searched for its encoding in its first 2,048 bytes alone.
        count = 60 if suffix == ".md" else 100
        assert shape[0] != suffix or grows_less(read, count, 8), shape


@pytest.mark.parametrize(("suffix", "most"), [(".md", 8_000_000), (".json", 8_000_000), (".docx", 64_000_000)])  # fmt: skip
def test_a_file_that_is_too_large_is_refused(suffix, most):
    with pytest.raises(HeadwayError, match=f"has {most + 1:,} bytes: .*{most:,}"):
        open_document(bytes(most + 1), f"x{suffix}")


def test_every_suffix_is_read_and_others_are_named():
    for suffix in list_suffixes():
        with pytest.raises(HeadwayError) as raised:
            open_document(b"\xff\x00\x01", f"x{suffix}")
        assert "use one of" not in str(raised.value)
    with pytest.raises(HeadwayError, match=r"x\.exe: is no document that can be translated: use"):
        open_document(b"", "x.exe")
    with pytest.raises(HeadwayError, match=r"^x\.doc: .*: convert it to \.docx$"):
        open_document(b"", "x.doc")
    assert not is_document("x.txt")
    assert not is_document("x.en")
    assert is_document("X.HTML")


def test_what_a_file_is_converted_to_can_be_translated():
    for targets, others in CONVERSIONS.items():
        assert {*targets.split(" or ")} <= {*list_suffixes()}, targets
        assert {*list_suffixes()}.isdisjoint(others.split()), others


@pytest.mark.parametrize("name", ["a.txt", "train.en", "test.2016.de.gz", "a.TXT.xz", "lines"])
def test_a_file_of_another_name_may_be_lines(name):
    check_is_lines(name)


@each_case
def test_a_file_that_is_neither_lines_nor_a_document_is_refused(name, message):
    with pytest.raises(HeadwayError, match=f"^{name}: {message}$"):
        check_is_lines(name)
