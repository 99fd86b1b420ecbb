"""PostgreSQL and Redis from Python wheels, for a machine that has neither.

PostgreSQL is shared by every process that uses one data folder: whoever needs it first starts it, the last
holder stops it. Redis is a child of `config.run` (or of the test session). Both listen on unix sockets only.
The wheels are the `embedded` extra; nothing here is imported from them when the URLs are set.
"""

from config.embedded.keys import local_secrets
from config.embedded.postgres import Postgres, hold_postgres, postgres_settings
from config.embedded.redis import redis_command, redis_log, redis_socket, wait_for_redis

__all__ = [
    "Postgres",
    "hold_postgres",
    "local_secrets",
    "postgres_settings",
    "redis_command",
    "redis_log",
    "redis_socket",
    "wait_for_redis",
]
