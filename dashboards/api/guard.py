"""What stands before every request: the names that are answered, the path below which a proxy shows us, HEAD as GET without
its body, headers that hold the browser back, and the last catch of errors.

The page loads nothing from elsewhere and runs no inline script, so the policy allows exactly its own files. An error that
reaches this place was answered and logged by `problems`; it must not reach the server's own log again.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboards.api import problems
from dashboards.api.hosts import Hosts

POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "font-src 'self'",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))  # fmt: skip


class Guard:
    """Wraps the whole app."""

    def __init__(self, app: ASGIApp, server: str, root_path: str = "", hosts: Hosts | None = None) -> None:
        """`server`: how the answers name this program; `root_path`: "" or a path without a slash at its end."""
        self._app = app
        self._hosts = hosts or Hosts()
        self._root_path = root_path
        headers = {
            "server": server,
            "content-security-policy": POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._root_path:
            scope = self._below(scope)
        began = False

        async def with_headers(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        try:
            await self._answer(scope, receive, with_headers)
        except Exception:
            if not began:
                raise

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the app answer, if the request means us. The server itself leaves out the body of an answer to HEAD."""
        request = Request(scope)
        if not self._hosts.knows(request.headers.get("host", "")):
            await problems.misdirected(request)(scope, receive, send)
            return
        await self._app({**scope, "method": "GET"} if scope["method"] == "HEAD" else scope, receive, send)

    def _below(self, scope: Scope) -> Scope:
        """The request with its path below ours, whether the proxy has taken our part off or not."""
        path = scope["path"]
        if path != self._root_path and not path.startswith(f"{self._root_path}/"):
            path = self._root_path + path
        return {**scope, "root_path": self._root_path, "path": path}
