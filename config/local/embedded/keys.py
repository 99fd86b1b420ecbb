"""The secrets of an embedded installation."""

import json
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from cryptography.fernet import Fernet

from config.env import data_dir
from config.local.embedded.private import open_private


def local_secrets() -> dict[str, str]:
    """SECRET_KEY and CREDENTIALS_KEYS of an embedded installation, made once and kept beside its data (0600).

    Raises StartRefused when the file is a link or belongs to another user.
    """
    path = data_dir() / "secrets.json"
    if not path.exists():
        _make(path)
    with os.fdopen(open_private(path, os.O_RDONLY)) as file:
        kept: dict[str, str] = json.load(file)
    return kept


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {"SECRET_KEY": secrets.token_urlsafe(50), "CREDENTIALS_KEYS": Fernet.generate_key().decode()}
    # Written to a temporary file and linked, so that concurrent starts agree on one pair of keys.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".secrets-")
    with os.fdopen(handle, "w") as file:
        json.dump(made, file)
    with suppress(FileExistsError):
        os.link(draft, path)
    Path(draft).unlink()
