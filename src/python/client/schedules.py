"""Schedules: jobs that start at set times."""

from __future__ import annotations

from dataclasses import replace
from typing import List, cast

from .._calls import Call, at, changing_once, present, reading
from ..types import Job, NewSchedule, Schedule, ScheduleChanges
from .transport import AsyncTransport


class AsyncSchedules:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> List[Schedule]:
        """All schedules, oldest first."""
        return cast("List[Schedule]", (await self._transport.json(reading(at("schedules"))))["schedules"])

    async def get(self, schedule_id: str) -> Schedule:
        return await self._schedule(reading(at("schedules", schedule_id)))

    async def create(self, schedule: NewSchedule) -> Schedule:
        return await self._schedule(changing_once(at("schedules"), {**schedule}))

    async def preview(
        self,
        cron: str,
        time_zone: str,
        *,
        fields: Fields["NewPreview"],
    ) -> List[str]:
        """The next five runs of such a schedule."""
        body = present(cron=cron, timeZone=time_zone, **fields)
        call = replace(changing_once(at("schedules", "preview"), body), repetition="repeatable")
        return cast("List[str]", (await self._transport.json(call))["nextRuns"])

    async def change(self, schedule_id: str, changes: ScheduleChanges) -> Schedule:
        """Absent fields keep their values. ``job`` is replaced as a whole."""
        return await self._schedule(Call("PATCH", at("schedules", schedule_id), json={**changes}))

    async def delete(self, schedule_id: str) -> None:
        """Deletes the schedule. Jobs that it has started continue."""
        await self._transport.json(Call("DELETE", at("schedules", schedule_id)))

    async def run(self, schedule_id: str) -> Job:
        """Starts the job of the schedule now."""
        return cast(Job, (await self._transport.json(changing_once(at("schedules", schedule_id, "run"))))["job"])

    async def _schedule(self, call: Call) -> Schedule:
        return cast(Schedule, (await self._transport.json(call))["schedule"])
