"""Names of local files."""

from __future__ import annotations

import os

_MAX_BYTES = 255
"""The limit of most file systems."""


def name_with(name: str, suffix: str) -> str:
    """``name`` followed by ``suffix``. A name that is too long loses characters at its end."""
    while len(os.fsencode(name + suffix)) > _MAX_BYTES:
        name = name[:-1]
    return name + suffix
