"""Jobs, schedules, watched folders, webhooks, events, receipts, and the history."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any, Dict, List, Tuple

import httpx

from file_transfer_gateway import ReceiptChain, ReceiptError, verify_chain, verify_receipt, verify_webhook
from suite import FaultServer, OnBothClients, error, reply


class Jobs(OnBothClients):
    async def job(self, ftg: Any, **fields: Any) -> Any:
        for name in ("a", "b"):
            await ftg.write("shell", self.remote(f"from/{name}"), name)
        place = {"connectionId": "shell", "path": self.remote("from")}
        target = {"connectionId": "sandbox", "path": self.remote("to")}
        return await ftg.jobs.create({"type": "copy", "source": place, "destination": target, **fields})

    async def test_a_job_is_watched_to_its_end(self) -> None:
        ftg = self.client()
        job = await self.job(ftg, name="Nightly")
        events = [event async for event in ftg.jobs.events(job["id"])]
        self.assertEqual(events[-1].job["state"], "succeeded")
        ended = await ftg.jobs.wait(job["id"])
        self.assertEqual((ended["name"], ended["counts"]["done"]), ("Nightly", 2))
        files = [file async for file in ftg.jobs.files(job["id"], page_size=1)]
        self.assertEqual({(file["path"], file["state"]) for file in files}, {("a", "done"), ("b", "done")})
        self.assertIn(job["id"], [one["id"] async for one in ftg.jobs.list(state="succeeded", page_size=1)])
        before = [one["id"] async for one in ftg.jobs.list(until=job["createdAt"])]
        after = [one["id"] async for one in ftg.jobs.list(since=datetime.now(timezone.utc) - timedelta(hours=1))]
        self.assertEqual((job["id"] in before, job["id"] in after), (False, True))
        self.assertEqual((await self.failure(ftg.jobs.cancel(job["id"]))).code, "not_running")

    async def test_a_job_is_paused_resumed_and_cancelled(self) -> None:
        ftg = self.client()
        job = await self.job(ftg, bytesPerSecond=1)
        self.assertEqual((await ftg.jobs.pause(job["id"]))["state"], "paused")
        self.assertIn((await ftg.jobs.resume(job["id"]))["state"], ("queued", "running"))
        await ftg.jobs.cancel(job["id"])
        self.assertEqual((await ftg.jobs.wait(job["id"]))["state"], "cancelled")
        again = await ftg.jobs.retry(job["id"])
        self.assertNotEqual(again["id"], job["id"])
        await ftg.jobs.cancel(again["id"])

    async def test_a_job_is_polled_if_its_stream_breaks(self) -> None:
        def job(state: str) -> bytes:
            return json.dumps({"id": "j", "state": state}).encode()

        stream = b"event: job\ndata: " + job("running") + b"\n\nevent: file\ndata: {\"path\":\"a\"}\n\nevent: job\nda"
        server = FaultServer(
            reply(200, stream, 10_000), reply(200, b'{"job":' + job("succeeded") + b"}"), error(404, "unknown_item")
        )
        self.addCleanup(server.close)
        events = [event async for event in self.client(server.url).jobs.events("j")]
        self.assertEqual([(e.job or {}).get("state") or e.file["path"] for e in events], ["running", "a", "succeeded"])
        self.assertEqual((await self.failure(self.client(server.url).jobs.wait("j"))).code, "unknown_item")

    async def test_copies_and_downloads_can_be_jobs(self) -> None:
        ftg = self.client()
        await ftg.write("shell", self.remote("a"), "x")
        job = await ftg.begin_copy("shell", self.remote("a"), "sandbox", self.remote("b"))
        self.assertEqual((await ftg.jobs.wait(job["id"]))["state"], "succeeded")
        source = FaultServer(reply(200, b"fetched"))
        self.addCleanup(source.close)
        fetched = await ftg.begin_upload_from_url("sandbox", f"{source.url}/one.bin", path=self.remote(""))
        self.assertEqual((await ftg.jobs.wait(fetched["id"]))["state"], "succeeded")
        transfer = await ftg.upload_from_url("sandbox", f"{source.url}/two.bin", path=self.remote(""))
        self.assertEqual((transfer["filename"], transfer["size"]), ("two.bin", 7))

    async def test_schedules(self) -> None:
        ftg = self.client()
        place = {"connectionId": "shell", "path": "/"}
        wanted = {"type": "delete", "source": place, "include": ["nothing"]}
        new = {"name": "Nightly", "cron": "30 2 * * *", "timeZone": "Europe/Berlin", "job": wanted}
        schedule = await ftg.schedules.create(new)
        self.assertEqual(schedule["nextRuns"], await ftg.schedules.preview("30 2 * * *", "Europe/Berlin"))
        changed = await ftg.schedules.change(schedule["id"], {"isActive": False})
        self.assertFalse(changed["isActive"])
        self.assertEqual((await ftg.schedules.get(schedule["id"]))["name"], "Nightly")
        job = await ftg.schedules.run(schedule["id"])
        self.assertEqual((await ftg.jobs.wait(job["id"]))["state"], "succeeded")
        self.assertIn(schedule["id"], [one["id"] for one in await ftg.schedules.list()])
        await ftg.schedules.delete(schedule["id"])
        self.assertNotIn(schedule["id"], [one["id"] for one in await ftg.schedules.list()])


class Events(OnBothClients):
    async def test_watched_folders(self) -> None:
        ftg = self.client()
        path = self.remote("in")
        await ftg.mkdir("shell", path)
        folder = await ftg.watched_folders.create({"connectionId": "shell", "path": path, "filePattern": "*.csv"})
        self.assertTrue(folder["webhookSecret"].startswith("whsec_"))
        changed = await ftg.watched_folders.change(folder["id"], {"filePattern": None, "scheduleMinutes": 60})
        self.assertEqual((changed["filePattern"], changed["scheduleMinutes"]), (None, 60))
        self.assertIn(folder["id"], [one["id"] for one in await ftg.watched_folders.list()])
        self.assertEqual((await ftg.watched_folders.get(folder["id"]))["scheduleMinutes"], 60)
        await ftg.watched_folders.delete(folder["id"])
        self.assertEqual((await self.failure(ftg.watched_folders.delete(folder["id"]))).code, "unknown_watched_folder")

    async def test_a_received_webhook_is_verified_and_its_event_is_in_the_feed(self) -> None:
        ftg = self.client()
        receiver = Receiver()
        self.addCleanup(receiver.close)
        created = await ftg.webhooks.create({"url": receiver.url, "events": ["job.finished"]})
        webhook_id = created["webhook"]["id"]
        before = (await ftg.events.page())["last"]
        await ftg.write("shell", self.remote("a"), "x")
        source = {"connectionId": "shell", "path": self.remote("a")}
        job = await ftg.jobs.create({"type": "delete", "source": source})
        async for event in ftg.events.follow(after=before):
            if event["type"] == "job.finished" and event["data"]["job"]["id"] == job["id"]:
                break
        delivered: Any = None
        while delivered is None or delivered.get("id") != event["id"]:
            headers, body = await asyncio.to_thread(receiver.next)
            delivered = verify_webhook(created["secret"], headers, body)
        self.assertEqual(delivered["sequence"], event["sequence"])
        listed = [one["sequence"] async for one in ftg.events.list(after=before, page_size=1)]
        self.assertEqual(listed, list(range(before + 1, before + 1 + len(listed))))

        secret = await ftg.webhooks.rotate_secret(webhook_id)
        tested = await ftg.webhooks.test(webhook_id)
        self.assertTrue(tested["isDelivered"])
        while delivered["type"] != "webhook.test":
            delivered = verify_webhook(secret, *(await asyncio.to_thread(receiver.next)))
        self.assertFalse((await ftg.webhooks.change(webhook_id, {"isActive": False}))["isActive"])
        self.assertEqual((await ftg.webhooks.get(webhook_id))["id"], webhook_id)
        await ftg.webhooks.delete(webhook_id)
        self.assertNotIn(webhook_id, [one["id"] for one in await ftg.webhooks.list()])

    async def test_the_feed_survives_passing_errors(self) -> None:
        def page(*sequences: int) -> Any:
            events = [{"sequence": one} for one in sequences]
            return reply(200, json.dumps({"events": events, "nextAfter": sequences[-1], "last": 3}).encode())

        server = FaultServer(page(1), *[error(503, "draining", Retry_After="0")] * 5, page(2, 3), error(410, "gone"))
        self.addCleanup(server.close)
        seen: List[int] = []

        async def follow() -> None:
            async for event in self.client(server.url).events.follow(after=0):
                seen.append(event["sequence"])

        self.assertEqual((await self.failure(follow())).code, "gone")
        self.assertEqual(seen, [1, 2, 3])
        self.assertIn("after=3", server.asked[-1][1])


class History(OnBothClients):
    async def test_the_history_is_read_page_by_page_each_item_once(self) -> None:
        ftg = self.client()
        for index in range(5):
            await ftg.write("sandbox", self.remote(str(index)), "x")
        ids: List[str] = []
        async for item in ftg.transfers.list(connection_id="sandbox", type="write", page_size=2):
            if not ids:
                # Moves all others back by one.
                await ftg.write("sandbox", self.remote("meanwhile"), "x")
            ids.append(item["id"])
        self.assertEqual((len(ids) >= 5, len(set(ids))), (True, len(ids)))
        details = await ftg.transfers.get(ids[0])
        found = await ftg.transfers.page(digest=details["digest"], limit=1)
        self.assertGreaterEqual(found["total"], 5)
        self.assertEqual((await ftg.transfers.page(since="2099-01-01T00:00:00Z"))["total"], 0)

    async def test_a_failed_transfer_is_repeated(self) -> None:
        ftg = self.client()
        await self.failure(ftg.copy("shell", self.remote("late"), "sandbox", self.remote("late")))
        failed = (await ftg.transfers.page(type="copy", status="failed", limit=1))["transfers"][0]
        await ftg.write("shell", self.remote("late"), "x")
        again = await ftg.transfers.repeat(failed["id"])
        self.assertEqual((await ftg.transfers.get(again["transfer"]["id"]))["status"], "success")
        self.assertEqual((await self.failure(ftg.transfers.repeat(failed["id"]))).code, "not_repeatable")

    async def test_receipts_are_verified_without_the_gateway(self) -> None:
        ftg = self.client()
        await ftg.write("sandbox", self.remote("a"), "one")
        keys = await ftg.receipts.keys()
        receipts = [receipt async for receipt in ftg.receipts.list()]
        chain = ReceiptChain(keys)
        for receipt in receipts:
            chain.add(receipt)
        self.assertEqual(chain.summary().receipts, len(receipts))
        last = receipts[-1]
        one = await ftg.receipts.get(last["transferId"])
        self.assertEqual(verify_receipt(one, keys)["transfer"]["id"], last["transferId"])
        behind = [receipt["sequence"] async for receipt in ftg.receipts.list(after=last["sequence"] - 1)]
        self.assertIn(last["sequence"], behind)
        self.assertEqual([receipt async for receipt in ftg.receipts.list(limit=2)], receipts[:2])
        self.refuses(receipts, keys)

    def refuses(self, receipts: List[Any], keys: Any) -> None:
        def changed(index: int, **fields: Any) -> List[Any]:
            return [{**one, **fields} if at == index else one for at, one in enumerate(receipts)]

        first, second = receipts[0], receipts[1]
        head, body, signature = first["receipt"].split(".")
        other = {**first["transfer"], "path": "/another"}
        wrong = {
            "it is missing": [first, *receipts[2:]],
            "signature does not hold": changed(0, receipt=f"{head}.{second['receipt'].split('.')[1]}.{signature}"),
            "no JWS": changed(0, receipt="x"),
            "says that path is": changed(0, transfer=other),
            "names another transfer": changed(0, transferId="x"),
            "no receipt in it": [],
            "is no JSON": ["{"],
            "holds no receipt": ["{}"],
        }
        for text, chain in wrong.items():
            with self.assertRaisesRegex(ReceiptError, text):
                verify_chain(chain, keys)
        with self.assertRaisesRegex(ReceiptError, "not among the keys"):
            verify_chain(receipts, {"keys": []})
        lines = [json.dumps(receipt) for receipt in receipts]
        self.assertEqual(verify_chain(["", *lines], keys).last["sequence"], receipts[-1]["sequence"])


class Links(OnBothClients):
    async def test_a_link_needs_no_key_and_ends_when_it_is_revoked(self) -> None:
        ftg = self.client()
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        await ftg.write("shell", self.remote("a"), "x")
        link = await ftg.links.create("download", "shell", self.remote("a"), expires_at=until, max_uses=1)
        self.assertIn("/l/", link["url"])
        self.assertEqual((await ftg.links.get(link["id"]))["state"], "active")
        self.assertEqual((await ftg.transfers.page(link_id=link["id"]))["total"], 0)
        await asyncio.to_thread(lambda: httpx.get(link["url"]).raise_for_status())
        by_link = [item["path"] async for item in ftg.transfers.list(link_id=link["id"], page_size=1)]
        self.assertEqual(by_link, [self.remote("a")])
        self.assertEqual((await ftg.links.revoke(link["id"]))["state"], "revoked")
        self.assertIn(link["id"], [one["id"] async for one in ftg.links.list(page_size=1)])


class Receiver:
    """Records the webhooks that it receives."""

    def __init__(self) -> None:
        from queue import Queue

        self._taken: "Queue[Tuple[Dict[str, str], bytes]]" = Queue()
        taken = self._taken

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                taken.put((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def next(self) -> Tuple[Dict[str, str], bytes]:
        return self._taken.get(timeout=240)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
