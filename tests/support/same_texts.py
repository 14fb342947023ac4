"""Requests of all kinds, which a server must answer as the library translates; for one test and one campaign."""

import random
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from headway import Glossary
from headway.ext.documents.document_translation import (
    translate_document,
    translate_page,
    write_document,
)
from headway.ext.documents.html.page import HtmlPage
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from headway.ext.documents.texts import TextPipeline
from headway.translation.requests import run
from support.toy_models import sentences

KEPT = [
    "{name}", "%s", "<b>dog</b>", "https://example.org/a", "`code`", "35 kg", "\u2764", "<br>", "&amp;", "$HOME", "II.", "5 %",
]  # fmt: skip
TERMS = {"cat": "Kater", "dog": ["Köter", "Hund"], "the tree": "Gewächs", "sees": "Hut"}


# What is compared beside the text: the field of the server's answer, and what it is in Python.
MORE = {
    "scores": ("score", lambda found: round(found.score, 6)),
    "alternatives": ("alternatives", lambda found: [text for text, _ in found.alternatives]),
    "quality": ("quality", lambda found: round(found.quality, 4)),
    "align": ("alignment", lambda found: [list(pair) for pair in found.links.pairs]),
}


class Case(NamedTuple):
    """A request: its kind, a text of any length, and what more is asked for."""

    kind: str
    text: str
    more: dict[str, Any]


def make_text(chooser):
    """Return a text of some sentences, with things to keep, capitals and several lines in it."""
    lines = []
    for _ in range(chooser.choice((1, 1, 1, 2, 4))):
        words = []
        for sentence in sentences(chooser.choice((1, 1, 2, 3)), chooser.randrange(10**6)):
            own = sentence.split()
            for kept in chooser.choices(KEPT, k=chooser.choice((0, 0, 1, 2))):
                own.insert(chooser.randrange(len(own) + 1), kept)
            written = " ".join(own)
            kind = chooser.choice(("plain", "plain", "sentence", "capitals"))
            if kind == "sentence":
                written = written[:1].upper() + written[1:] + "."
            words.append(written.upper() if kind == "capitals" else written)
        lines.append(" ".join(words))
    return chooser.choice(("\n", "\n\n", " ")).join(lines)


def make_cases(count, seed):
    """Yield cases of all kinds."""
    chooser = random.Random(seed)
    kinds = ("text", *MORE, "glossary", "html", "md", "srt", "po")
    for number in range(count):
        kind, text = kinds[number % len(kinds)], make_text(chooser)
        more: dict[str, Any] = {}
        if kind == "alternatives":
            more["alternatives"] = chooser.randrange(1, 4)
        if kind == "glossary":
            terms = chooser.sample(sorted(TERMS), chooser.randrange(1, 4))
            more["terms"] = {term: TERMS[term] for term in terms}
        yield Case(kind, text, more)


def ask(client, case):
    """Return what a server answers to a case."""
    fields: dict[str, Any] = {"source": "en", "target": "de"}
    if case.kind in ("md", "srt", "po"):
        files = {"file": (f"a.{case.kind}", write_file(case).encode())}
        answer = client.post("/translate_file", data=fields, files=files)
        assert answer.status_code == 200, answer.text
        return client.get(urlsplit(answer.json()["translatedFileUrl"]).path).text
    path = "/align" if case.kind == "align" else "/translate"
    fields["q"] = case.text
    if case.kind == "html":
        fields |= {"q": write_file(case), "format": "html"}
    if case.kind == "glossary":
        rows = [(term, each) for term, found in case.more["terms"].items() for each in ([found] if isinstance(found, str) else found)]  # fmt: skip
        fields["glossary"] = "".join(f"{term}\t{each}\n" for term, each in rows)
    if case.kind in ("scores", "quality"):
        fields[case.kind] = True
    if case.kind == "alternatives":
        fields["alternatives"] = case.more["alternatives"]
    answer = client.post(path, json=fields)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    if case.kind not in MORE:
        return found["translatedText"]
    field, _ = MORE[case.kind]
    return found["translatedText"], found[field]


def translate(translator, case, search):
    """Return what the library, and with it the command, makes of a case."""
    if case.kind == "html":
        pipeline = TextPipeline([translator], search, align=True, is_document=True)
        page = translate_page(
            pipeline, write_file(case), lambda text: HtmlPage(text, language="en")
        )
        return run(page).text
    if case.kind in ("md", "srt", "po"):
        options = DocumentOptions("en", "de")
        document = open_document(write_file(case).encode(), f"a.{case.kind}", options)
        return write_document(document, translate_document(translator, document, search)).decode()
    if case.kind == "glossary":
        translator = translator.with_glossary(Glossary.of(case.more["terms"]))
    found = run(
        TextPipeline(
            [translator], search, alternatives=case.more.get("alternatives", 0),
            align=case.kind == "align", quality=case.kind == "quality",
        ).translate(case.text)
    )  # fmt: skip
    if case.kind not in MORE:
        return found.text
    _, read = MORE[case.kind]
    return found.text, read(found)


def write_file(case):
    """Return a document that has the text of a case."""
    lines = case.text.splitlines()
    match case.kind:
        case "html":
            return "".join(f"<p>{line.replace('<br>', ' ')}</p>\n" for line in lines)
        case "md":
            return "# Title\n\n" + case.text + "\n"
        case "srt":
            text = "\n".join(filter(None, lines))
            return f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n"
        case "po":
            escaped = case.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "{escaped}"\nmsgstr ""\n'
    raise ValueError(case.kind)


def plain_search(translator):
    """Return the settings of the server for a model."""
    return replace(translator.default_search, n_best=1, sample=False)
