# Made from _async/schedules.py by "npm run generate".
"""Schedules: jobs that begin by the clock."""

from __future__ import annotations

from dataclasses import replace
from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import Job, NewSchedule, Schedule, ScheduleChanges
from .transport import Transport


class Schedules:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> List[Schedule]:
        """Oldest first."""
        return cast("List[Schedule]", (self._transport.json(reading(at("schedules"))))["schedules"])

    def create(self, schedule: NewSchedule) -> Schedule:
        return self._schedule(changing_once(at("schedules"), {**schedule}))

    def preview(self, cron: str, time_zone: str) -> List[str]:
        """The next five times that a schedule would have."""
        body = {"cron": cron, "timeZone": time_zone}
        call = replace(changing_once(at("schedules", "preview"), body), repetition="repeatable")
        return cast("List[str]", (self._transport.json(call))["nextRuns"])

    def change(self, schedule_id: str, changes: ScheduleChanges) -> Schedule:
        """What is absent stays; ``job`` is replaced whole."""
        return self._schedule(Call("PATCH", at("schedules", schedule_id), json={**changes}))

    def delete(self, schedule_id: str) -> None:
        """Jobs that it has begun go on."""
        self._transport.json(Call("DELETE", at("schedules", schedule_id)))

    def run(self, schedule_id: str) -> Job:
        """Begins its job now."""
        return cast(Job, (self._transport.json(changing_once(at("schedules", schedule_id, "run"))))["job"])

    def _schedule(self, call: Call) -> Schedule:
        return cast(Schedule, (self._transport.json(call))["schedule"])
