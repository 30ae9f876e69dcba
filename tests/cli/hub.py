"""As much of the Hugging Face Hub as fetching a data set needs, on the loopback interface, in a thread."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

REPO = "xlangai/BRIGHT"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """What is served and how badly; ``gets`` are the paths and ranges asked for."""

    files: Mapping[str, bytes]
    url: str = ""
    #: HTTP status and X-Error-Code of every answer, if set.
    refuse: tuple[int, str] | None = None
    #: Path -> how many bytes of it to send before the connection breaks, the first time.
    cut: dict[str, int] = field(default_factory=dict)
    #: Paths whose second half is never sent while ``stall`` is not set.
    stalled: set[str] = field(default_factory=set)
    stall: threading.Event = field(default_factory=threading.Event)
    #: Path -> the size told, if it is not the file's.
    told_sizes: dict[str, int] = field(default_factory=dict)
    gets: list[tuple[str, str | None]] = field(default_factory=list)

    def fetched(self) -> list[str]:
        return [path for path, _ in self.gets]


@contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[Hub]:
    """A hub that serves these files of ``xlangai/BRIGHT``, at ``hub.url``."""
    hub = Hub(files)

    class Handler(_Handler):
        pass

    Handler.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.stall.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        if self.hub.refuse:
            status, code = self.hub.refuse
            self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": code})
        elif path.startswith(f"/api/datasets/{REPO}/revision/"):
            self._info(path.rsplit("/", 1)[1])
        elif path.startswith(f"/datasets/{REPO}/resolve/"):
            revision, _, name = path.removeprefix(f"/datasets/{REPO}/resolve/").partition("/")
            self._file(revision, name, body)
        else:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def _info(self, revision: str) -> None:
        if revision not in ("main", COMMIT):
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
            return
        siblings = [{"rfilename": name, "size": len(content)} for name, content in self.hub.files.items()]
        info = {
            "id": REPO,
            "sha": COMMIT,
            "siblings": siblings,
            "tags": [],
            "private": False,
            "downloads": 0,
            "likes": 0,
        }
        self._send(200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _file(self, revision: str, name: str, body: bool) -> None:
        content = self.hub.files.get(name)
        if content is None or revision not in ("main", COMMIT):
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if not body:
            headers["Content-Length"] = str(self.hub.told_sizes.get(name, len(content)))
            self._send(200, None, headers)
            return
        wanted = self.headers.get("Range")
        self.hub.gets.append((name, wanted))
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        if wanted:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        limit = self.hub.cut.pop(name, None)
        stalled = name in self.hub.stalled
        if stalled:
            limit = len(content) // 2
        self._send(206 if wanted else 200, content[start:], headers, limit)
        if stalled:
            self.wfile.flush()
            self.hub.stall.wait(60)
        if limit is not None:
            self.close_connection = True

    def _send(self, status: int, content: bytes | None, headers: Mapping[str, str], limit: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if content is not None:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if content:
            self.wfile.write(content[:limit])
