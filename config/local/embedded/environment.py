"""The variables that production has to set, in embedded mode."""

from config.local.embedded.keys import local_secrets
from config.local.embedded.postgres import postgres_url
from config.local.embedded.redis import redis_socket


def environment() -> dict[str, str]:
    """Values of the required variables that lead to the embedded servers and keep this installation's own secrets.

    Raises StartRefused when the file of the secrets is a link or belongs to another user.
    """
    return {
        "DATABASE_URL": postgres_url(),
        "REDIS_URL": f"unix://{redis_socket()}",
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        **local_secrets(),
    }
