"""The tape in a browser: a page for this machine alone, with JSSpeccy, an emulator that the user has built.

JSSpeccy 3 (npm package jsspeccy, GPL-3) is no part of zxml, and nothing is downloaded.
"""

from __future__ import annotations

import os
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from zxml.errors import ZxmlError

HOST = "127.0.0.1"
FOLDER_VARIABLE = "ZXML_JSSPECCY"
FILES = ("jsspeccy.js", "jsspeccy-worker.js", "jsspeccy-core.wasm")
BUILD = (
    "npm install --ignore-scripts jsspeccy && cd node_modules/jsspeccy && npm install --ignore-scripts && mkdir -p build && "
    f"npm run build:release && export {FOLDER_VARIABLE}=$PWD/dist/jsspeccy"
)
TAPE_URL = "/tape.tap"  # JSSpeccy tells a tape by the end of its address
PAGE = f"""\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>zxml</title>
<style>body {{ background: #222; color: #ddd; font-family: sans-serif }} main {{ width: 640px; margin: 2em auto }}</style>
<script src="/jsspeccy.js"></script>
<main>
<div id="screen"></div>
<p>SPACE: faster. Shift + SPACE: BREAK, back to BASIC.</p>
</main>
<script>
JSSpeccy(document.getElementById("screen"),
    {{machine: MACHINE, zoom: 2, autoStart: true, autoLoadTapes: true, openUrl: "{TAPE_URL}"}});
</script>
</html>
"""


def serve(tap: Path, folder: Path | None = None, port: int = 0, machine: int = 48) -> None:
    """Serve a tape to a browser until Ctrl-C, on any free port if it is 0, and print the address.

    machine: its memory in K, 48 or 128. Raises ZxmlError as find_jsspeccy and open_server do.
    """
    with open_server(tap, find_jsspeccy(folder), port, machine) as server:
        print(f"{tap}: open http://{HOST}:{server.server_port}/ in a browser; Ctrl-C ends this", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def find_jsspeccy(folder: Path | None = None) -> Path:
    """Return the folder of a built JSSpeccy, the one given or that of ZXML_JSSPECCY; raise ZxmlError if it is not there."""
    found = folder or Path(os.environ.get(FOLDER_VARIABLE, ""))
    if found == Path():
        raise ZxmlError(f"JSSpeccy: no folder given, and {FOLDER_VARIABLE} is not set; build it: {BUILD}")
    if missing := [name for name in FILES if not (found / name).is_file()]:
        raise ZxmlError(f"{found}: no built JSSpeccy, {missing[0]} is missing; build it: {BUILD}")
    return found


def open_server(tap: Path, jsspeccy: Path, port: int = 0, machine: int = 48) -> ThreadingHTTPServer:
    """Return a server of page, tape and emulator, on the loopback; raise ZxmlError if tape or port is not to be had."""
    if not tap.is_file():
        raise ZxmlError(f"{tap}: no such tape; make it first")
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Handler, tap, machine, directory=str(jsspeccy)))
    except (OSError, OverflowError) as error:
        raise ZxmlError(f"port {port}: cannot listen there ({error}); choose another, or 0 for any") from error


class _Handler(SimpleHTTPRequestHandler):
    """Answers with the page, the tape as it is on the disk now, or a file of the emulator."""

    extensions_map = {".js": "text/javascript", ".wasm": "application/wasm", "": "application/octet-stream"}  # noqa: RUF012

    def __init__(self, tap: Path, machine: int, *arguments: object, **options: object) -> None:
        self._tap, self._page = tap, PAGE.replace("MACHINE", str(machine))
        super().__init__(*arguments, **options)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == "/":
            self._answer("text/html; charset=utf-8", self._page.encode())
        elif self.path == TAPE_URL:
            self._answer("application/octet-stream", self._tap.read_bytes())
        else:
            super().do_GET()

    def list_directory(self, path: object) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def _answer(self, kind: str, content: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
