"""Shared parts of the tests: both clients behind one interface, and servers with scripted failures."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Optional, Tuple

import httpx

from file_transfer_gateway import AsyncFileTransferGateway, FileTransferGateway, FtgError, Retry

URL = os.environ.get("GATEWAY", "")
KEY = os.environ.get("KEY", "")
QUICK = Retry(delay=0.01)


class Awaited:
    """The synchronous client with the interface of the asyncio client, so that one test runs on both."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, "close" if name == "aclose" else name)
        if inspect.isroutine(value):
            return lambda *args, **kwargs: faced(lambda: value(*args, **kwargs), name)
        return Awaited(value) if "file_transfer_gateway" in type(value).__module__ and name != "version" else value

    async def __aenter__(self) -> "Awaited":
        self._inner.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)

    def __aiter__(self) -> Any:
        return iterated(iter(self._inner))


def faced(call: Callable[[], Any], name: str) -> Any:
    """`download` and the generators return their object directly. All other calls are awaited."""
    if name in ("download", "download_archive", "with_options"):
        return Awaited(call())
    return Either(call)


class Either:
    """A result that a test may await or iterate."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call

    def __await__(self) -> Any:
        return asyncio.to_thread(self._call).__await__()

    def __aiter__(self) -> Any:
        return iterated(iter(self._call()))


async def iterated(values: Iterator[Any]) -> Any:
    end = object()
    while (value := await asyncio.to_thread(next, values, end)) is not end:
        yield value


class OnBothClients(unittest.IsolatedAsyncioTestCase):
    """Each test takes a function that creates a client, and runs once per client."""

    maxDiff = None

    def __init_subclass__(cls) -> None:
        for name, test in list(vars(cls).items()):
            if name.startswith("test_"):
                delattr(cls, name)
                for kind in ("sync", "async"):
                    setattr(cls, f"{name}_{kind}", cls._on(test, kind))

    @staticmethod
    def _on(test: Callable[..., Awaitable[None]], kind: str) -> Callable[..., Awaitable[None]]:
        async def run(self: OnBothClients) -> None:
            self.kind = kind
            await test(self)

        return run

    kind = ""

    def client(self, url: str = URL, key: str = KEY, **options: Any) -> Any:
        options = {"retry": QUICK, **options}
        # Loading the certificates of the system takes 100 ms, and most tests need none.
        if self.kind == "async":
            client = httpx.AsyncClient(verify=url.startswith("https:"))
            self.addAsyncCleanup(client.aclose)
            return AsyncFileTransferGateway(url, key, http_client=client, **options)
        blocking = httpx.Client(verify=url.startswith("https:"))
        self.addCleanup(blocking.close)
        return Awaited(FileTransferGateway(url, key, http_client=blocking, **options))

    def folder(self) -> Path:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return Path(made.name)

    async def failure(self, call: Awaitable[Any]) -> FtgError:
        with self.assertRaises(FtgError) as caught:
            await call
        return caught.exception

    def remote(self, name: str) -> str:
        """A name on the server that only this test uses."""
        return f"/{self.id().rpartition('.')[2]}/{name}"


Asked = Tuple[str, str, Dict[str, str], bytes]
Reply = Callable[[socket.socket], None]


class FaultServer:
    """Answers from a script and records the requests. The last reply answers all further requests."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: List[Asked] = []
        self._replies = replies
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                try:
                    self.asked.append(_request(peer))
                    self._replies[min(len(self.asked), len(self._replies)) - 1](peer)
                except (OSError, ValueError):
                    # The client has left or speaks TLS, so it gets no answer.
                    pass


def _request(peer: socket.socket) -> Asked:
    file = peer.makefile("rb")
    method, target, _ = file.readline().decode().split(" ")
    headers: Dict[str, str] = {}
    while (line := file.readline().decode().strip()) != "":
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    body = file.read(int(headers.get("content-length", "0")))
    if headers.get("transfer-encoding") == "chunked":
        while (size := int(file.readline(), 16)) > 0:
            body += file.read(size)
            file.readline()
        file.readline()
    return method, target, headers, body


def reply(status: int, body: bytes = b"{}", length: Optional[int] = None, **headers: str) -> Reply:
    """If the body is shorter than `length`, the connection breaks after it."""
    lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body) if length is None else length}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return lambda peer: peer.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def error(status: int, code: str, **headers: str) -> Reply:
    return reply(status, b'{"error":"no"}', X_Error_Code=code, X_Request_Id="r-1", **headers)


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class CuttingProxy:
    """A proxy to the gateway. Each connection breaks after the next number of bytes."""

    def __init__(self, direction: str, *cuts: int) -> None:
        self._cuts = list(cuts)
        self._direction = direction
        self.broken = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        host, port = URL.rpartition("/")[2].split(":")
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection((host, int(port)))
            left = {self._direction: self._cuts.pop(0) if self._cuts else 1 << 60}
            for way, one, other in (("up", client, server), ("down", server, client)):
                threading.Thread(target=self._pass, args=(one, other, left.get(way, 1 << 60)), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, left: int) -> None:
        try:
            while left > 0 and (data := one.recv(min(65_536, left))):
                other.sendall(data)
                left -= len(data)
            self.broken += left == 0
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
