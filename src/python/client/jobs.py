"""Jobs: the gateway copies, moves, deletes or synchronises whole folders."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import AsyncGenerator, Dict, Optional, cast

from .._calls import at, changing_once, reading
from .._codes import ENDED
from .._jobs import JobEvent
from ..errors import FtgError
from ..types import Job, JobFile, NewJob
from .io import sleep
from .lines import lines_of
from .transport import AsyncTransport

_SILENCE_SECONDS = 30.0
"""The gateway sends at least one line every five seconds."""
_ASK_EVERY_SECONDS = 2.0


class AsyncJobs:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, job: NewJob) -> Job:
        return await self._job("POST", at("jobs"), job)

    async def get(self, job_id: str) -> Job:
        return await self._job("GET", at("jobs", job_id))

    async def list(
        self,
        *,
        fields: Fields["ListJobsQuery", "limit", "cursor"],
        page_size: PageSize["ListJobsQuery"],
    ) -> AsyncGenerator[Job, None]:
        """The matching jobs, newest first. Pages are read on demand. ``since`` and ``until`` limit when they were asked for."""
        cursor: Optional[str] = None
        while True:
            query = {**fields, "limit": page_size, "cursor": cursor}
            page = await self._transport.json(reading(at("jobs"), query))
            for job in page["jobs"]:
                yield job
            cursor = page["nextCursor"]
            if cursor is None:
                return

    async def files(
        self,
        job_id: str,
        *,
        fields: Fields["ListJobFilesQuery", "limit", "cursor"],
        page_size: PageSize["ListJobFilesQuery"],
    ) -> AsyncGenerator[JobFile, None]:
        """The files of the job in the order of their discovery. Pages are read on demand."""
        cursor: Optional[str] = None
        while True:
            query = {**fields, "limit": page_size, "cursor": cursor}
            page = await self._transport.json(reading(at("jobs", job_id, "files"), query))
            for file in page["files"]:
                yield file
            cursor = page["nextCursor"]
            if cursor is None:
                return

    async def pause(self, job_id: str) -> Job:
        """Pauses the job. Running files are completed, and no other is started."""
        return await self._job("POST", at("jobs", job_id, "pause"), is_repeatable=True)

    async def resume(self, job_id: str) -> Job:
        return await self._job("POST", at("jobs", job_id, "resume"), is_repeatable=True)

    async def cancel(self, job_id: str) -> Job:
        """Cancels the job. Running files are undone, and completed files stay."""
        return await self._job("POST", at("jobs", job_id, "cancel"), is_repeatable=True)

    async def retry(self, job_id: str) -> Job:
        """Starts a new job with the files that failed or were not reached."""
        return await self._job("POST", at("jobs", job_id, "retry"))

    async def wait(self, job_id: str) -> Job:
        """Waits until the job has ended, with any result. It also waits for a paused job."""
        events = self.events(job_id)
        try:
            async for event in events:
                if event.job is not None and event.job["state"] in ENDED:
                    return event.job
        finally:
            await events.aclose()
        return await self.get(job_id)

    async def events(self, job_id: str) -> AsyncGenerator[JobEvent, None]:
        """The state of the job, first immediately and then on each change until it has ended, and its files as they end.

        If many files end together, some of them are omitted. Without a working stream, the job is polled every two seconds.
        """
        while True:
            stream = self._stream(job_id)
            try:
                async for event in stream:
                    yield event
                    if event.job is not None and event.job["state"] in ENDED:
                        return
            except FtgError:
                # The request below raises permanent errors.
                pass
            finally:
                await stream.aclose()
            job = await self.get(job_id)
            yield JobEvent(job=job)
            if job["state"] in ENDED:
                return
            await sleep(_ASK_EVERY_SECONDS)

    async def _stream(self, job_id: str) -> AsyncGenerator[JobEvent, None]:
        call = replace(reading(at("jobs", job_id, "events")), repetition="never", timeout=_SILENCE_SECONDS)
        lines = lines_of(await self._transport.open(call), self._transport.base_url)
        name = ""
        try:
            async for line in lines:
                if line.startswith("event: "):
                    name = line[len("event: ") :]
                elif line.startswith("data: ") and name in ("job", "file"):
                    data = json.loads(line[len("data: ") :])
                    yield JobEvent(job=data) if name == "job" else JobEvent(file=data)
        finally:
            await lines.aclose()

    async def _job(self, method: str, path: str, body: Optional[NewJob] = None, is_repeatable: bool = False) -> Job:
        json_body = cast("Optional[Dict[str, object]]", body)
        call = reading(path) if method == "GET" else changing_once(path, json_body)
        # A second run does no harm.
        if is_repeatable:
            call = replace(call, repetition="repeatable")
        return cast(Job, (await self._transport.json(call))["job"])
