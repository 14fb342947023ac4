"""Message catalogs of gettext (.po, .pot)."""

import re
from collections.abc import Sequence

from headway.errors import HeadwayError
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.paragraph import DocumentOptions, Element, Paragraph, Translated
from headway.ext.documents.plural_forms import find_plural_forms
from headway.ext.documents.po_entries import Entry, quote, read_entries
from headway.ext.documents.text_file import Edit, apply_edits, read_text_file
from headway.ext.protect import FormattedMessage
from headway.text import is_translatable

# The entry of the empty text is the header.
_HEAD = re.compile(
    rb'^[ \t]*+msgid\s*+""\s*+msgstr\s*+((?:"(?:[^"\\]|\\.)*+"\s*+)++)', re.MULTILINE
)
_CHARSET = re.compile(rb"charset=([\w.:-]+)")
_LANGUAGE = re.compile(r"^Language:[ \t]*([\w-]+)", re.MULTILINE)
_PLURALS = re.compile(r"nplurals\s*=\s*([1-6])\s*;")
# Of languages whose first form serves 1, and perhaps 0, but not 21.
_FIRST_IS_ONE = re.compile(r"plural\s*=[\s(]*n\s*(?:(?:!=|>)\s*1\b|==\s*[01]\b)")
# Of a catalog without a header; gettext needs one to read plurals.
_HEADER = "MIME-Version: 1.0\nContent-Type: text/plain; charset=CHARSET\nContent-Transfer-Encoding: 8bit\n"


