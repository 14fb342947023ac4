"""Subtitles: formats that pysubs2 reads, names of speakers, and lines of cues."""

import random
import re

import pysubs2
import pytest

from headway.errors import HeadwayError
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import Translated
from support.cases import each_case
from support.documents import same, translate
from support.office_packages import sentence

TAG = r"\{[^{}]*\}|\\[Nn]"


def make_subtitles(seed, suffix):
    """Return a file that pysubs2 has written, with tags, comments, drawings, styles and names of speakers."""
    chooser, file = random.Random(seed), pysubs2.SSAFile()
    file.styles["Sign"] = pysubs2.SSAStyle(fontname="Arial Black", bold=True)
    at = 0
    for _ in range(chooser.randint(1, 9)):
        at += chooser.randrange(400, 5000)
        words = sentence(chooser, 7)
        text = chooser.choice([
            words, rf"{words}\N{sentence(chooser, 4)}", rf"{{\i1}}{words}{{\i0}} {sentence(chooser, 3)}",
            rf"{{\an8\fad(1,2)}}{words}", rf"- {words}\N- {sentence(chooser, 5)}", rf"{words}, {{a comment}} and {sentence(chooser, 3)}",
        ])  # fmt: skip
        if suffix == ".sub":
            text = re.sub(r"\{[^{}]*\}", "", text)
        event = pysubs2.SSAEvent(at, at + chooser.randrange(300, 4000), text, marginl=3)
        event.style, event.name = chooser.choice(["Default", "Sign"]), chooser.choice(["", "Anna"])
        file.append(event)
    if suffix != ".sub":
        file.append(pysubs2.SSAEvent(at, at + 900, r"{\p1}m 0 0 l 100 0 100 100{\p0}"))
        file.append(pysubs2.SSAEvent(at, at + 900, "a note, of a person", type="Comment"))
    written = file.to_string({".sub": "microdvd"}.get(suffix, suffix[1:]), fps=25)
    return written.replace("ß", "s")  # whose capital is two letters


@pytest.mark.parametrize("suffix", [".ass", ".ssa", ".sub"])
def test_another_program_finds_the_same_times_and_styles_and_only_other_words(suffix):
    for seed in range(70):
        source = make_subtitles(seed, suffix)
        document = open_document(source.encode(), f"x{suffix}")
        assert document.write([same(each) for each in document.paragraphs]) == source.encode()
        assert all(
            re.fullmatch(r"cue \d+ \(00:\d\d:\d\d\)", each.place) for each in document.paragraphs
        )
        written = document.write([translate(each, str.upper) for each in document.paragraphs])
        form = {".sub": "microdvd"}.get(suffix, suffix[1:])
        before, after = (
            pysubs2.SSAFile.from_string(text, form, fps=25) for text in (source, written.decode())
        )
        assert before.styles == after.styles
        assert before.info == after.info
        for old, new in zip(before, after, strict=True):
            assert {**old.as_dict(), "text": ""} == {**new.as_dict(), "text": ""}
            plain, changed = (re.sub(TAG, " ", each.text).split() for each in (old, new))
            if old.is_comment or old.is_drawing:
                assert old.text == new.text
                continue
            assert " ".join(changed) == " ".join(plain).upper()
            tags = [
                sorted(each for each in re.findall(TAG, event.text) if each != r"\n")
                for event in (old, new)
            ]
            assert tags[0] == tags[1] or len(tags[0]) < len(tags[1])  # a long line gets a break


@each_case
def test_other_subtitles_of_these_names_are_refused(suffix, source, message):
    with pytest.raises(HeadwayError, match=message):
        open_document(source.encode(), f"x{suffix}")


@each_case
def test_the_fields_of_a_line_are_those_that_the_file_declares(fields):
    values = {"Start": "0:00:01.00", "End": "0:00:02.00", "Text": "a dog, and a cat"}
    line = ",".join(values.get(name, "x") for name in fields.split(", "))
    source = f"[Events]\nFormat: {fields}\nDialogue: {line}\n"
    [paragraph] = open_document(source.encode(), "x.ass").paragraphs
    assert (paragraph.text, paragraph.place) == ("a dog, and a cat", "cue 1 (00:00:01)")


def test_a_cue_of_two_lines_has_two():
    chooser = random.Random(5)
    for _ in range(200):
        lines = chooser.choice([
            [sentence(chooser, 8)], [sentence(chooser, 8), sentence(chooser, 8)], [f"- {sentence(chooser, 6)}", f"- {sentence(chooser, 6)}"],
            [f"ANNA: {sentence(chooser, 6)}", f"TOM: {sentence(chooser, 9)}"], ["ANNA:", sentence(chooser, 9)], [f"[laughing] {sentence(chooser, 5)}"],
            [sentence(chooser, 5), sentence(chooser, 5), sentence(chooser, 5)], ["(sighs)", f"Tom: {sentence(chooser, 9)}"],
        ])  # fmt: skip
        head = "1\n00:00:01,000 --> 00:00:02,000\n"
        document = open_document((head + "\n".join(lines) + "\n").encode(), "x.srt")
        for longer in (1, 2, 4):
            found = [Translated(" ".join([f"x {p.text}"] * longer)) for p in document.paragraphs]
            written = document.write(found).decode().removeprefix(head).splitlines()
            assert len(written) <= max(2, len(lines)), (lines, written)
            # A line with a name or a note may become two, as any other.
            is_long = len(lines) == 1 and len(found[-1].text) > 50
            assert not is_long or len(written) == 2, (lines, written)
