"""Message catalogs of gettext (.po, .pot)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.mnemonics import read_label
from headway.ext.documents.paragraph import (
    Document,
    DocumentOptions,
    Paragraph,
    Translated,
)
from headway.ext.documents.plural_forms import NumberedText, PluralForms, choose_plural_forms
from headway.ext.documents.po_entries import PoEntry, quote, read_entries, read_flags
from headway.ext.documents.text_file import Edit, read_text_file
from headway.ext.protect import FormattedMessage, find_meaning, find_protected_text
from headway.text import is_translatable

# The entry of the empty text is the header.
_HEAD = re.compile(
    rb'^[ \t]*+msgid\s*+""\s*+msgstr\s*+((?:"(?:[^"\\]|\\.)*+"\s*+)++)', re.MULTILINE
)
_CHARSET = re.compile(rb"charset=([\w.:-]+)")
# Of a catalog without a header; gettext needs one to read plurals.
_HEADER = "MIME-Version: 1.0\nContent-Type: text/plain; charset=CHARSET\nContent-Transfer-Encoding: 8bit\n"
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
        (each for each in entries if not (each.ids[0] or each.context)),
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
    catalog = _Catalog(line_end, forms, is_right, options.is_complete)
    found = [
        _CatalogEntry(catalog, each)
        for each in entries
        if is_translatable(each.ids[0])
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
        form: The number of the form.
        message: Is translated, with the number of a count if there is one.
        flags: Of the entry.
        is_own: Whether the form says what it is for: others are a guess.
        numbered: The text with its count; None: it is translated as it is.
    """

    form: int
    message: FormattedMessage
    flags: Sequence[str]
    is_own: bool
    numbered: NumberedText | None = None

    @property
    def paragraph(self) -> Paragraph:
        """What is translated."""
        message = self.message
        places = [(each.start, each.start + len(each.source)) for each in message.directives]
        return Paragraph.of(message.text, places)

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


@dataclass(frozen=True)
class _Catalog:
    """What the entries of a catalog share.

    Attributes:
        line_end: How its lines end.
        forms: The plural forms; None: it declares none.
        is_right: Whether the plural forms are those of the language.
        is_complete: Whether plural forms with a translation are translated again.
    """

    line_end: str
    forms: PluralForms | None
    is_right: bool
    is_complete: bool


class _CatalogEntry:
    """An entry that is translated."""

    __slots__ = ("_catalog", "_entry", "_sources")

    def __init__(self, catalog: _Catalog, entry: PoEntry) -> None:
        self._catalog, self._entry = catalog, entry
        self._sources = [*self._list_sources()]

    @property
    def start(self) -> int:
        """Where it starts."""
        return self._entry.start

    @property
    def paragraphs(self) -> list[Paragraph]:
        """What is translated for each form: of a plural, also sentences with numbers that the form serves."""
        return [source.paragraph for source in self._sources]

    def _list_sources(self) -> Iterator[_Source]:
        """Yield the sources of each form, the best first; the last one is the text as it is."""
        entry, forms = self._entry, self._catalog.forms
        one, *others = entry.ids
        if not others:
            yield _Source(0, FormattedMessage(one, entry.flags), entry.flags, True)
            return
        is_plain = forms is None or forms.is_plain
        numbers = forms.numbers if forms else [()] * max(2, len(entry.strings))
        for form, own in enumerate(numbers):
            is_one = max(own) == 1 if own else form == 0 and forms is None
            if not is_one and not is_plain:
                usual = [number for number in own if number > 1][:_TRIES] or own[:1]
                tries = [(one, 1)] * (1 in own) + [(others[0], number) for number in usual]
                for text, number in tries:
                    if count := _find_count(text, entry.flags):
                        numbered = NumberedText(text, count, number)
                        message = FormattedMessage(numbered.filled, entry.flags)
                        yield _Source(form, message, entry.flags, self._catalog.is_right, numbered)
            is_own = self._catalog.is_right and (is_one or is_plain)
            message = FormattedMessage(one if is_one else others[0], entry.flags)
            yield _Source(form, message, entry.flags, is_own)

    def edit(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return the edits that replace the translations of the entry, and say how finished they are."""
        if any(each.is_missing for each in translations):
            return []
        texts = dict[int, str]()
        is_finished = all(each.is_finished for each in translations)
        for source, translated in zip(self._sources, translations, strict=True):
            if source.form not in texts and (text := source.write(translated)) is not None:
                texts[source.form] = text
                is_finished = is_finished and source.is_own
        marked = _mark(self._entry, self._catalog.line_end, is_fuzzy=not is_finished)
        return [*marked, self._write([*texts.values()])]

    def _write(self, forms: Sequence[str]) -> Edit:
        """Return the edit that replaces the translations, one for each form."""
        catalog, entry = self._catalog, self._entry
        strings, line_end = entry.strings, catalog.line_end
        names = ["msgstr"]
        if len(entry.ids) == 2:
            names = [f"msgstr[{number}]" for number in range(len(forms))]
        kept = {
            each.keyword: entry.catalog[each.start : each.end].rstrip() + line_end
            for each in strings
            if each.text and not catalog.is_complete and not entry.is_fuzzy
        }
        lines = [
            kept.get(name) or quote(name, _like(entry.ids[-1], form), line_end)
            for name, form in zip(names, forms, strict=True)
        ]
        if not entry.catalog.endswith("\n", 0, strings[-1].end):  # the file has no last line end
            lines[-1] = lines[-1].removesuffix(line_end)
        return Edit(strings[0].start, strings[-1].end, "".join(lines))


def _find_count(message: str, flags: Sequence[str]) -> str:
    """Return how a message says how many there are; "" if it does not, or in a way that is not known."""
    found = [each.source for each in FormattedMessage(message, flags).directives]
    if not found:
        parts = find_protected_text(message)
        found = [message[part.start : part.end] for part in parts if part.kind == "name"]
    counts = [each for each in found if find_meaning(each) == "number"]
    found = counts if len(counts) == 1 else found
    return found[0] if len(found) == 1 and message.count(found[0]) == 1 else ""


def _mark(entry: PoEntry, line_end: str, *, is_fuzzy: bool) -> list[Edit]:
    """Return the edits that mark an entry as a guess, or as none, and remove the text that an older guess was made for."""
    if is_fuzzy == entry.is_fuzzy:
        return []
    flags, former = entry.find_comments("#,"), entry.find_comments("#|")
    if is_fuzzy and flags:
        return [Edit(*flags[0].span("mark"), f"#, {_FUZZY},")]
    if is_fuzzy:
        at = former[0].start() if former else entry.start
        return [Edit(at, at, f"#, {_FUZZY}{line_end}")]
    edits = [Edit(*each.span(), "") for each in former]
    for each in flags:
        others = ", ".join(flag for flag in read_flags(each["content"]) if flag != _FUZZY)
        edits.append(Edit(*each.span(), f"#, {others}{each['ending']}" if others else ""))
    return edits


def _like(source: str, text: str) -> str:
    """Return a text with the line ends at both ends that the source has; msgfmt requires one where the source has some."""
    before = source[: len(source) - len(source.lstrip("\n"))]
    after = source[len(source.rstrip("\n")) :]
    return before + text.strip("\n") + after
