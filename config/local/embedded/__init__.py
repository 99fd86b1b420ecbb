"""PostgreSQL and Redis from Python wheels, for a machine that has neither.

PostgreSQL is shared by the processes that use one data folder: the first starts it, the last stops it. Redis is a
child of `config.local.run` (or of the test session). Both listen on unix sockets only.
The wheels are the `embedded` extra. Nothing of this package is imported in production.
"""

from config.local.embedded.environment import environment
from config.local.embedded.keys import local_secrets
from config.local.embedded.postgres import Postgres, hold_postgres, postgres_url
from config.local.embedded.redis import redis_command, redis_log, redis_socket, wait_for_redis

__all__ = [
    "Postgres",
    "environment",
    "hold_postgres",
    "local_secrets",
    "postgres_url",
    "redis_command",
    "redis_log",
    "redis_socket",
    "wait_for_redis",
]
