"""The rules for retries, and the errors that callers get."""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
import unittest
from email.utils import formatdate
from typing import Any, Tuple
from unittest import mock

from file_transfer_gateway import AsyncFileTransferGateway, FileTransferGateway, Retry
from suite import FaultServer, OnBothClients, error, reply, reset

OK = reply(200, b'{"transfer":{"id":"t"}}')


class Retries(OnBothClients):
    def serve(self, *replies: Any, **options: Any) -> Tuple[Any, FaultServer]:
        server = FaultServer(*replies)
        self.addCleanup(server.close)
        return self.client(server.url, **options), server

    async def test_changes_are_repeated_with_one_key_until_they_are_done(self) -> None:
        for make in (lambda: b"abc", lambda: io.BytesIO(b"abc"), lambda: lambda: iter([b"ab", b"c"])):
            ftg, server = self.serve(reset, error(503, "pool_full", Retry_After="0"), error(409, "idempotency_in_progress"), OK)
            await ftg.upload("c", make(), filename="x")
            self.assertEqual([asked[3] for asked in server.asked], [b"abc"] * 4)
            self.assertEqual(len({asked[2]["idempotency-key"] for asked in server.asked}), 1)
        ftg, server = self.serve(OK)
        await ftg.upload("c", b"", filename="x", idempotency_key="mine")
        self.assertEqual(server.asked[0][2]["idempotency-key"], "mine")

    async def test_no_redirect_is_followed(self) -> None:
        for call in (lambda ftg: ftg.delete("c", "/x"), lambda ftg: ftg.upload("c", b"abc", filename="x"), lambda ftg: ftg.me()):
            for status in (301, 302, 303, 307, 308):
                ftg, server = self.serve(reply(status, b"", Location="/elsewhere"), OK)
                self.assertEqual((await self.failure(call(ftg))).status, status)
                self.assertEqual(len(server.asked), 1)

    async def test_a_stream_that_cannot_be_read_twice_is_sent_once(self) -> None:
        ftg, server = self.serve(error(503, "pool_full", Retry_After="1"))
        failed = await self.failure(ftg.upload("c", iter([b"abc"]), filename="x"))
        facts = (failed.code, failed.status, failed.retry_after, failed.request_id, len(server.asked))
        self.assertEqual(facts, ("pool_full", 503, 1, "r-1", 1))

    async def test_a_call_that_could_act_twice_is_repeated_only_if_it_was_certainly_not_begun(self) -> None:
        calls = [
            lambda ftg: ftg.append("c", "/x", "line"),
            lambda ftg: ftg.exec("c", "true"),
            lambda ftg: ftg.watched_folders.create({"connectionId": "c", "path": "/x"}),
            lambda ftg: ftg.webhooks.create({"url": "https://example.com", "events": ["job.finished"]}),
        ]
        for call in calls:
            for answer in (reset, error(502, "connection_lost"), error(503, "database_away", Retry_After="0")):
                ftg, server = self.serve(answer)
                await self.failure(call(ftg))
                self.assertEqual(len(server.asked), 1)
            ftg, server = self.serve(error(503, "pool_full"), OK)
            await call(ftg)
            self.assertEqual(len(server.asked), 2)

    async def test_an_error_that_a_retry_cannot_fix_is_not_retried(self) -> None:
        lasting = [
            error(400, "bad_request"),
            error(401, "unauthenticated"),
            error(409, "already_exists"),
            error(500, "internal"),
            # The operation was done but not recorded.
            error(503, "outcome_unrecorded"),
            error(502, "login_refused"),
            error(429, "rate_limited", Retry_After="3600"),
            # The next month is beyond the longest delay.
            error(429, "quota_exceeded", Retry_After=formatdate(time.time() + 86_400, usegmt=True)),
        ]
        for answer in lasting:
            ftg, server = self.serve(answer)
            await self.failure(ftg.list("c"))
            self.assertEqual(len(server.asked), 1)

    async def test_retries_wait_for_retry_after(self) -> None:
        ftg, server = self.serve(error(429, "rate_limited", Retry_After="1"), OK)
        begun = time.monotonic()
        await ftg.me()
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    async def test_attempts_are_limited_and_the_last_error_is_raised(self) -> None:
        for attempts in (1, 3):
            ftg, server = self.serve(error(504, "connect_timeout"), retry=Retry(attempts=attempts, delay=0.01))
            self.assertEqual((await self.failure(ftg.me())).code, "connect_timeout")
            self.assertEqual(len(server.asked), attempts)

    async def test_truncated_answers_and_those_of_other_servers(self) -> None:
        ftg, _ = self.serve(reply(200, b'{"email":', 100), reply(502, b"<html>"), reply(200, b'{"email":"a"}'))
        self.assertEqual((await ftg.me())["email"], "a")
        for answer, status in ((reply(404, b"<html>"), 404), (reply(200, b"<html>"), 200), (reply(301, b""), 301)):
            failed = await self.failure(self.serve(answer)[0].me())
            self.assertEqual((failed.code, failed.status), ("invalid_answer", status))

    async def test_causes_have_names(self) -> None:
        once = Retry(attempts=1)
        plain = PlainServer()
        self.addCleanup(plain.close)
        silent = FaultServer(lambda peer: peer.recv(1))
        self.addCleanup(silent.close)
        causes = {
            "127.0.0.1:1 refused the connection": "http://127.0.0.1:1",
            "nowhere.invalid:80 cannot be resolved": "http://nowhere.invalid",
            "does not speak TLS; is it http:// in place of https://": plain.url.replace("http:", "https:"),
            f"nothing came from {silent.url[7:]} in time": silent.url,
        }
        for text, url in causes.items():
            failed = await self.failure(self.client(url, retry=once, timeout=1).me())
            self.assertEqual((failed.code, failed.status), ("network_error", 0))
            self.assertIn(text, str(failed))
            self.assertIsNotNone(failed.__cause__)

    async def test_the_path_and_the_query_arrive_as_they_were_given(self) -> None:
        ftg, server = self.serve(OK)
        await ftg.list("a/b ü?%41", "/x y&z+%20", recursive=True)
        method, target, headers, _ = server.asked[0]
        self.assertEqual(target, "/api/list/a%2Fb%20%C3%BC%3F%2541?path=%2Fx+y%26z%2B%2520&recursive=true")
        self.assertEqual(headers["authorization"], "Bearer ftg_x-0123456789")

    async def test_missing_options_are_named_before_any_call(self) -> None:
        wrong = {
            "base_url": ("", "k"),
            "http://": ("ftp://x", "k"),
            "FTG_KEY": ("http://x", ""),
            "end of its line": ("http://x", "ftg_k\n"),
        }
        for text, arguments in wrong.items():
            with self.assertRaisesRegex(ValueError, text):
                self.client(*arguments)

    async def test_a_link_is_created_with_the_given_options(self) -> None:
        ftg, server = self.serve(reply(201, b'{"link":{"id":"l","url":"u"}}'))
        link = await ftg.links.create("upload", "c", "/in", expires_at="2027-01-31T00:00:00Z", max_uses=2)
        self.assertEqual(link["url"], "u")
        asked = {"operation": "upload", "connectionId": "c", "path": "/in", "expiresAt": "2027-01-31T00:00:00Z", "maxUses": 2}
        self.assertEqual(json.loads(server.asked[0][3]), asked)

    def client(self, url: str, key: str = "ftg_x-0123456789", **options: Any) -> Any:
        return super().client(url, key, **options)


