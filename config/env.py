"""Access to the environment's variables. `config.checks` refuses invalid values."""

from pathlib import Path

from environs import Env

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()


class StartRefused(SystemExit):
    """The service cannot start until somebody has corrected what the message names.

    A SystemExit, so that the process ends with the message and without a traceback wherever it is raised, also while
    a framework imports the settings.
    """


def data_dir() -> Path:
    """Folder of everything this installation writes when its servers are embedded."""
    return Path(env.str("DATA_DIR", "") or BASE_DIR / "var").expanduser().resolve()


def is_embedded() -> bool:
    """Embedded mode: neither DATABASE_URL nor REDIS_URL is set. Never production."""
    return not env.str("DATABASE_URL", "") and not env.str("REDIS_URL", "")
