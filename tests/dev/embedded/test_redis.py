"""The embedded Redis of the test session: who can reach it, and what they can do."""

import os
import stat
import subprocess

import psutil
import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError, ResponseError

from config.celery import app as celery_app
from config.env import is_embedded
from dev import embedded
from tests.cases import in_turn

REFUSED = [
    ["CONFIG", "GET", "dir"], ["CONFIG", "SET", "dir", "/"], ["DEBUG", "SLEEP", "0"], ["MODULE", "LIST"],
    ["REPLICAOF", "127.0.0.1", "1"], ["MIGRATE", "127.0.0.1", "1", "k", "0", "10"], ["SAVE"], ["BGSAVE"],
    ["SHUTDOWN", "NOSAVE"], ["MONITOR"], ["ACL", "SETUSER", "x"], ["FLUSHALL"], ["KEYS", "*"],
]  # fmt: skip  # a list of commands


@pytest.fixture(autouse=True)
def _embedded_one():
    if not is_embedded():
        pytest.fail("These tests are of the embedded Redis: run them without DATABASE_URL and REDIS_URL.")


@pytest.fixture
def redis():
    with Redis(unix_socket_path=str(embedded.redis_socket())) as client:
        yield client


class TestEmbeddedRedis:
    def test_is_reached_by_its_owner_alone(self):
        socket = embedded.redis_socket()

        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        assert socket.stat().st_uid == os.geteuid()

    def test_listens_on_its_socket_alone(self):
        (server,) = [child for child in psutil.Process().children() if "valkey-server" in child.name() + child.exe()]

        assert server.net_connections("inet") == []

    @in_turn("command", REFUSED)
    def test_refuses_what_touches_the_server_itself(self, redis, command):
        with pytest.raises(ResponseError, match=r"no permissions|not allowed"):
            redis.execute_command(*command)

    def test_transports_a_message_of_celery(self):
        with celery_app.connection_for_write() as connection, connection.SimpleQueue("test_redis") as queue:
            queue.put({"number": 7})

            message = queue.get(timeout=30)
            message.ack()

            assert message.payload == {"number": 7}
            queue.queue.delete()

    def test_releases_a_lock_by_script_as_kombu_does(self, redis):
        with redis.lock("test_redis_lock", timeout=5):
            assert redis.exists("test_redis_lock")

        assert not redis.exists("test_redis_lock")

    def test_refuses_new_data_rather_than_losing_old_when_it_is_full(self, tmp_path, monkeypatch):
        monkeypatch.setenv("DATA_DIR", str(tmp_path))
        process = subprocess.Popen([*embedded.redis_command(), "--maxmemory", "2mb"], stdin=subprocess.DEVNULL)
        try:
            embedded.wait_for_redis(process)
            with Redis(unix_socket_path=str(embedded.redis_socket())) as redis:
                redis.set("old", "x")
                with pytest.raises(OutOfMemoryError):
                    redis.set("new", "x" * 4_000_000)
                kept = redis.get("old")
        finally:
            process.terminate()
            process.wait(10)

        assert kept == b"x"
