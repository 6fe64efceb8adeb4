"""The reference of the HTTP API, generated: the OpenAPI document, and a page for people made of it."""

from __future__ import annotations

import json
from typing import Any

from dashboards.api import described
from dashboards.api.answering import Service
from dashboards.api.app import framework
from dashboards.store import Store
from pipeline.errors import Unreachable

_INTRODUCTION = """\
# HTTP API

{about}
Base path `{prefix}`, no login: put a proxy that has one before it. `{prefix}/openapi.json` describes everything for programs.

A filter takes several values with commas or repeated; a parameter that a path does not have is an error. Lists have `limit`
(at most 500) and `cursor`: give `next` of the page before, until it is null. `at`, `from` and `to` are RFC 3339 or
milliseconds.

A filter by cluster, namespace, tenant, queue or kind may name what nobody has yet, so the answer is an empty list; `unknown` in
it then has the value, the nearest that is known and those that are.

A GET carries an `ETag` that moves with the data; send it as `If-None-Match` and get 304 while nothing has changed. Only
`lag_ms` goes on meanwhile: it is in the header `Kube-Collector-Lag-Ms` of every answer, also of a 304. HEAD is answered too.

Errors are `application/problem+json`: `type`, `title`, `status`, `detail`, `instance`, and `hint`, which says what to do.
404: what is asked for does not exist; 400: it cannot be understood; 422: a parameter has a value that cannot be
(`phase=done`), `hint` names those that can; 503: the warehouse does not answer, try again; 421: the `Host` header names
neither this machine, nor an address in figures, nor a name in `dashboards.hosts`.
"""


def document() -> str:
    """The OpenAPI document as a file."""
    return json.dumps(_document(), indent=2, ensure_ascii=False) + "\n"


def page() -> str:
    """Every path with its parameters, and every object with its fields."""
    made = _document()
    about = made["info"]["description"].strip() + "\n"
    parts = [_INTRODUCTION.format(about=about, prefix="/api/v1")]
    for path, operations in made["paths"].items():
        parts += [_operation(path, operation) for operation in operations.values()]
    parts.append("## Objects\n")
    parts += [_object(name, schema) for name, schema in sorted(made["components"]["schemas"].items())]
    return "\n".join(parts)


def _document() -> dict[str, Any]:
    def nowhere() -> Any:
        raise Unreachable("the reference needs no warehouse")

    store = Store(nowhere, keep_s=0, timeout_s=1, max_connections=1, max_rows=1)
    return described.document(framework(Service(store, "1", 0)))


def _operation(path: str, operation: dict[str, Any]) -> str:
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
    lines = [f"## GET {path}", "", operation["description"], "", f"Answers [{answer}](#{answer.lower()}).", ""]
    rows = [
        f"| `{each['name']}` | {each['in']} | {_default(each)} | {each.get('description', '')} |"
        for each in operation.get("parameters", ())
    ]
    if rows:
        lines += ["| parameter | in | default | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _default(parameter: dict[str, Any]) -> str:
    value = parameter.get("schema", {}).get("default")
    return "" if value in (None, "") else f"`{value}`"


def _object(name: str, schema: dict[str, Any]) -> str:
    rows = [f"| `{field}` | {_type(each)} |" for field, each in schema["properties"].items()]
    return "\n".join([f"### {name}", "", " ".join(schema.get("description", "").split()), "",
                      "| field | type |", "|---|---|", *rows, ""])  # fmt: skip


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
