"""Names of local files."""

from __future__ import annotations

import os

_MAX_BYTES = 255
"""What file systems hold."""


def name_with(name: str, suffix: str) -> str:
    """``name`` and ``suffix``. A name that leaves no room for it loses characters at its end."""
    while len(os.fsencode(name + suffix)) > _MAX_BYTES:
        name = name[:-1]
    return name + suffix
