"""Message catalogs of gettext (.po, .pot)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.mnemonics import read_label
from headway.ext.documents.paragraph import (
    Document,
    DocumentOptions,
    Element,
    Paragraph,
    Translated,
)
from headway.ext.documents.plural_forms import NumberedText, PluralForms, choose_plural_forms
from headway.ext.documents.po_entries import PoEntry, quote, read_entries
from headway.ext.documents.text_file import Edit, read_text_file
from headway.ext.protect import FormattedMessage, find_protected_text
from headway.text import is_translatable

# The entry of the empty text is the header.
_HEAD = re.compile(
    rb'^[ \t]*+msgid\s*+""\s*+msgstr\s*+((?:"(?:[^"\\]|\\.)*+"\s*+)++)', re.MULTILINE
)
_CHARSET = re.compile(rb"charset=([\w.:-]+)")
# Of a catalog without a header; gettext needs one to read plurals.
_HEADER = "MIME-Version: 1.0\nContent-Type: text/plain; charset=CHARSET\nContent-Transfer-Encoding: 8bit\n"
_COUNT = re.compile(
    r"%(?:\d+\$|\(\w+\))?[-+ #0']*l*[diu]|.*?(?:\b|_)(?:n|num|number|count|total)\W*"
)
_TRIES = 2  # numbers from which a plural form is made: in a translation one may be a word
_FUZZY = "fuzzy"


def read_po(data: bytes, options: DocumentOptions) -> Document:
    """Read a catalog: entries without a translation, and those marked as fuzzy, are translated.

    Entries with a translation, and obsolete ones, stay as they are.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no message catalog.
    """
    head = _HEAD.search(data)
    declared = _CHARSET.search(head[1]) if head else None
    encoding = declared[1].decode() if declared and declared[1] != b"CHARSET" else ""
    advice = "first convert the catalog (msgconv --to-code UTF-8)"
    file = read_text_file(data, options.source, encoding, advice=advice)
    entries = read_entries(file.text, file.encoding)
    if not entries:
        raise HeadwayError('has no entry such as msgid "text"')
    header = next(
        (
            each
            for each in entries
            if not (each.ids[0].text or any(group.text for group in each.find("msgctxt")))
        ),
        None,
    )
    old = header.strings[0].text if header else ""
    if not options.is_complete:
        check_catalog("translations into", _find_language(old), options.target)
    plurals = [each for each in entries if len(each.ids) == 2]
    new = old
    if options.target and (header or plurals):
        done = any(each.text for entry in plurals for each in entry.strings)
        may_change = options.is_complete or not done
        new = _name_language(old or _HEADER, options.target, may_change=may_change)
        new = new.replace("charset=CHARSET", f"charset={file.encoding.upper()}")
    line_end = "\r\n" if "\r\n" in file.text else "\n"
    edits = []
    if new != old:
        lines = quote("msgstr", new, line_end)
        if header:
            string = header.strings[0]
            edits = [
                *_mark(header, line_end, is_fuzzy=False),
                Edit(string.start, string.end, lines),
            ]
        else:
            edits = [Edit(0, 0, f'msgid ""{line_end}{lines}{line_end}')]
    field = _find_field(new, "Plural-Forms")
    forms = PluralForms.parse(field)
    usual = choose_plural_forms(field, options.target, may_change=True)
    is_right = forms is not None and usual == field
    found = [
        _CatalogEntry(each, forms, file.text, line_end, options.is_complete, is_right)
        for each in entries
        if is_translatable(each.ids[0].text)
        and (options.is_complete or each.is_fuzzy or not all(form.text for form in each.strings))
    ]
    return EditedFile(file, found, edits, partial(read_label, language=options.target))


def _find_field(header: str, name: str) -> str:
    """Return the value of a field of a header; "" if there is none."""
    found = re.search(rf"^{name}:[ \t]*(.*)", header, re.MULTILINE)
    return found[1] if found else ""


def _find_language(header: str) -> str:
    """Return the code of the language that a header names, without a variant such as ``@latin``; "" if it names none."""
    return re.split(r"[^\w-]", _find_field(header, "Language"))[0]


def _name_language(header: str, language: str, *, may_change: bool) -> str:
    """Return a header with the language, and with its plural forms if it has none, or wrong ones."""
    if not names_language(_find_language(header), language):
        header = _set_field(header, "Language", language.replace("-", "_"))
    declared = _find_field(header, "Plural-Forms")
    forms = choose_plural_forms(declared, language, may_change=may_change)
    return header if forms == declared else _set_field(header, "Plural-Forms", forms)


def _set_field(header: str, name: str, value: str) -> str:
    """Return a header in which a field has a value; a new field comes last."""
    field = f"{name}: {value}\n"
    header, count = re.subn(rf"^{name}:.*\n?", lambda _: field, header, flags=re.MULTILINE)
    return header if count else header + "\n" * (not header.endswith("\n")) + field


@dataclass(slots=True)
class _Source:
    """A text from which a form of a message is made.

    Attributes:
        message: Is translated, with the number of a count if there is one.
        flags: Of the entry.
        is_own: Whether the form says what it is for: others are a guess.
        numbered: The text with its count; None: it is translated as it is.
    """

    message: FormattedMessage
    flags: Sequence[str]
    is_own: bool
    numbered: NumberedText | None = None

    @property
    def paragraph(self) -> Paragraph:
        """What is translated."""
        message = self.message
        places = [(each.start, each.start + len(each.source)) for each in message.directives]
        return Paragraph(message.text, [Element(*span, is_kept=True) for span in places])

    def write(self, translated: Translated) -> str | None:
        """Return the form; None: the translation does not have the number once, or values in another order."""
        written = self.message.write(translated.text, translated.kept)
        if self.numbered is None:
            return written
        restored = self.numbered.restore(written)
        order = _list_unnamed(self.numbered.text, self.flags)
        is_in_order = restored is not None and _list_unnamed(restored, self.flags) == order
        return restored if is_in_order else None


def _list_unnamed(message: str, flags: Sequence[str]) -> list[str]:
    """Return what a program replaces by one value after the other."""
    return [each.source for each in FormattedMessage(message, flags).directives if each.takes_next]


@dataclass(slots=True)
class _CatalogEntry:
    """An entry that is translated.

    Attributes:
        entry: The entry.
        forms: The plural forms of the catalog; None: it declares none.
        text: The catalog.
        line_end: Of the catalog.
        is_complete: Whether plural forms with a translation are translated again.
        is_right: Whether the plural forms are those of the language.
    """

    entry: PoEntry
    forms: PluralForms | None
    text: str
    line_end: str
    is_complete: bool
    is_right: bool
    _sources: list[list[_Source]] = field(init=False)

    def __post_init__(self) -> None:
        self._sources = self._read_sources()

    @property
    def start(self) -> int:
        """Where its text starts."""
        return self.entry.ids[0].start

    @property
    def paragraphs(self) -> list[Paragraph]:
        """What is translated for each form: of a plural, also sentences with numbers that the form serves."""
        return [source.paragraph for sources in self._sources for source in sources]

    def _read_sources(self) -> list[list[_Source]]:
        """Return the sources of each form, the best first; the last one is the text as it is."""
        one, *others = (each.text for each in self.entry.ids)
        if not others:
            flags = self.entry.flags
            return [[_Source(FormattedMessage(one, flags), flags, True)]]
        numbers = self.forms.numbers if self.forms else [()] * max(2, len(self.entry.strings))
        return [
            [*self._list_sources(own, one, others[0], is_first=not number)]
            for number, own in enumerate(numbers)
        ]

    def _list_sources(
        self, numbers: Sequence[int], one: str, several: str, *, is_first: bool
    ) -> Iterator[_Source]:
        """Yield the sources of the form that serves some numbers."""
        flags, is_plain = self.entry.flags, self.forms is None or self.forms.is_plain
        is_one = max(numbers) == 1 if numbers else is_first and self.forms is None
        if not is_one and not is_plain:
            usual = [number for number in numbers if number > 1][:_TRIES] or numbers[:1]
            tries = [(one, 1)] * (1 in numbers) + [(several, number) for number in usual]
            for text, number in tries:
                if count := _find_count(text, flags):
                    numbered = NumberedText(text, count, number)
                    message = FormattedMessage(numbered.filled, flags)
                    yield _Source(message, flags, self.is_right, numbered)
        is_own = self.is_right and (is_one or is_plain)
        yield _Source(FormattedMessage(one if is_one else several, flags), flags, is_own)

    def edit(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return the edits that replace the translations of the entry, and say how finished they are."""
        if any(each.is_missing for each in translations):
            return []
        left, texts = iter(translations), list[str]()
        is_finished = all(each.is_finished for each in translations)
        for sources in self._sources:
            found = [(source.write(next(left)), source.is_own) for source in sources]
            text, is_own = next(each for each in found if each[0] is not None)
            texts.append(text or "")
            is_finished = is_finished and is_own
        return [*_mark(self.entry, self.line_end, is_fuzzy=not is_finished), self._write(texts)]

    def _write(self, forms: Sequence[str]) -> Edit:
        """Return the edit that replaces the translations, one for each form."""
        entry, strings, line_end = self.entry, self.entry.strings, self.line_end
        names = ["msgstr"]
        if len(entry.ids) == 2:
            names = [f"msgstr[{number}]" for number in range(len(forms))]
        kept = {
            each.keyword: self.text[each.start : each.end].rstrip() + line_end
            for each in strings
            if each.text and not self.is_complete and not entry.is_fuzzy
        }
        lines = [
            kept.get(name) or quote(name, _like(entry.ids[-1].text, form), line_end)
            for name, form in zip(names, forms, strict=True)
        ]
        if not self.text.endswith("\n", 0, strings[-1].end):  # the file has no last line end
            lines[-1] = lines[-1].removesuffix(line_end)
        return Edit(strings[0].start, strings[-1].end, "".join(lines))


