"""The setting of the storage of photos."""

from pathlib import Path
from typing import Any

_CONNECT_SECONDS, _READ_SECONDS, _TRIES = 3, 15, 2


def setting(*, bucket: str, folder: Path) -> dict[str, Any]:
    """The entry of STORAGES: the folder, or the bucket if one is named, at AWS or the server of AWS_ENDPOINT_URL_S3."""
    if not bucket:
        options: dict[str, Any] = {"location": folder, "file_permissions_mode": 0o600, "base_url": None}
        return {"BACKEND": "common.file_storage.DurableFileStorage", "OPTIONS": options}
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
