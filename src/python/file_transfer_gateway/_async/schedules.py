"""Schedules: jobs that begin by the clock."""

from __future__ import annotations

from dataclasses import replace
from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import Job, NewSchedule, Schedule, ScheduleChanges
from .transport import AsyncTransport


class AsyncSchedules:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> List[Schedule]:
        """Oldest first."""
        return cast("List[Schedule]", (await self._transport.json(reading(at("schedules"))))["schedules"])

    async def create(self, schedule: NewSchedule) -> Schedule:
        return await self._schedule(changing_once(at("schedules"), {**schedule}))

    async def preview(self, cron: str, time_zone: str) -> List[str]:
        """The next five times that a schedule would have."""
        body = {"cron": cron, "timeZone": time_zone}
        call = replace(changing_once(at("schedules", "preview"), body), repetition="repeatable")
        return cast("List[str]", (await self._transport.json(call))["nextRuns"])

    async def change(self, schedule_id: str, changes: ScheduleChanges) -> Schedule:
        """What is absent stays; ``job`` is replaced whole."""
        return await self._schedule(Call("PATCH", at("schedules", schedule_id), json={**changes}))

    async def delete(self, schedule_id: str) -> None:
        """Jobs that it has begun go on."""
        await self._transport.json(Call("DELETE", at("schedules", schedule_id)))

    async def run(self, schedule_id: str) -> Job:
        """Begins its job now."""
        return cast(Job, (await self._transport.json(changing_once(at("schedules", schedule_id, "run"))))["job"])

    async def _schedule(self, call: Call) -> Schedule:
        return cast(Schedule, (await self._transport.json(call))["schedule"])
