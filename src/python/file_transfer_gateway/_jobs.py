"""What a job reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .types import Job, JobFile

ENDED = ("succeeded", "partly_failed", "failed", "cancelled")


@dataclass(frozen=True)
class JobEvent:
    """How the job is now, or a file of it that has ended: one of the two."""

    job: Optional[Job] = None
    file: Optional[JobFile] = None
