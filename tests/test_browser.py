"""The page with the tape: what it serves, and what it refuses. The emulator here is three files of the right names."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from zxml.browser import FILES, FOLDER_VARIABLE, find_jsspeccy, open_server, serve
from zxml.errors import ZxmlError


@pytest.fixture
def jsspeccy(tmp_path: Path) -> Path:
    folder = tmp_path / "jsspeccy"
    (folder / "roms").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(name)
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def tap(tmp_path: Path) -> Path:
    path = tmp_path / "a name.tap"
    path.write_bytes(b"\x02\x00\xff\xff")
    return path


@pytest.fixture
def server(tap: Path, jsspeccy: Path) -> Iterator[ThreadingHTTPServer]:
    with open_server(tap, jsspeccy) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def get(server: ThreadingHTTPServer, path: str) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.getheader("Content-Type", ""), content


def test_the_page_starts_the_emulator_with_the_tape(server: ThreadingHTTPServer) -> None:
    status, kind, page = get(server, "/")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert b'src="/jsspeccy.js"' in page
    assert b'openUrl: "/tape.tap"' in page
    assert b"http" not in page


def test_the_tape_is_served_as_it_is_now(server: ThreadingHTTPServer, tap: Path) -> None:
    assert get(server, "/tape.tap") == (200, "application/octet-stream", b"\x02\x00\xff\xff")
    tap.write_bytes(b"\x02\x00\x00\x00")
    assert get(server, "/tape.tap")[2] == b"\x02\x00\x00\x00"


@pytest.mark.parametrize(("name", "kind"), [("jsspeccy.js", "text/javascript"), ("jsspeccy-core.wasm", "application/wasm")])
def test_the_emulator_is_served_as_browsers_want_it(server: ThreadingHTTPServer, name: str, kind: str) -> None:
    assert get(server, f"/{name}") == (200, kind, name.encode())


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/roms/", "/none.js"])
def test_nothing_else_is_served(server: ThreadingHTTPServer, path: str) -> None:
    assert get(server, path)[0] == 404


def test_only_this_machine_can_ask(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_folder_comes_from_the_option_or_the_environment(jsspeccy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(jsspeccy))
    assert find_jsspeccy() == jsspeccy
    with pytest.raises(ZxmlError, match=r"jsspeccy\.js is missing; build it: npm install"):
        find_jsspeccy(jsspeccy / "roms")


def test_no_folder_at_all_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(ZxmlError, match="ZXML_JSSPECCY is not set; build it: npm install"):
        find_jsspeccy()


def test_a_missing_tape_is_refused(jsspeccy: Path) -> None:
    with pytest.raises(ZxmlError, match=r"none\.tap: no such tape"):
        serve(Path("none.tap"), jsspeccy)


def test_a_port_in_use_is_refused(tap: Path, jsspeccy: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ZxmlError, match="choose another, or 0 for any"):
        open_server(tap, jsspeccy, taken.getsockname()[1])


def test_ctrl_c_ends_it_without_a_traceback(
    tap: Path, jsspeccy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(server: ThreadingHTTPServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupt)
    serve(tap, jsspeccy)
    assert "open http://127.0.0.1:" in capsys.readouterr().out