def _find_count(message: str, flags: Sequence[str]) -> str:
    """Return how a message says how many there are; "" if it does not, or in a way that is not known."""
    found = [each.source for each in FormattedMessage(message, flags).directives]
    if not found:
        parts = find_protected_text(message)
        found = [message[part.start : part.end] for part in parts if part.kind == "name"]
    counts = [each for each in found if _COUNT.fullmatch(each)]
    found = counts if len(counts) == 1 else found
    return found[0] if len(found) == 1 and message.count(found[0]) == 1 else ""


def _mark(entry: PoEntry, line_end: str, *, is_fuzzy: bool) -> list[Edit]:
    """Return the edits that mark an entry as a guess, or as none, and remove the text that an older guess was made for."""
    flags, former = entry.find("#,"), entry.find("#|")
    if is_fuzzy == entry.is_fuzzy:
        return []
    if is_fuzzy and flags:
        return [Edit(flags[0].start, flags[0].start + 2, f"#, {_FUZZY},")]
    if is_fuzzy:
        at = (former or entry.find("msg"))[0].start
        return [Edit(at, at, f"#, {_FUZZY}{line_end}")]
    edits = [Edit(each.start, each.end, "") for each in former]
    for each in flags:
        ending = each.text[len(each.text.rstrip()) :]
        others = ", ".join(flag for flag in each.flags if flag != _FUZZY)
        edits.append(Edit(each.start, each.end, f"#, {others}{ending}" if others else ""))
    return edits


def _like(source: str, text: str) -> str:
    """Return a text with the line ends at both ends that the source has; msgfmt requires one where the source has some."""
    before = source[: len(source) - len(source.lstrip("\n"))]
    after = source[len(source.rstrip("\n")) :]
    return before + text.strip("\n") + after
