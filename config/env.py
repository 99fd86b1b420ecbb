"""Typed readers of the environment. A missing variable fails and says how to set it."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from environs import Env

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()

_HOW = {
    "SECRET_KEY": 'python -c "import secrets; print(secrets.token_urlsafe(50))"',
    "CREDENTIALS_KEYS": (
        'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'
        " (several, comma-separated: the first encrypts, all decrypt)"
    ),
    "ALLOWED_HOSTS": "the host names this service answers to, comma-separated, such as rota.example.com",
}


def data_dir() -> Path:
    """Folder of everything this installation writes when its servers are embedded."""
    return Path(env.str("DATA_DIR", "") or BASE_DIR / "var").expanduser().resolve()


def is_embedded() -> bool:
    """True while neither server is named: a newcomer's machine, never production."""
    return not env.str("DATABASE_URL", "") and not env.str("REDIS_URL", "")


def require(*names: str) -> None:
    """Raise ImproperlyConfigured naming every variable of `names` that is not set, and how to make each."""
    missing = [name for name in names if not env.str(name, "").strip()]
    if missing:
        advice = "\n".join(f"  {name}: {_HOW[name]}" for name in missing)
        raise ImproperlyConfigured(
            "DATABASE_URL or REDIS_URL is set, so this is a production start, which also needs:\n" + advice
        )
