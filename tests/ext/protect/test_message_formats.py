"""What a program replaces in a message comes back as gettext wants it, in each format that has a flag."""

import shutil
import subprocess

import pytest

from headway.ext.documents import DocumentOptions, open_document
from headway.ext.documents.paragraph import Translated
from headway.ext.protect import FormattedMessage
from support.bounds import grows_less
from support.cases import each_case, read_rows

# The directives of each format; § is a space in one.
DIRECTIVES = read_rows(__file__, "DIRECTIVES")
HEADER = (
    'msgid ""\nmsgstr ""\n"Project-Id-Version: x\\n"\n"PO-Revision-Date: 2026-01-01 00:00+0000\\n"\n"Last-Translator: A <a@b.org>\\n"\n'
    '"Language-Team: none <x@y.org>\\n"\n"Language: \\n"\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Content-Transfer-Encoding: 8bit\\n"\n\n'
)


def list_messages():
    """Return formats and messages: each directive alone, and several that take the next values."""
    messages = []
    for name, words in DIRECTIVES.items():
        directives = [word.replace("§", " ") for word in words.split()]
        messages += [(name, f"A dog {each} runs.") for each in directives]
        if {"%s", "%d"} <= {*directives}:
            messages += [(name, "The man %s has %d dogs and %s."), (name, "%5d of %s, 50%% off")]
    return messages


def reverse(message):
    """Return a text with its directives in the opposite order, as a translation may have them, and a percent sign."""
    text, at = "", 0
    kept = {}
    for here, directive in zip(message.directives, message.directives[::-1], strict=True):
        text += message.text[at : here.start]
        kept[directive.start] = len(text), len(text) + len(directive.source)
        text, at = text + directive.source, here.start + len(here.source)
    return Translated(f"{text}{message.text[at:]} 7%", kept=kept)


def quote(text):
    """Return a string of a catalog."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="msgfmt is not installed")
def test_gettext_accepts_messages_whose_directives_have_moved(tmp_path):
    messages = list_messages()
    assert len(messages) > 400
    source = HEADER + "".join(
        f'#, {name}-format\nmsgctxt {quote(name)}\nmsgid {quote(text)}\nmsgstr ""\n\n'
        for name, text in messages
    )
    document = open_document(source.encode(), "x.po", DocumentOptions("en", "de"))
    read = [FormattedMessage(text, [f"{name}-format"]) for name, text in messages]
    assert [paragraph.text for paragraph in document.paragraphs] == [each.text for each in read]
    written = document.write([reverse(each) for each in read])
    (tmp_path / "x.po").write_bytes(written)
    done = subprocess.run(
        ["msgfmt", "-c", "-o", "/dev/null", str(tmp_path / "x.po")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_each_directive_is_one_and_stays_as_it_is():
    for name, text in list_messages():
        message = FormattedMessage(text, ["fuzzy", f"{name}-format"])
        assert message.directives or any(twice in text for twice in ("''", "~~", "%%")), text
        same = {start: (start, start + len(source)) for start, source, _ in message.directives}
        assert message.write(message.text, same) == text


@each_case
def test_directives_that_take_the_next_value_are_numbered_or_keep_their_order(
    flag, text, translation, written
):
    message = FormattedMessage(text, [f"{flag}-format"])
    assert message.text == translation
    moved = reverse(message)
    suffix = " 7%%" if flag in ("c", "objc", "python") else " 7%"
    assert message.write(moved.text, moved.kept) == written + suffix


def test_the_flag_says_whether_a_percent_sign_begins_a_directive():
    text = "a 50 % discount"
    assert not FormattedMessage(text, []).directives
    assert not FormattedMessage(text, ["no-c-format"]).directives
    [directive] = FormattedMessage(text, ["c-format"]).directives
    assert directive.source == "% discount"


def test_the_first_form_has_the_number_where_it_serves_more_than_one():
    source = (
        HEADER
        + '#, c-format\nmsgid "one dog"\nmsgid_plural "%d dogs"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    )
    for target, first in (("de", "one dog"), ("ru", "%d dogs"), ("fr", "one dog")):
        document = open_document(source.encode(), "x.po", DocumentOptions("en", target))
        translated = [
            Translated(p.text, kept={e.start: (e.start, e.end) for e in p.elements})
            for p in document.paragraphs
        ]
        assert f'msgstr[0] "{first}"' in document.write(translated).decode()


@pytest.mark.parametrize(
    "name", ["c", "python", "java", "java-printf", "php", "perl", "gcc-internal", "ruby", "boost", "lisp", "rust", "sh"]
)  # fmt: skip
def test_four_times_as_many_signs_of_a_format_take_four_times_as_long(name):
    for pumped in ("%", "{a", "%1", "~1,", "%*", "%(", "$", "%|", "%<", "'{", "% ", "{a{b}"):
        assert grows_less(
            lambda n, p=pumped: FormattedMessage("A " + p * n, [f"{name}-format"]),
            1_000,
            times=9,
        ), pumped
