"""The addresses of the server, and which handler answers each; ``/spec`` describes them."""

from functools import lru_cache
from typing import Any

from headway.ext.server import handlers
from headway.ext.server.deepl import documents, listings, text
from headway.ext.server.deepl.language_codes import list_sources, list_targets
from headway.ext.server.openapi import GONE, REJECTIONS, TOO_LONG, Address, describe
from headway.ext.server.server import Context
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import list_types


def list_addresses() -> list[Address]:
    """Return the addresses of the server, in the order of the description."""
    gone, never = REJECTIONS | GONE, REJECTIONS | {"400": "Always."}
    return [
        Address("POST", "/translate", handlers.translate),
        # OmegaT asks by GET, with the fields in the query string.
        Address("GET", "/translate", handlers.translate, REJECTIONS | TOO_LONG),
        Address("POST", "/detect", handlers.detect),
        Address("POST", "/align", handlers.align),
        Address("POST", "/attention", handlers.attention),
        Address("POST", "/stream", handlers.stream),
        Address("GET", "/languages", handlers.languages, {}, is_open=True),
        Address("GET", "/frontend/settings", handlers.frontend_settings, {}, is_open=True),
        Address("GET", "/health", handlers.health, {}, is_open=True),
        Address("GET", "/metrics", handlers.metrics, {}, is_open=True),
        Address("GET", "/spec", spec, {}, is_open=True),
        Address("POST", "/translate_file", handlers.translate_file),
        Address("GET", "/download_file/{name}", handlers.download, GONE, is_open=True),
        Address("POST", "/suggest", handlers.suggest, {"403": "Always."}, is_open=True),
        Address("POST", "/v2/translate", text.translate, gone),
        Address("GET", "/v2/languages", listings.deepl_languages),
        Address("GET", "/v2/usage", listings.deepl_usage),
        Address("POST", "/v2/document", documents.upload_document, gone),
        Address("POST", "/v2/document/{document_id}", documents.get_document, gone),
        Address("POST", "/v2/document/{document_id}/result", documents.get_document_result, gone),
        Address("POST", "/v2/document/{document_id}/quality", documents.get_document_quality, gone),
        Address("POST", "/v2/document/{document_id}/cancel", documents.cancel_document, gone),
        Address("GET", "/v2/glossary-language-pairs", listings.glossary_language_pairs),
        Address("GET", "/v2/glossaries", listings.list_glossaries),
        Address("POST", "/v2/glossaries", listings.refuse_change, never),
        Address("DELETE", "/v2/glossaries/{glossary_id}", listings.refuse_change, never),
    ]


async def spec(context: Context) -> dict[str, Any]:
    """Return the OpenAPI description, with the languages and limits of this server."""
    server, models = context.server, context.models
    sources = (each["language"] for each in list_sources(models))
    targets = (each["language"] for each in list_targets(models))
    codes = tuple(models.codes), tuple(sources), tuple(targets)
    return _describe(codes, server.config, server.keys is not None)


@lru_cache(maxsize=2)  # It takes longer than most requests, and changes with the models only.
def _describe(
    codes: tuple[tuple[str, ...], ...], config: ServerConfig, needs_key: bool
) -> dict[str, Any]:
    own, sources, targets = codes
    languages = {
        "Source": ("auto", *own), "Target": own, "DeepLSource": sources, "DeepLTarget": targets,
    }  # fmt: skip
    return describe(list_addresses(), list_types(config, languages), needs_key)