class PoDocument:
    """A message catalog: entries without a translation, and those marked as fuzzy, are translated.

    A new translation is not fuzzy. Entries with a translation, and obsolete ones, stay as they are.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no message catalog.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        head = _HEAD.search(data)
        declared = _CHARSET.search(head[1]) if head else None
        name = declared[1].decode() if declared and declared[1] != b"CHARSET" else ""
        self._file = read_text_file(data, options.source, name)
        entries = read_entries(self._file.text, self._file.encoding)
        if not entries:
            raise HeadwayError('has no entry such as msgid "text"')
        self._line_end = "\r\n" if "\r\n" in self._file.text else "\n"
        headers = (entry for entry in entries if not (entry.ids[0].text or entry.context))
        self._header = next(headers, None)
        self._old_header = self._header.strings[0].text if self._header else ""
        language = _LANGUAGE.search(self._old_header)
        self._language = language[1] if language else ""
        self._is_complete = options.is_complete
        if not options.is_complete:
            check_catalog("translations into", self._language, options.target)
        needs_header = self._header is not None or any(len(entry.ids) == 2 for entry in entries)
        self._new_header = self._old_header
        if options.target and needs_header:
            self._new_header = self._name_language(options.target)
        found = _PLURALS.search(self._new_header)
        self._plurals = int(found[1]) if found else 0
        self._entries = [
            entry
            for entry in entries
            if is_translatable(entry.ids[0].text)
            and (options.is_complete or entry.is_fuzzy or not entry.is_translated)
        ]

        self._messages = [
            FormattedMessage(message.text, entry.flags)
            for entry in self._entries
            for message in entry.ids
        ]

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The text of each entry, and then its plural if it has one."""
        return [
            Paragraph(
                message.text,
                [
                    Element(start, start + len(source), None, is_kept=True)
                    for start, source, _ in message.directives
                ],
            )
            for message in self._messages
        ]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with translated entries."""
        found = iter(zip(self._messages, translations, strict=True))
        edits = self._edit_header()
        for entry in self._entries:
            texts = [next(found) for _ in entry.ids]
            if not any(text.is_missing for _, text in texts):
                forms = [message.write(text.text, text.kept) for message, text in texts]
                counts = {len(message.directives) for message, _ in texts}
                if len(counts) > 1 and not _FIRST_IS_ONE.search(self._new_header):
                    forms[0] = forms[1]  # "one dog" is wrong for 21 dogs
                edits += self._edit_entry(entry, forms)
        written = apply_edits(self._file.text, edits)
        if not self._file.can_encode(written):
            raise HeadwayError(
                f"{self._file.encoding} lacks characters of the translation: first convert the catalog"
                " (msgconv --to-code UTF-8)"
            )
        return self._file.encode(written)

    def _edit_entry(self, entry: Entry, texts: Sequence[str]) -> list[Edit]:
        """Return the edits that replace the translations of an entry."""
        strings, line_end = entry.strings, self._line_end
        texts = [_like(message.text, text) for message, text in zip(entry.ids, texts, strict=True)]
        if len(texts) == 1:
            lines = [quote("msgstr", texts[0], line_end)]
        else:  # the first form is the singular, unless the language has one form
            count = self._plurals or max(2, len(strings))
            forms = [texts[1]] if count == 1 else [texts[0]] + [texts[1]] * (count - 1)
            kept = {} if self._is_complete or entry.is_fuzzy else self._find_forms(entry)
            names = [f"msgstr[{n}]" for n in range(len(forms))]
            lines = [
                kept.get(name) or quote(name, form, line_end)
                for name, form in zip(names, forms, strict=True)
            ]
        if not self._file.text.endswith("\n", 0, strings[-1].end):  # the file has no last line end
            lines[-1] = lines[-1].removesuffix(line_end)
        return [*_remove_fuzzy(entry), Edit(strings[0].start, strings[-1].end, "".join(lines))]

    def _find_forms(self, entry: Entry) -> dict[str, str]:
        """Return the lines of the plural forms that have a translation, by their keywords."""
        text = self._file.text
        return {
            each.keyword: text[each.start : each.end].rstrip() + self._line_end
            for each in entry.strings
            if each.text
        }

    def _name_language(self, language: str) -> str:
        """Return a header with the language, the encoding, and the language's plural forms if it names none."""
        header = self._old_header or _HEADER
        header = header.replace("charset=CHARSET", f"charset={self._file.encoding.upper()}")
        if not names_language(self._language, language):
            header = _set_field(header, "Language", language.replace("-", "_"))
        forms = find_plural_forms(language)
        if forms and not _PLURALS.search(header):
            header = _set_field(header, "Plural-Forms", forms)
        return header

    def _edit_header(self) -> list[Edit]:
        """Return the edits that write the new header."""
        if self._new_header == self._old_header:
            return []
        lines = quote("msgstr", self._new_header, self._line_end)
        if self._header is None:
            return [Edit(0, 0, f'msgid ""{self._line_end}{lines}{self._line_end}')]
        string = self._header.strings[0]
        return [*_remove_fuzzy(self._header), Edit(string.start, string.end, lines)]


def _set_field(header: str, name: str, value: str) -> str:
    """Return a header in which a field has a value; a new field comes last."""
    field = f"{name}: {value}\n"
    header, count = re.subn(rf"^{name}:.*\n?", lambda _: field, header, flags=re.MULTILINE)
    return header if count else header + "\n" * (not header.endswith("\n")) + field


def _remove_fuzzy(entry: Entry) -> list[Edit]:
    """Return the edits that remove the mark of a guess, and the former texts for which it was made."""
    edits, is_fuzzy = [], entry.is_fuzzy
    for comment in entry.comments:
        if comment.line.startswith("#|") and is_fuzzy:
            edits.append(Edit(comment.start, comment.end, ""))
        elif comment.line.startswith("#,"):
            ending = comment.line[len(comment.line.rstrip()) :]
            flags = [flag.strip() for flag in comment.line[2:].split(",")]
            if "fuzzy" in flags:
                rest = ", ".join(flag for flag in flags if flag != "fuzzy")
                edits.append(Edit(comment.start, comment.end, f"#, {rest}{ending}" if rest else ""))
    return edits


def _like(source: str, text: str) -> str:
    """Return a text with the line ends at both ends that the source has; msgfmt requires one where the source has some."""
    before = source[: len(source) - len(source.lstrip("\n"))]
    after = source[len(source.rstrip("\n")) :]
    return before + text.strip("\n") + after
