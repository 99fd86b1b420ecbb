"""The storage of photos: its setting, and files that are complete after a crash of the machine, or absent."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible

_CONNECT_SECONDS, _READ_SECONDS, _TRIES = 3, 15, 2


def setting(*, bucket: str, folder: Path) -> dict[str, Any]:
    """The entry of STORAGES: the folder, or the bucket if one is named, at AWS or the server of AWS_ENDPOINT_URL_S3."""
    if not bucket:
        options: dict[str, Any] = {"location": folder, "file_permissions_mode": 0o600, "base_url": None}
        return {"BACKEND": "config.proof_storage.DurableFileStorage", "OPTIONS": options}
    from botocore.config import Config  # absent in installations without a bucket

    options = {
        "bucket_name": bucket,
        "location": "proofs",
        "default_acl": None,  # the bucket's own, private
        "file_overwrite": True,  # names are unique; otherwise every upload would look for the name first
        "client_config": Config(
            connect_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS, retries={"total_max_attempts": _TRIES}
        ),
    }
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


@deconstructible(path="config.proof_storage.DurableFileStorage")
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
