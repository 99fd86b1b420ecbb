"""What is known before the models of the environment are read: version, packages, folders, mode. Imports no package."""

import os
import tomllib
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
PACKAGES = sorted(path.parent for path in BASE_DIR.glob("*/__init__.py"))  # their folders
VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]


class StartRefused(SystemExit):
    """The service cannot start until somebody has corrected what the message names.

    A SystemExit, so that the process ends with the message and without a traceback wherever it is raised, also while
    a framework imports the settings.
    """


def data_dir() -> Path:
    """Folder of everything this installation writes when its servers are embedded."""
    return Path(os.environ.get("DATA_DIR") or BASE_DIR / "var").expanduser().resolve()


def is_embedded() -> bool:
    """Whether `make run` starts the servers: neither URL is set."""
    return not os.environ.get("DATABASE_URL") and not os.environ.get("REDIS_URL")
