"""What a program replaces in a message comes back as gettext wants it, in each format that has a flag."""

import shutil
import subprocess

import pytest

from headway.ext.documents import DocumentOptions, open_document
from headway.ext.documents.paragraph import Translated
from headway.ext.protect import FormattedMessage
from support.bounds import grows_less
from support.cases import each_case

C = (
    "%d %i %o %u %x %X %e %E %f %F %g %G %a %A %c %s %p %n %m %ld %lld %hd %hhd %zu %jd %td %Lf %ls %5d %-5d %05d %+d %#x %'d %Id "
    "%.2f %10.3f %*d %-*s %.*s %*.*f %1$s %1$*2$d %% %<PRIu64> %5<PRIx32> %§d"
)
# The directives of each format; § is a space in one.
DIRECTIVES = {
    "c": C,
    "objc": "%@ %d %s %1$@ %lu %% %#@books@",
    "python": "%d %i %o %u %x %e %f %g %c %r %s %5d %-5s %+d %05.2f %ld %*d %.*f %(name)s %(size).2f %(n)05d %% %§d",
    "python-brace": "{0} {name} {name.attr} {0[key]} {n:d} {n:>10} {n:.2f} {n:{width}} {{ }}",
    "java": "{0} {1} {0,number} {0,number,#.##} {0,date,short} {0,choice,0#no§files|1#one§file|1<{0}§files} '{x}' ''",
    "java-printf": "%d %s %b %h %c %o %x %e %f %g %a %n %% %1$s %5d %-5d %,d %+d %(d %#x %,.2f %tB %1$tm %§d",
    "csharp": "{0} {1} {0,5} {0,-10} {0:N2} {0:yyyy-MM-dd} {{ }}",
    "javascript": "%d %s %b %c %f %o %x %j %% %1$s %5d %05d %-5s %.2f",
    "scheme": "~a ~s ~d ~b ~x ~c ~f ~e ~% ~~ ~5d ~5,2f ~:d ~p ~@p ~10t ~?",
    "lisp": "~a ~S ~d ~b ~:r ~@r ~c ~f ~$ ~% ~& ~~ ~5d ~,2f ~10t ~,,'.,4:d ~va ~#d ~d§dog~:p ~:[no~;yes~] ~{~a~^,§~} ~(~a~)",
    "elisp": "%s %S %d %o %x %c %e %f %g %% %1$s %5d %-5s %.2f %§d",
    "librep": "%s %S %d %o %x %X %c %% %1$s %5d %-5s",
    "smalltalk": "%1 %2 %9 %%",
    "awk": "%d %i %o %u %x %e %f %g %c %s %% %1$s %*d %5d %.2f %1$*2$d %§d",
    "lua": "%d %i %o %u %x %e %f %g %c %q %s %% %5d %05d %.2f",
    "object-pascal": "%d %u %e %f %g %n %m %p %s %x %D %% %0:d %1:s %5d %-5d %.2f %*d %.*f",
    "ycp": "%1 %2 %9 %%",
    "tcl": "%d %i %o %u %x %e %f %g %c %s %% %1$s %*d %5d %ld %.2f %§d",
    "perl": "%d %s %c %u %o %x %e %f %g %b %D %% %1$s %*d %vd %*vd %5d %ld %qd %Lf %.2f %.*f %§d",
    "perl-brace": "{name} {count} {file_name}",
    "php": "%d %s %b %c %e %f %o %u %x %X %% %1$s %5d %-5d %05d %'.10d %'*10s %.2f",
    "gcc-internal": "%d %i %o %u %x %c %s %p %m %% %< %> %' %ld %wd %qs %qE %D %E %T %qD %+D %#T %1$s %.*s",
    "gfc-internal": "%d %i %u %c %s %C %L %% %ld %1$s",
    "qt": "%1 %L1 %%",
    "qt-plural": "%n %Ln",
    "kde": "%1 %2 %%",
    "boost": "%1% %|1$d| %|d| %|20t| %|1$.2f| %d %s %f %x %1$s %5d %-5d %.2f %*d %% %§d",
    "sh": "$name ${name} $HOME_DIR",
    "ruby": "%d %i %o %u %x %b %e %f %g %a %c %s %p %% %1$s %*d %<count>d %<size>.2f %{name} %5d %-5s %+d %.2f %§d",
    "c++": "{} {0} {1:d} {:>10} {{ }} {:{}}",
    "rust": "{} {0} {name} {name:?} {0:>10} {:.2}",
    "go": "%d %s %v %+v %#v %T %[1]d %[2]*[1]d %6.2f %%",
    "d": "%d %s %1$s %x %% %5d %-5s",
    "modula2": "%d %s %c %u %x %5d",
    "ocaml": "%d %i %s %S %c %f %b %5d %ld %nd %.2f",
}  # fmt: skip
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
