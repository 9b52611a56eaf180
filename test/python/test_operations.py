"""Both clients have a method for each operation of the API document, which sends each parameter of its query.

A new operation or parameter fails here until the clients have it.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from typing import Any, Callable, Dict, Iterator, Tuple, Union
from urllib.parse import parse_qs, urlsplit

import httpx

from suite import URL, FaultServer, OnBothClients, reply

PLACE = {"connectionId": "c", "path": "/x"}
JOB = {"type": "delete", "source": PLACE}
SCHEDULE = {"name": "x", "cron": "30 2 * * *", "timeZone": "Europe/Berlin", "job": JOB}
HOOK = {"url": "https://example.com/x", "events": ["job.finished"]}
COPY = ("c", "/x", "d")
NAMING = ("path", "filename", "overwrite", "filename_template", "mtime")

Run = Callable[..., Any]
Method = Tuple[Run, Tuple[str, ...]]


def but(run: Run, *own: str) -> Method:
    """A method that sets these parameters by itself, or has none of them."""
    return run, own


async def opened(download: Any) -> None:
    async with download as content:
        await content.read()


METHODS: Dict[str, Tuple[Union[Run, Method], ...]] = {
    "uploadFile": (
        lambda ftg, **query: ftg.upload("c", b"x", **query),
        but(lambda ftg, verify: ftg.upload_from_url("c", URL, verify=verify), *NAMING),
        but(lambda ftg, verify: ftg.begin_upload_from_url("c", URL, verify=verify), *NAMING),
    ),
    "downloadFile": (
        but(lambda ftg, path, raw_name: opened(ftg.download("c", path, raw_name=raw_name)), "format"),
        but(lambda ftg, path: opened(ftg.download_archive("c", path)), "rawName", "format"),
        but(lambda ftg, path, raw_name: ftg.download_json("c", path, raw_name=raw_name), "format"),
    ),
    "copyFile": (lambda ftg: ftg.copy(*COPY), lambda ftg: ftg.begin_copy(*COPY)),
    "readFile": (lambda ftg, **query: ftg.read("c", **query),),
    "writeFile": (lambda ftg: ftg.write("c", "/x", "x"),),
    "deleteFile": (lambda ftg: ftg.delete("c", "/x"),),
    "moveFile": (lambda ftg: ftg.move("c", "/x", "/y"),),
    "makeFolder": (lambda ftg: ftg.mkdir("c", "/x"),),
    "listFolder": (
        lambda ftg, **query: ftg.list("c", **query),
        but(lambda ftg, limit, **query: ftg.list_all("c", page_size=limit, **query), "cursor"),
        but(lambda ftg, **query: ftg.list_stream("c", **query), "limit", "cursor"),
    ),
    "findFile": (lambda ftg, **query: ftg.exists("c", **query),),
    "runCommand": (lambda ftg: ftg.exec("c", "true"),),
    "appendToFile": (lambda ftg: ftg.append("c", "/x", "x"),),
    "verifyKey": (lambda ftg: ftg.me(),),
    "getReceipt": (lambda ftg: ftg.receipts.get("i"),),
    "listReceipts": (lambda ftg, **query: ftg.receipts.list(**query),),
    "showReceiptKeys": (lambda ftg: ftg.receipts.keys(),),
    "listConnections": (lambda ftg: ftg.connections(),),
    "listTransfers": (
        lambda ftg, **query: ftg.transfers.page(**query),
        but(lambda ftg, limit, **query: ftg.transfers.list(page_size=limit, **query), "offset"),
    ),
    "getTransfer": (lambda ftg: ftg.transfers.get("i"),),
    "repeatTransfer": (lambda ftg: ftg.transfers.repeat("i"),),
    "listWatchedFolders": (lambda ftg: ftg.watched_folders.list(),),
    "createWatchedFolder": (lambda ftg: ftg.watched_folders.create(PLACE),),
    "getWatchedFolder": (lambda ftg: ftg.watched_folders.get("i"),),
    "changeWatchedFolder": (lambda ftg: ftg.watched_folders.change("i", {}),),
    "deleteWatchedFolder": (lambda ftg: ftg.watched_folders.delete("i"),),
    "createJob": (lambda ftg: ftg.jobs.create(JOB),),
    "listJobs": (but(lambda ftg, limit, **query: ftg.jobs.list(page_size=limit, **query), "cursor"),),
    "getJob": (lambda ftg: ftg.jobs.get("i"),),
    "listJobFiles": (but(lambda ftg, limit, **query: ftg.jobs.files("i", page_size=limit, **query), "cursor"),),
    "pauseJob": (lambda ftg: ftg.jobs.pause("i"),),
    "resumeJob": (lambda ftg: ftg.jobs.resume("i"),),
    "cancelJob": (lambda ftg: ftg.jobs.cancel("i"),),
    "retryJob": (lambda ftg: ftg.jobs.retry("i"),),
    "watchJob": (lambda ftg: ftg.jobs.events("i"),),
    "listSchedules": (lambda ftg: ftg.schedules.list(),),
    "createSchedule": (lambda ftg: ftg.schedules.create(SCHEDULE),),
    "getSchedule": (lambda ftg: ftg.schedules.get("i"),),
    "changeSchedule": (lambda ftg: ftg.schedules.change("i", {}),),
    "deleteSchedule": (lambda ftg: ftg.schedules.delete("i"),),
    "previewSchedule": (lambda ftg: ftg.schedules.preview("30 2 * * *", "Europe/Berlin"),),
    "runSchedule": (lambda ftg: ftg.schedules.run("i"),),
    "listEvents": (
        lambda ftg, **query: ftg.events.page(**query),
        but(lambda ftg, limit, **query: ftg.events.list(page_size=limit, **query), "wait"),
    ),
    "listWebhooks": (lambda ftg: ftg.webhooks.list(),),
    "createWebhook": (lambda ftg: ftg.webhooks.create(HOOK),),
    "getWebhook": (lambda ftg: ftg.webhooks.get("i"),),
    "changeWebhook": (lambda ftg: ftg.webhooks.change("i", {}),),
    "deleteWebhook": (lambda ftg: ftg.webhooks.delete("i"),),
    "rotateSecretOfWebhook": (lambda ftg: ftg.webhooks.rotate_secret("i"),),
    "testWebhook": (lambda ftg: ftg.webhooks.test("i"),),
    "createLink": (lambda ftg: ftg.links.create("download", "c", "/x", expires_at="2030-01-01T00:00:00Z"),),
    "listLinks": (but(lambda ftg, limit: ftg.links.list(page_size=limit), "cursor"),),
    "getLink": (lambda ftg: ftg.links.get("i"),),
    "revokeLink": (lambda ftg: ftg.links.revoke("i"),),
}

ANSWER: Dict[str, Any] = {"job": {"id": "i", "state": "succeeded"}, "nextCursor": None, "transfer": {}, "total": 0, "limit": 1}
ANSWER.update({name: [] for name in ("jobs", "files", "transfers", "events", "schedules", "links", "webhooks")})
ANSWER.update(connections=[], watchedFolders=[], nextRuns=[], nextAfter=0, last=0, sequence=1)
ANSWER.update(schedule={}, webhook={}, link={}, secret="", test={})
"""The fields of all answers together."""


class Operations(OnBothClients):
    async def test_each_operation_has_a_method_that_sends_its_query(self) -> None:
        document = httpx.get(f"{URL}/openapi.json").json()
        server = FaultServer(reply(200, json.dumps(ANSWER).encode() + b"\n"))
        self.addCleanup(server.close)
        ftg = self.client(server.url)
        checked = set()
        for verb, path, operation in operations(document):
            name = operation["operationId"]
            checked.add(name)
            self.assertIn(name, METHODS, "the client has no method for it")
            query = query_of(document, operation)
            address = re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path))
            for method in METHODS[name]:
                run, own = method if isinstance(method, tuple) else (method, ())
                wanted = {key: value for key, value in query.items() if key not in own}
                server.asked.clear()
                await finished(run(ftg, **{snake(key): value for key, value in wanted.items()}))
                targets = [urlsplit(target) for asking, target, *_ in server.asked if asking == verb]
                found = [parse_qs(target.query) for target in targets if address.fullmatch(target.path)]
                self.assertEqual(len(found), 1, (name, targets))
                sent = {key: value for key, value in found[0].items() if key in wanted}
                self.assertEqual(sent, {key: [text(value)] for key, value in wanted.items()}, name)
                self.assertLessEqual(set(found[0]), set(query), name)
        self.assertEqual(set(METHODS), checked)


def operations(document: Any) -> Iterator[Tuple[str, str, Any]]:
    """Not those that upload_resumable() uses, nor the pages of links and nodes."""
    for path, item in document["paths"].items():
        if re.match(r"/(api|\.well-known)/", path) and not re.match(r"/api/(uploads|sandbox)/", path):
            for verb, operation in item.items():
                if verb != "head":
                    yield verb.upper(), path, operation


def query_of(document: Any, operation: Any) -> Dict[str, Any]:
    shared = document["components"]["parameters"]
    named = [shared[one["$ref"].split("/")[-1]] if "$ref" in one else one for one in operation.get("parameters", [])]
    return {one["name"]: example_of(one) for one in named if one["in"] == "query"}


def example_of(parameter: Any) -> Any:
    """Another value than the default, where there are two."""
    schema = parameter["schema"]
    if schema.get("type") == "boolean":
        return not schema.get("default", False)
    return schema.get("enum", [parameter.get("example", 1 if schema.get("type") == "integer" else "x")])[0]


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


async def finished(result: Any) -> None:
    """Waits for it, and reads it if it is a generator, of either client."""
    if inspect.isasyncgen(result):
        async for _ in result:
            pass
        return
    value = await result
    if inspect.isgenerator(value):
        await asyncio.to_thread(list, value)
