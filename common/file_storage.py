"""Storage of files that are complete after a crash of the machine, or absent."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible


@deconstructible(path="common.file_storage.DurableFileStorage")
class DurableFileStorage(FileSystemStorage):
    """Files in a folder, readable by the account of the service alone.

    A file is written under another name, brought to the disk, and then renamed.
    """

    def _save(self, name: str, content: Any) -> str:
        target = Path(self.path(name))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=target.parent, prefix=".", delete=False) as part:  # with mode 600
            try:
                for chunk in content.chunks():
                    part.write(chunk)
                part.flush()
                os.fsync(part.fileno())
                Path(part.name).rename(target)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        _sync_folder(target.parent)
        return name


def _sync_folder(folder: Path) -> None:
    """Bring the names in the folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
