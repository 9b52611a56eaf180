"""Broken connections: downloads and uploads resume, and two versions of a file are never joined."""

from __future__ import annotations

import json
import os
from typing import Any, List

from file_transfer_gateway import Retry
from suite import CuttingProxy, FaultServer, OnBothClients, error, reply

MIB = 1024 * 1024
SIZE = 6 * MIB
CUTS = (MIB // 2, MIB, 100_000, 2 * MIB, MIB, MIB)


def part(content: bytes, first: int, sent: int, etag: str = '"v1"') -> Any:
    """The answer to a range, which breaks after this number of bytes."""
    span = f"bytes {first}-{len(content) - 1}/{len(content)}"
    return reply(206, content[first : first + sent], len(content) - first, ETag=etag, Content_Range=span)


class BrokenDownloads(OnBothClients):
    async def test_a_download_resumes_after_more_interruptions_than_a_call_has_attempts(self) -> None:
        content = os.urandom(SIZE)
        path = self.remote("large")
        direct = self.client()
        await direct.upload("shell", content, filename="large", path=self.remote(""))
        version = None
        while version is None:
            # A file that was just written has no version yet, because it may still change.
            async with direct.download("shell", path) as looked:
                version = looked.version
        proxy = CuttingProxy("down", *CUTS)
        self.addCleanup(proxy.close)
        seen: List[int] = []
        ftg = self.client(proxy.url)
        async with ftg.download("shell", path, on_progress=lambda count, _: seen.append(count)) as download:
            self.assertEqual(await download.read(), content)
        self.assertEqual((seen == sorted(set(seen)), seen[-1], proxy.broken), (True, SIZE, len(CUTS)))

    async def test_another_process_resumes_a_partial_file(self) -> None:
        content = os.urandom(300_000)
        target = self.folder() / "file.bin"
        span = f"bytes 100000-299999/{len(content)}"
        broken = FaultServer(reply(200, content[:100_000], len(content), ETag='"v1"'), error(503, "draining"))
        self.addCleanup(broken.close)
        once = self.client(broken.url, retry=Retry(attempts=2, delay=0.01))
        await self.failure(once.download_to("c", "/file.bin", target, keep_partial=True))
        self.assertEqual(sorted(os.listdir(target.parent)), ["file.bin.part", "file.bin.part.json"])
        whole = FaultServer(reply(206, content[100_000:], ETag='"v1"', Content_Range=span))
        self.addCleanup(whole.close)
        await self.client(whole.url).download_to("c", "/file.bin", target, keep_partial=True)
        self.assertEqual((target.read_bytes(), os.listdir(target.parent)), (content, ["file.bin"]))
        self.assertEqual((whole.asked[0][2]["range"], whole.asked[0][2]["if-range"]), ("bytes=100000-299999", '"v1"'))

    async def test_a_partial_file_of_another_version_starts_again(self) -> None:
        target = self.folder() / "file.bin"
        (target.parent / "file.bin.part").write_bytes(b"old")
        state = {"size": 10, "etag": '"v1"', "last_modified": None}
        (target.parent / "file.bin.part.json").write_text(json.dumps(state))
        server = FaultServer(reply(200, b"another one", ETag='"v2"'))
        self.addCleanup(server.close)
        await self.client(server.url).download_to("c", "/file.bin", target, keep_partial=True)
        self.assertEqual((target.read_bytes(), os.listdir(target.parent)), (b"another one", ["file.bin"]))

    async def test_two_versions_are_never_joined(self) -> None:
        content = b"0123456789" * 1_000
        others = {
            "another tag": part(content, 4_000, 6_000, '"v2"'),
            "the whole file": reply(200, content, ETag='"v2"'),
            "another range": part(content, 5_000, 5_000),
            "a shorter file": error(416, "bad_range"),
        }
        for name, other in others.items():
            server = FaultServer(reply(200, content[:4_000], len(content), ETag='"v1"'), other)
            self.addCleanup(server.close)
            async with self.client(server.url).download("c", "/x") as download:
                self.assertEqual((await self.failure(download.read())).code, "file_changed", name)

    async def test_a_weak_version_is_confirmed_at_the_end(self) -> None:
        content = b"0123456789" * 1_000
        cut = reply(200, content[:4_000], len(content), ETag='W/"v1"')
        for etag, code in (('W/"v1"', None), ('W/"v2"', "file_changed")):
            # Answers to HEAD have no body.
            look = reply(200, b"", len(content), ETag=etag)
            server = FaultServer(cut, part(content, 4_000, 6_000, 'W/"v1"'), look)
            self.addCleanup(server.close)
            async with self.client(server.url).download("c", "/x") as download:
                if code is None:
                    self.assertEqual(await download.read(), content)
                else:
                    self.assertEqual((await self.failure(download.read())).code, code)
            self.assertEqual([asked[0] for asked in server.asked], ["GET", "GET", "HEAD"])

    async def test_a_truncated_file_without_a_version_fails_and_leaves_nothing(self) -> None:
        server = FaultServer(reply(200, b"only this", 100))
        self.addCleanup(server.close)
        for keep in (False, True):
            target = self.folder() / "x"
            failed = await self.failure(self.client(server.url).download_to("c", "/x", target, keep_partial=keep))
            self.assertEqual((failed.code, os.listdir(target.parent)), ("network_error", []))


class BrokenUploads(OnBothClients):
    async def test_a_resumable_upload_resumes_after_a_broken_connection(self) -> None:
        local = self.folder() / "large.bin"
        local.write_bytes(os.urandom(SIZE))
        proxy = CuttingProxy("up", *CUTS)
        self.addCleanup(proxy.close)
        urls: List[str] = []
        seen: List[int] = []
        transfer = await self.client(proxy.url).upload_resumable(
            "shell",
            local,
            path=self.remote(""),
            filename="größe {1}.bin",
            on_url=urls.append,
            on_progress=lambda count, _: seen.append(count),
        )
        self.assertEqual((transfer["fileSize"], len(urls), proxy.broken, seen[-1]), (SIZE, 1, len(CUTS), SIZE))
        async with self.client().download("shell", self.remote("größe {1}.bin")) as download:
            self.assertEqual(await download.read(), local.read_bytes())

    async def test_another_process_resumes_by_its_url(self) -> None:
        local = self.folder() / "large.bin"
        local.write_bytes(os.urandom(2 * MIB))
        proxy = CuttingProxy("up", MIB, 1)
        self.addCleanup(proxy.close)
        urls: List[str] = []
        hopeless = self.client(proxy.url, retry=Retry(attempts=1))
        # The server certainly has three pieces when the connection breaks.
        options = {"path": self.remote(""), "overwrite": False, "piece_bytes": 300_000}
        failed = await self.failure(hopeless.upload_resumable("shell", local, on_url=urls.append, **options))
        self.assertEqual(failed.code, "network_error")
        sent: List[int] = []
        with local.open("rb") as opened:
            await self.client().upload_resumable(
                "shell", opened, url=urls[0], on_progress=lambda count, _: sent.append(count), **options
            )
        self.assertGreater(sent[0], 900_000)
        async with self.client().download("shell", self.remote("large.bin")) as download:
            self.assertEqual(await download.read(), local.read_bytes())
        # The upload is gone, so it starts again.
        gone = urls[0][:-4] + "0000"
        again = await self.client().upload_resumable("shell", local, filename="again", url=gone, path=self.remote(""))
        self.assertEqual(again["fileSize"], 2 * MIB)

    async def test_a_stream_cannot_be_resumed(self) -> None:
        with self.assertRaisesRegex(TypeError, "can seek"):
            await self.client().upload_resumable("shell", iter([b"x"]), filename="x")