class Owned(unittest.IsolatedAsyncioTestCase):
    """Clients that create their own HTTP client."""

    async def test_the_client_closes_the_http_client_that_it_opened(self) -> None:
        server = FaultServer(reply(200, b'{"email":"a"}'))
        self.addCleanup(server.close)
        with FileTransferGateway(server.url, "k") as ftg:
            self.assertEqual((await asyncio.to_thread(ftg.me))["email"], "a")
        async with AsyncFileTransferGateway(server.url, "k") as client:
            self.assertEqual((await client.me())["email"], "a")
        with self.assertRaisesRegex(RuntimeError, "closed"):
            ftg.me()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            await client.me()

    async def test_the_environment_names_the_gateway(self) -> None:
        server = FaultServer(reply(200, b'{"email":"a"}'))
        self.addCleanup(server.close)
        with mock.patch.dict(os.environ, FTG_URL=server.url, FTG_KEY="ftg_env"):
            with FileTransferGateway() as ftg:
                await asyncio.to_thread(ftg.me)
        self.assertEqual(server.asked[0][2]["authorization"], "Bearer ftg_env")


class PlainServer(FaultServer):
    """Answers every request, without TLS."""

    def _serve(self) -> None:
        peer, _ = self._listener.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 400 x\r\n\r\n")
            peer.recv(1_000)
