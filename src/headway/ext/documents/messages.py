"""Texts of programs: messages of ICU and labels with mnemonics, in every format that has them."""

from functools import partial

from headway.ext.documents.icu_message import read_message
from headway.ext.documents.mnemonics import read_mnemonic
from headway.ext.documents.paragraph import Document, DocumentOptions
from headway.ext.documents.rewriting import RewrittenDocument


def read_labels(document: Document, options: DocumentOptions) -> Document:
    """Return a catalog of the texts of a program, in which messages of ICU and mnemonics stand."""
    return RewrittenDocument(read_messages(document, options), read_mnemonic)


def read_messages(document: Document, options: DocumentOptions) -> RewrittenDocument:
    """Return a document in which messages of ICU stand."""
    return RewrittenDocument(document, partial(read_message, language=options.target))
