"""Files by both clients, on a gateway with an SFTP server: every operation and every kind of body."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import os
import resource
import zipfile
from datetime import datetime, timezone
from typing import AsyncIterator, Iterator, List, Optional, Tuple

from file_transfer_gateway import Retry
from suite import OnBothClients

MIB = 1024 * 1024


class Uploads(OnBothClients):
    async def test_every_kind_of_body_arrives_complete(self) -> None:
        ftg = self.client()
        data = os.urandom(700_000)
        local = self.folder() / "local.bin"
        local.write_bytes(data)
        opened = local.open("rb")
        self.addCleanup(opened.close)
        bodies = {
            "bytes": data,
            "bytearray": bytearray(data),
            "memoryview": memoryview(data),
            "path": local,
            "file": opened,
            "buffer": io.BytesIO(data),
            "iterable": iter([data[:7], b"", data[7:]]),
            "function": lambda: iter([data]),
        }
        for filename, content in bodies.items():
            transfer = await ftg.upload("shell", content, filename=filename, path=self.remote("in"))
            self.assertEqual((transfer["size"], transfer["path"]), (len(data), f"{self.remote('in')}/{filename}"))
            async with ftg.download("shell", transfer["path"]) as download:
                self.assertEqual((download.filename, download.length), (filename, len(data)))
                self.assertEqual(await download.read(), data, filename)
        await ftg.upload("shell", "tëxt", filename="text", path=self.remote("in"))
        async with ftg.download("shell", self.remote("in/text")) as download:
            self.assertEqual(await download.text(), "tëxt")

    async def test_a_named_pipe_is_sent_completely_and_once(self) -> None:
        ftg = self.client()
        pipe = self.folder() / "pipe"
        os.mkfifo(pipe)
        writing = asyncio.create_task(asyncio.to_thread(pipe.write_bytes, b"0123456789"))
        transfer = await ftg.upload("shell", pipe, path=self.remote("pipes"))
        self.assertEqual((transfer["filename"], transfer["size"]), ("pipe", 10))
        await writing
        with self.assertRaises(TypeError):
            await ftg.upload_resumable("shell", pipe)

    async def test_filenames_default_to_those_of_paths_and_files(self) -> None:
        ftg = self.client()
        local = self.folder() / "a report, ü & co.txt"
        local.write_bytes(b"x")
        with local.open("rb") as opened:
            for content in (local, opened):
                transfer = await ftg.upload("shell", content, path=self.remote("named"))
                self.assertEqual(transfer["filename"], local.name)
        with self.assertRaisesRegex(TypeError, "filename is missing"):
            await ftg.upload("shell", b"x")

    async def test_an_open_file_is_sent_from_its_position(self) -> None:
        content = io.BytesIO(b"0123456789")
        content.seek(4)
        transfer = await self.client().upload("shell", content, filename="rest", path=self.remote("in"))
        self.assertEqual(transfer["size"], 6)

    async def test_a_body_that_fails_or_has_another_size_leaves_nothing(self) -> None:
        def failing() -> Iterator[bytes]:
            yield b"x" * 100_000
            raise ValueError("the disk is gone")

        ftg = self.client()
        wrong = {
            "the disk is gone": (failing(), None),
            "ended after 9 of 10 bytes": (iter([b"abc"] * 3), 10),
            "has more than its announced 6 bytes": (iter([b"abc"] * 3), 6),
            "has more than its announced 7 bytes": (iter([b"abc"] * 3), 7),
            "open as text": (io.StringIO("text"), None),
        }
        for text, (content, size) in wrong.items():
            failed = await self.failure(ftg.upload("shell", content, filename="f", path=self.remote(""), size=size))
            self.assertEqual(failed.code, "invalid_body")
            self.assertIn(text, str(failed))
        self.assertFalse((await ftg.exists("shell", self.remote("f")))["exists"])

    async def test_progress_reports_every_byte_up_and_down(self) -> None:
        ftg = self.client()
        seen: List[Tuple[int, Optional[int]]] = []
        data = os.urandom(MIB)

        def note(count: int, total: Optional[int]) -> None:
            seen.append((count, total))

        await ftg.upload("shell", data, filename="p", path=self.remote(""), on_progress=note)
        self.assertTrue(len(seen) > 1 and seen == sorted(seen))
        self.assertEqual(seen[-1], (MIB, MIB))
        seen.clear()
        async with ftg.download("shell", self.remote("p"), on_progress=note) as download:
            await download.read()
        self.assertEqual((seen[-1], seen), ((MIB, MIB), sorted(seen)))

    async def test_fields_of_an_upload(self) -> None:
        ftg = self.client()
        at = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
        digest = f"sha-256=:{base64.b64encode(hashlib.sha256(b'x').digest()).decode()}:"
        transfer = await ftg.upload(
            "shell",
            b"x",
            filename="a.txt",
            path=self.remote(""),
            filename_template="{name}-{year}{ext}",
            mtime=at,
            content_digest=digest,
            verify="readback",
        )
        self.assertRegex(transfer["filename"], r"^a-\d{4}\.?txt$")
        found = (await ftg.exists("shell", transfer["path"]))["file"]
        self.assertEqual(found["modifiedAt"], "2026-01-31T12:00:00.000Z")
        taken = await self.failure(ftg.upload("shell", b"y", filename=transfer["filename"], path=self.remote(""), overwrite=False))
        self.assertEqual((taken.status, taken.code, taken.skipped), (409, "already_exists", True))
        wrong = await self.failure(ftg.upload("shell", b"y", filename="b", path=self.remote(""), content_digest=digest))
        self.assertEqual(wrong.code, "digest_mismatch")
        with self.assertRaisesRegex(ValueError, "no time zone"):
            await ftg.upload("shell", b"y", filename="b", mtime=datetime(2026, 1, 31))

    async def test_a_stream_of_64_mib_is_uploaded_and_downloaded_in_flat_memory(self) -> None:
        ftg = self.client()
        block, blocks = os.urandom(64 * 1024), 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        content = (block for _ in range(blocks))
        await ftg.upload("shell", content, filename="big", path=self.remote(""), size=blocks * len(block))
        target = await ftg.download_to("shell", self.remote("big"), self.folder())
        self.assertEqual((target.name, target.stat().st_size), ("big", blocks * len(block)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        self.assertLess(grown, 32, f"memory grew by {grown:.0f} MiB")

    async def test_async_iterables(self) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"one"
            await asyncio.sleep(0)
            yield b"two"

        ftg = self.client()
        if self.kind == "async":
            self.assertEqual((await ftg.upload("shell", chunks(), filename="it", path=self.remote("")))["size"], 6)
        else:
            failed = await self.failure(ftg.upload("shell", chunks(), filename="it", path=self.remote("")))
            self.assertIn("AsyncFileTransferGateway", str(failed))


class Downloads(OnBothClients):
    async def test_a_download_appears_under_its_name_once_it_is_complete(self) -> None:
        ftg = self.client()
        await ftg.write("shell", self.remote("a.txt"), "new")
        folder = self.folder()
        (folder / "a.txt").write_text("old")
        self.assertEqual(await ftg.download_to("shell", self.remote("a.txt"), folder), folder / "a.txt")
        async with ftg.download("shell", self.remote("a.txt")) as download:
            await download.save(str(folder / "b.txt"))
        missing = await self.failure(ftg.download_to("shell", self.remote("absent"), folder / "a.txt"))
        self.assertEqual(missing.code, "not_found")
        self.assertEqual({file.name: file.read_text() for file in folder.iterdir()}, {"a.txt": "new", "b.txt": "new"})

    async def test_names_as_long_as_file_systems_allow(self) -> None:
        ftg = self.client()
        for name in ("n" * 255, "ä" * 127):
            await ftg.write("shell", self.remote(name), "long")
            for keep_partial in (False, True):
                folder = self.folder()
                await ftg.download_to("shell", self.remote(name), folder / name, keep_partial=keep_partial)
                self.assertEqual({file.name: file.read_text() for file in folder.iterdir()}, {name: "long"})

    async def test_ranges_tags_and_archives(self) -> None:
        ftg = self.client()
        await ftg.write("shell", self.remote("range"), "0123456789")
        async with ftg.download("shell", self.remote("range"), start=2, end=4) as part:
            self.assertEqual((part.status, await part.read()), (206, b"234"))
        async with ftg.download("shell", self.remote("range"), start=8) as part:
            self.assertEqual(await part.text(), "89")
        etag = None
        while etag is None:
            # A file that was just written has no ETag yet.
            async with ftg.download("shell", self.remote("range")) as whole:
                etag = whole.etag
        async with ftg.download("shell", self.remote("range"), if_none_match=etag) as same:
            self.assertEqual((same.is_not_modified, await same.read()), (True, b""))

        async def beyond() -> None:
            async with ftg.download("shell", self.remote("range"), start=99):
                pass

        self.assertEqual((await self.failure(beyond())).code, "bad_range")
        async with ftg.download_archive("shell", [self.remote("range")]) as archive:
            with zipfile.ZipFile(io.BytesIO(await archive.read())) as opened:
                self.assertEqual([opened.read(name) for name in opened.namelist()], [b"0123456789"])

    async def test_a_download_is_opened_and_read_once(self) -> None:
        ftg = self.client()
        await ftg.write("shell", self.remote("x"), "x")
        download = ftg.download("shell", self.remote("x"))
        with self.assertRaisesRegex(RuntimeError, "with statement"):
            await download.read()
        async with download:
            await download.read()
            with self.assertRaisesRegex(RuntimeError, "read once"):
                await download.read()

    async def test_leaving_a_download_ends_it(self) -> None:
        ftg = self.client()
        await ftg.upload("shell", os.urandom(8 * MIB), filename="long", path=self.remote(""))
        async with ftg.download("shell", self.remote("long")) as download:
            async for chunk in download:
                self.assertTrue(len(chunk) < 8 * MIB)
                break
        self.assertEqual((await ftg.me())["email"], "test@example.com")


class Operations(OnBothClients):
    async def test_every_operation(self) -> None:
        ftg = self.client()
        a, b, copied = (self.remote(name) for name in ("a", "b", "copied"))
        self.assertEqual((await ftg.write("shell", a, "one"))["size"], 3)
        self.assertEqual((await ftg.append("shell", a, b"\xff"))["transfer"]["appendedBytes"], 1)
        self.assertEqual((await ftg.read("shell", a, encoding="base64"))["content"], "b25l/w==")
        self.assertEqual((await ftg.download_json("shell", a))["content"], "b25l/w==")
        self.assertEqual((await ftg.copy("shell", a, "sandbox", copied))["fileSize"], 4)
        self.assertEqual((await ftg.move("shell", a, b))["to"], b)
        self.assertTrue((await ftg.mkdir("shell", self.remote("g")))["created"])
        listed = await ftg.list("shell", self.remote(""))
        self.assertEqual([(file["name"], file["isDirectory"]) for file in listed["files"]], [("g", True), ("b", False)])
        self.assertEqual((await ftg.exists("shell", b))["file"]["size"], 4)
        self.assertEqual((await ftg.exec("shell", "exit 3", timeout=5))["exitCode"], 3)
        await ftg.delete("shell", b)
        self.assertEqual((await self.failure(ftg.delete("shell", self.remote("")))).code, "is_a_folder")
        await ftg.delete("shell", self.remote(""), recursive=True)
        self.assertEqual({one["id"] for one in await ftg.connections()} >= {"shell", "sandbox"}, True)
        self.assertEqual((await ftg.me())["email"], "test@example.com")

    async def test_large_folders_are_listed_page_by_page_or_as_a_stream(self) -> None:
        ftg = self.client()
        names = {"a", "b b", "ü", "d/e"}
        for name in names:
            await ftg.write("shell", self.remote(name), name)
        paged = [file["path"] async for file in ftg.list_all("shell", self.remote(""), recursive=True, page_size=2)]
        self.assertEqual({self.remote(name) for name in names} | {self.remote("d")}, set(paged))
        streamed = [file["name"] async for file in ftg.list_stream("shell", self.remote(""), recursive=True, pattern="b*")]
        self.assertEqual(streamed, ["b b"])

    async def test_errors_contain_the_gateways_answer(self) -> None:
        missing = await self.failure(self.client().read("shell", self.remote("absent")))
        self.assertEqual((missing.status, missing.code), (404, "not_found"))
        self.assertIn(str(missing.request_id), str(missing))
        stranger = self.client(key="ftg_unknown-key-0123456789-abc")
        self.assertEqual((await self.failure(stranger.me())).code, "unauthenticated")

    async def test_a_repeated_call_with_one_key_runs_once(self) -> None:
        ftg = self.client()
        await ftg.write("shell", self.remote("once"), "a")
        for _ in range(2):
            await ftg.append("shell", self.remote("once"), "b", idempotency_key=self.id())
        self.assertEqual((await ftg.read("shell", self.remote("once")))["content"], "ab")

    async def test_options_apply_to_the_calls_made_with_them(self) -> None:
        ftg = self.client()
        named = ftg.with_options(request_id="python-1", retry=Retry(attempts=1))
        failed = await self.failure(named.read("shell", self.remote("absent")))
        self.assertEqual(failed.request_id, "python-1")
        self.assertNotEqual((await self.failure(ftg.read("shell", self.remote("absent")))).request_id, "python-1")
