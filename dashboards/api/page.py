"""The files of the page. Those below `assets/` have a hash in their name and are kept for ever; others are asked for again."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

FOLDER = Path(__file__).parent.parent / "static"
HASHED = "assets"
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_ASK_AGAIN = {"Cache-Control": "no-cache"}
_NOT_BUILT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>kube-collector</title>
<h1>The page is not built</h1>
<p>This installation has the API but not the files of the page. <code>make web</code> builds them (it needs Node).</p>
<p>The API works: <a href="api/v1/overview">overview</a>, <a href="api/v1/openapi.json">its description</a>.
So do the commands: <code>kube-collector jobs</code>, <code>kube-collector why JOB</code>.</p>
</html>
"""


def router(folder: Path = FOLDER) -> APIRouter:
    """Routes of the page's files, behind all others."""
    made = APIRouter(include_in_schema=False)

    @made.get("")
    def slash(request: Request) -> Response:
        return RedirectResponse(f"{request.scope.get('root_path', '')}/", 308)

    @made.get("/")
    def index() -> Response:
        file = folder / "index.html"
        return _file(file, _ASK_AGAIN) if file.is_file() else HTMLResponse(_NOT_BUILT, 503, _ASK_AGAIN)

    @made.get("/{path:path}")
    def other(path: str) -> Response:
        file = (folder / path).resolve()
        if not file.is_relative_to(folder.resolve()) or not file.is_file():
            raise HTTPException(404)
        return _file(file, _FOR_EVER if path.startswith(f"{HASHED}/") else _ASK_AGAIN)

    return made


def _file(file: Path, headers: dict[str, str]) -> Response:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return FileResponse(file, headers=headers, media_type=kind)
