"""What docs/stability.md calls public in Python and over HTTP, as text: ``python tests/support/interface.py`` records it anew.

It refuses to record another HTTP interface under a version that is too low.
"""

import asyncio
import inspect
import re
from pathlib import Path

from starlette.requests import Request

import headway
from headway.ext.server.models import load_models
from headway.ext.server.routes import spec
from headway.ext.server.server import Context, Server
from headway.ext.server.server_settings import ServerConfig

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "golden" / "interface"
MODEL = ROOT / "tests" / "golden" / "0.1" / "model"


def list_interfaces():
    """Return the lines of each recorded file."""
    return {
        "python.txt": [*list_names()],
        "http.txt": [*list_fields()],
    }


def list_names():
    """Yield the public names, and the methods and attributes that docs/library.md lists, with their arguments."""
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    for name in sorted(headway.__all__):
        yield _describe(name, getattr(headway, name))
        section = re.search(rf"^### `{name}`\n(.*?)(^##|\Z)", page, re.M | re.S)
        for row in re.findall(r"^\| (`.*?) \|", section[1], re.M) if section else ():
            for member in re.findall(r"`(\w+)", row):
                value = inspect.getattr_static(getattr(headway, name), member, None)
                yield _describe(f"{name}.{member}", getattr(value, "__func__", value))


def _describe(name, value):
    """Return a name; with its arguments, if it is called. An argument that may be missing has a star."""
    if not callable(value) or value is headway.HeadwayError:
        return name
    found = inspect.signature(value).parameters.values()
    words = [f"{each.name}{'' if each.default is each.empty else '*'}" for each in found]
    named = [each.kind is each.KEYWORD_ONLY for each in found]
    if any(named):
        words.insert(named.index(True), "by name:")
    return f"{name}({', '.join(words)})".replace(":,", ":")


def list_fields():
    """Yield the version, then the addresses of the server with the fields of their requests and answers."""
    server = Server(load_models([MODEL]), ServerConfig())
    description = asyncio.run(spec(Context(server, Request({"type": "http"}))))
    schemas = description["components"]["schemas"]
    yield f"version {description['info']['version']}"
    for path, operations in sorted(description["paths"].items()):
        for method, operation in sorted(operations.items()):
            where = f"{method.upper()} {path}"
            yield where
            for parameter in operation.get("parameters", []):
                optional = "" if parameter["required"] else "*"
                yield f"{where} request {parameter['name']}{optional}"
            body = operation.get("requestBody", {}).get("content", {})
            fields = [
                _list_schema(f"{where} request", each["schema"], schemas) for each in body.values()
            ]
            yield from dict.fromkeys(line for lines in fields for line in lines)
            yield from (f"{where} accepts {kind}" for kind in sorted(body))
            yield f"{where} answers {' '.join(sorted(operation['responses']))}"
            for status, answer in sorted(operation["responses"].items()):
                for kind, content in answer.get("content", {}).items() if status[0] == "2" else ():
                    yield f"{where} {status} {kind}"
                    yield from _list_schema(f"{where} {status}", content["schema"], schemas)


def _list_schema(where, schema, schemas):
    """Yield the fields of an object, and of the objects in it; a star marks fields that may be missing."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    for inner in (*schema.get("allOf", []), *schema.get("anyOf", []), *schema.get("oneOf", [])):
        yield from _list_schema(where, inner, schemas)
    if "items" in schema:
        yield from _list_schema(f"{where}[]", schema["items"], schemas)
    for name, field in sorted(schema.get("properties", {}).items()):
        optional = "" if name in schema.get("required", []) else "*"
        yield f"{where} {name}{optional}"
        yield from _list_schema(f"{where} {name}", field, schemas)


def check_version(recorded, lines):
    """Return what is wrong with the version of an HTTP interface, or an empty text.

    An addition raises the second number, and every other change the first (docs/stability.md).

    Args:
        recorded: Lines of http.txt; the first one has the version.
        lines: Those of this source.
    """
    old, new = ([int(n) for n in each[0].split()[1].split(".")] for each in (recorded, lines))
    added, gone = {*lines[1:]} - {*recorded[1:]}, {*recorded[1:]} - {*lines[1:]}
    needed, reason = old, "has not changed"
    if gone or any(_is_demanded(line, recorded) for line in added):
        needed, reason = [old[0] + 1, 0], "has changed in a way that clients notice"
    elif added:
        needed, reason = [old[0], old[1] + 1], "has an addition"
    if new >= needed:
        return ""
    major, minor = needed
    return (
        f"the HTTP interface {reason} since version {old[0]}.{old[1]}:"
        f' set API_VERSION in ext/server/openapi.py to "{major}.{minor}"'
    )


def _is_demanded(line, recorded):
    """Return whether an added line is a field that requests to a known address must have now."""
    address, _, field = line.partition(" request ")
    return bool(field) and address in recorded and not line.endswith("*")


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    earlier = (RECORDED / "http.txt").read_text(encoding="utf-8").splitlines()
    if wrong := check_version(earlier, [*list_fields()]):
        raise SystemExit(wrong)
    for file, lines in list_interfaces().items():
        (RECORDED / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
