"""The events of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .types import Job, JobFile


@dataclass(frozen=True)
class JobEvent:
    """Either the current state of the job, or one of its files that has ended."""

    job: Optional[Job] = None
    file: Optional[JobFile] = None
