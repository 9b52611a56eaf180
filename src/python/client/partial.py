"""Downloads to a file that a later process can resume."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Optional, Union

from .._calls import Call, Progress
from .._names import name_with
from .._versions import FileVersion
from ..errors import FtgError
from .download import AsyncDownload
from .io import in_thread
from .transport import AsyncTransport


async def download_to(
    transport: AsyncTransport,
    call: Call,
    target: Union[str, "os.PathLike[str]"],
    *,
    keep_partial: bool,
    on_progress: Optional[Progress],
) -> Path:
    """With ``keep_partial``, the bytes before a failure stay in ``NAME.part``, and their version in ``NAME.part.json``."""
    if not keep_partial:
        async with AsyncDownload(transport, call, on_progress=on_progress) as download:
            return await download.save(target)
    path = Path(target)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a download that is to be resumed needs the name of its file")
    part, state = path.with_name(name_with(path.name, ".part")), path.with_name(name_with(path.name, ".part.json"))
    had, version = _begun(part, state)
    try:
        async with AsyncDownload(transport, call, resume=version, had=had, on_progress=on_progress) as download:
            if version is None:
                part.unlink(missing_ok=True)
                state.unlink(missing_ok=True)
                if download.version is not None:
                    state.write_text(json.dumps(asdict(download.version)))
            await download.write_to(part, "ab")
    except BaseException as error:
        is_another = isinstance(error, FtgError) and error.code == "file_changed"
        if is_another:
            state.unlink(missing_ok=True)
        if not state.exists():
            part.unlink(missing_ok=True)
        if not is_another or version is None:
            raise
        return await download_to(transport, call, path, keep_partial=True, on_progress=on_progress)
    await in_thread(os.replace, part, path)
    state.unlink(missing_ok=True)
    return path


def _begun(part: Path, state: Path) -> "tuple[int, Optional[FileVersion]]":
    """The size and version of the partial file; (0, None) if there is none to resume."""
    try:
        version = FileVersion(**json.loads(state.read_text()))
        had = part.stat().st_size
    except (OSError, ValueError, TypeError):
        return 0, None
    return (had, version) if 0 < had < version.size else (0, None)
