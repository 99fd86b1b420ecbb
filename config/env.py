"""Reader of the environment, and what follows from it alone. `config.checks` says which values are refused."""

from pathlib import Path

from environs import Env

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()


class StartRefused(SystemExit):
    """Something that a person has to put right before the service can start.

    It ends the process with its message and without a traceback wherever it is raised, also while a framework imports
    the settings, and only there.
    """


def data_dir() -> Path:
    """Folder of everything this installation writes when its servers are embedded."""
    return Path(env.str("DATA_DIR", "") or BASE_DIR / "var").expanduser().resolve()


def is_embedded() -> bool:
    """True while neither server is named: a newcomer's machine, never production."""
    return not env.str("DATABASE_URL", "") and not env.str("REDIS_URL", "")
