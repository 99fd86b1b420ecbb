"""The people and the shop of the panel's tests, a seller's client, and servers that the product has not started."""

import os
import subprocess
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from rest_framework.test import APIClient

from dev import embedded
from tests import servers
from tests.integration.factories import SellerFactory, key_of
from tests.panel.conftest import as_role, person, shop, with_url, world
from tests.stock_postgresql import PROGRAM, stock_postgresql

__all__ = ["as_role", "person", "shop", "with_url", "world"]


@pytest.fixture
def buyer(db):
    """A client that calls area B with a seller's key."""
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(SellerFactory.create())}")


@pytest.fixture
def external(program, tmp_path, monkeypatch):
    """URLs of a PostgreSQL and a Redis that a run did not start. The database is empty."""
    program(PROGRAM)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "external"))
    with stock_postgresql() as (url, _log), _redis() as redis_url:
        yield {"DATABASE_URL": url, "REDIS_URL": redis_url}


@pytest.fixture
def migrated(tmp_path, monkeypatch):
    """The same with all tables, in a database of the tests' own server."""
    template = servers.database()["TEMPLATE"]  # since DATABASE_URL is not set
    url, name = embedded.postgres_url(), Identifier(f"external_{os.getpid()}")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "external"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(name, Identifier(template)))
        with _redis() as redis_url:
            yield {"DATABASE_URL": f"{url.rpartition('/')[0]}/external_{os.getpid()}", "REDIS_URL": redis_url}
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@contextmanager
def _redis():
    redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
    try:
        embedded.wait_for_redis(redis)
        yield f"unix://{embedded.redis_socket()}"
    finally:
        redis.terminate()
        redis.wait(10)
