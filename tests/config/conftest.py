"""The people and the shop of the panel's tests, a seller's client, and servers that the product has not started."""

import subprocess

import pytest
from rest_framework.test import APIClient

from config.local import embedded
from tests.integration.factories import SellerFactory, key_of
from tests.panel.conftest import as_role, person, shop, with_url, world

__all__ = ["as_role", "person", "shop", "with_url", "world"]


@pytest.fixture
def buyer(db):
    """A client that calls area B with a seller's key."""
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(SellerFactory.create())}")


@pytest.fixture
def external(tmp_path, monkeypatch):
    """URLs of a PostgreSQL and a Redis that a run did not start."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "external"))
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    server = embedded.hold_postgres()
    assert server is not None  # since DATABASE_URL is not set
    redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
    embedded.wait_for_redis(redis)
    yield {
        "DATABASE_URL": embedded.postgres_url(),
        "REDIS_URL": f"unix://{embedded.redis_socket()}",
    }
    redis.terminate()
    redis.wait(10)
    server.release()
