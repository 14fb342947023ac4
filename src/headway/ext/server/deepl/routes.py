"""DeepL's addresses, and which handler answers each."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, get_type_hints

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headway.ext.server.answers import file_response, json_response, run_while_connected
from headway.ext.server.context import Context
from headway.ext.server.deepl import documents, glossaries, handlers, text
from headway.ext.server.deepl.messages import DeepLDocumentRequest
from headway.ext.server.file_store import TranslatedFile
from headway.ext.server.keys import given_key
from headway.ext.server.openapi import GONE, REJECTIONS, Handler, OpenAPI
from headway.ext.server.rejection import CLIENT_LEFT, Rejection
from headway.ext.server.server import Server
from headway.ext.server.validation import RequestParser

Endpoint = Callable[[Request], Awaitable[Response]]
GLOSSARIES: list[tuple[str, str, Handler, int]] = [
    ("GET", "/v2/glossary-language-pairs", glossaries.glossary_language_pairs, 200),
    ("GET", "/v2/glossaries", glossaries.list_glossaries, 200),
]
# They say why they do nothing, and are no part of the description.
REFUSED: list[tuple[str, str, Handler, int]] = [
    ("POST", "/v2/glossaries", glossaries.refuse_change, 200),
    ("DELETE", "/v2/glossaries/{glossary_id}", glossaries.refuse_change, 200),
]
DOCUMENTS: list[tuple[str, str, Handler, int]] = [
    ("POST", "/v2/document", documents.upload_document, 200),
    ("POST", "/v2/document/{document_id}", documents.get_document, 200),
    ("POST", "/v2/document/{document_id}/result", documents.get_document_result, 200),
    ("POST", "/v2/document/{document_id}/quality", documents.get_document_quality, 200),
    ("POST", "/v2/document/{document_id}/cancel", documents.cancel_document, 204),
]


def deepl_routes(server: Server) -> list[Route]:
    """Return DeepL's routes."""
    languages = _answer(server, handlers.deepl_languages)
    return [
        Route("/v2/translate", _answer(server, text.translate, "text"), methods=["POST"]),
        Route("/v2/languages", languages, methods=["GET"]),
        Route("/v2/usage", _answer(server, handlers.deepl_usage), methods=["GET"]),
        *(
            Route(path, _answer(server, handler, status=status), methods=[method])
            for method, path, handler, status in (*GLOSSARIES, *REFUSED, *DOCUMENTS)
        ),
    ]


def describe_deepl(api: OpenAPI) -> None:
    """Add DeepL's addresses to a description."""
    api.add("post", "/v2/translate", text.translate, rejections=REJECTIONS | GONE)
    api.add("get", "/v2/languages", handlers.deepl_languages, rejections=REJECTIONS)
    api.add("get", "/v2/usage", handlers.deepl_usage, rejections=REJECTIONS)
    for method, path, handler, status in DOCUMENTS:
        answer = bytes if get_type_hints(handler)["return"] is TranslatedFile else None
        api.add(
            method.lower(),
            path,
            handler,
            answer=answer,
            status=status,
            rejections=REJECTIONS | GONE,
        )
    for method, path, handler, status in GLOSSARIES:
        api.add(method.lower(), path, handler, status=status, rejections=REJECTIONS)


def _answer(server: Server, handler: Handler, repeated: str = "", status: int = 200) -> Endpoint:
    """Return the endpoint that calls a handler: with the parsed request, if it takes one, and the context."""
    hints = get_type_hints(handler)
    first = next(iter(hints.values()))
    parser = None if first is Context else RequestParser(first, server.config)
    has_file = first is DeepLDocumentRequest

    async def answer(request: Request) -> Response:
        async with _admit(server, request, repeated, has_file) as (fields, context):
            given = [] if parser is None else [parser.parse(fields | request.path_params)]
            task = await run_while_connected(handler(*given, context), request.receive)
        if task is None:
            return Response(status_code=CLIENT_LEFT)
        found = task.result()
        if isinstance(found, TranslatedFile):
            return file_response(found)
        return Response(status_code=status) if found is None else json_response(found, status)

    return answer


@asynccontextmanager
async def _admit(
    server: Server, request: Request, repeated: str = "", has_file: bool = False
) -> AsyncIterator[tuple[dict[str, Any], Context]]:
    """Admit a request; yield its fields, and what the handler works with.

    Raises:
        Rejection: As `Admission.admit`, but 403 for a missing key.
    """
    if server.keys is not None and not given_key({}, request.headers):
        raise Rejection(
            403, "Authorization failed: send the header Authorization: DeepL-Auth-Key KEY"
        )
    async with server.admission.admit(request, has_file, repeated) as (client, fields):
        yield (
            fields,
            replace(server.context, owner="" if server.keys is None else client, client=client),
        )
