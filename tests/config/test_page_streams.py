"""Streams of page updates in a real granian server, with a Redis that goes away."""

import os
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from redis import Redis, RedisError

from common.page_updates import CHANNEL
from config.local.embedded.redis import _program
from tests.config.stream_client import EventStream, granian, limits

APPLICATION = "tests.config.stream_server:application"


class OwnRedis:
    """A Redis of these tests, which they stop and start."""

    def __init__(self, folder):
        self.socket = folder / "redis.sock"
        self.url = f"unix://{self.socket}"
        self.process = self._run()

    def start(self):
        self.process = self._run()

    def _run(self):
        command = [_program(), "--port", "0", "--unixsocket", self.socket, "--save", "", "--loglevel", "warning"]
        process = subprocess.Popen(command, cwd=self.socket.parent, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < end
            time.sleep(0.05)
        return process

    def answers(self):
        with suppress(RedisError), Redis.from_url(self.url) as client:
            return client.ping()

    def stop(self):
        self.process.terminate()
        self.process.wait(40)

    def publish(self, topic, *texts):
        """Returns the number of subscribers of each."""
        with Redis.from_url(self.url) as client:
            return [client.publish(CHANNEL + topic, text) for text in texts]

    def subscribed(self):
        """The topics with subscribers."""
        with Redis.from_url(self.url, decode_responses=True) as client:
            return {name.removeprefix(CHANNEL) for name in client.pubsub_channels()} - {""}


@pytest.fixture
def redis(tmp_path):
    own = OwnRedis(tmp_path)
    yield own
    own.stop()


@pytest.fixture
def until():
    """Waits until something is true, at most 40 seconds."""

    def wait(is_true):
        end = time.monotonic() + 40
        while not is_true():
            assert time.monotonic() < end
            time.sleep(0.1)

    return wait


@pytest.fixture
def serve(redis):
    """Starts a server with limits; returns a function that opens streams of it."""
    entered, opened = [], []

    def start(**changed):
        context = granian(APPLICATION, {**os.environ, "STREAMS_REDIS": redis.url, **limits(**changed)})
        port, process = context.__enter__()
        entered.append(context)

        def open_(path, **headers):
            opened.append(EventStream(port, path, **headers))
            return opened[-1]

        return open_, process

    yield start
    for stream in opened:
        stream.close()
    for context in entered:
        context.__exit__(None, None, None)


class TestStream:
    def test_passes_the_ids_of_its_topics_on(self, serve, redis):
        open_, _process = serve()
        board, account = open_("/board,endpoint?1"), open_("/account?2")
        assert (board.next(), account.next()) == ("ready", "ready")

        counts = [redis.publish(topic, text) for topic, text in [("board", "a"), ("account", "b"), ("other", "c")]]

        assert counts == [[1], [1], [0]]
        assert (board.next(), account.next()) == ("a", "b")
        redis.publish("endpoint", "d e")
        assert board.next() == "d e"

    def test_is_announced_as_one_and_has_no_length(self, serve):
        open_, _process = serve()
        stream = open_("/board?1")

        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream"
        assert "content-length" not in stream.headers

    def test_gathers_what_changes_within_the_pause(self, serve, redis):
        open_, _process = serve(pause_seconds=2)
        stream = open_("/board?1")
        assert stream.next() == "ready"

        redis.publish("board", "a", "c", "a", "b")

        assert stream.next() == "a b c"

    def test_names_no_ids_when_there_are_many(self, serve, redis):
        open_, _process = serve(pause_seconds=2)
        stream = open_("/board?1")
        assert stream.next() == "ready"

        redis.publish("board", *(f"id-{number}" for number in range(40)))

        assert stream.next() == "*"

    def test_gives_signs_of_life(self, serve):
        open_, _process = serve(beat_seconds=0.1)
        stream = open_("/board?1")

        assert [stream.next(beats=True) for _event in range(3)] == ["ready", "beat", "beat"]

    @pytest.mark.parametrize("path", ["/plain", "/refused"])
    def test_needs_the_view(self, serve, path):
        open_, _process = serve()
        stream = open_(path, **{"rota.page_stream": "board", "Rota-Page-Stream": "board", "X-Rota.page_stream": "a"})

        assert stream.headers["content-length"] == "24"
        assert stream.next() == "without a stream"


class TestEnd:
    def test_comes_after_some_time(self, serve, redis):
        open_, _process = serve(seconds=0.5)
        stream = open_("/board?1")

        assert stream.rest() == ["ready"]
        assert redis.subscribed() == {"board"}

    def test_comes_after_some_bytes(self, serve, redis):
        open_, _process = serve(total_bytes=100)
        stream = open_("/board?1")
        assert stream.next() == "ready"

        redis.publish("board", "a" * 200)

        assert stream.rest() == ["a" * 200]

    def test_of_all_streams_comes_with_sigterm(self, serve, redis):
        open_, process = serve()
        streams = [open_("/board?1"), open_("/account?2")]
        assert [stream.next() for stream in streams] == ["ready", "ready"]

        process.send_signal(signal.SIGTERM)

        assert [stream.rest() for stream in streams] == [[], []]
        assert process.wait(40) == 0

    def test_of_the_last_one_ends_the_subscription(self, serve, redis, until):
        open_, _process = serve()
        first, second = open_("/board,a?1"), open_("/board,b?1")
        assert (first.next(), second.next()) == ("ready", "ready")

        first.close()

        until(lambda: redis.subscribed() == {"board", "b"})
        redis.publish("board", "still")
        assert second.next() == "still"
        again = open_("/a?1")
        assert again.next() == "ready"
        redis.publish("a", "new")
        assert again.next() == "new"


class TestLimit:
    def test_of_a_user_leaves_others_alone(self, serve):
        open_, _process = serve(of_user=2)
        assert [open_("/board?ana").next() for _stream in range(2)] == ["ready", "ready"]

        third, other = open_("/board?ana"), open_("/board?bia")

        assert (third.next(), other.next()) == ("without a stream", "ready")
        assert third.headers["content-length"] == "24"

    def test_of_the_process_counts_all(self, serve):
        open_, _process = serve(streams=2)
        assert [open_(f"/board?{user}").next() for user in "ab"] == ["ready", "ready"]

        assert open_("/board?c").next() == "without a stream"

    def test_is_free_again_after_a_disconnection(self, serve, until):
        open_, _process = serve(of_user=1)
        first = open_("/board?ana")
        assert first.next() == "ready"

        first.close()

        until(lambda: open_("/board?ana").next() == "ready")


class TestRedisAway:
    def test_ends_streams_until_it_is_back(self, serve, redis, until):
        open_, _process = serve()
        before = open_("/board?1")
        assert before.next() == "ready"

        redis.stop()

        assert before.rest() == []
        assert open_("/account?1").next() == "without a stream"
        redis.start()
        until(lambda: open_("/board?1").next() == "ready")
        again = open_("/board?1")
        assert again.next() == "ready"
        redis.publish("board", "a")
        assert again.next() == "a"

    def test_ends_streams_when_it_is_silent(self, serve, redis):
        """As behind a network that loses packets: the connection stays open."""
        open_, _process = serve()
        stream = open_("/board?1")
        assert stream.next() == "ready"

        redis.process.send_signal(signal.SIGSTOP)
        try:
            events = stream.rest()
        finally:
            redis.process.send_signal(signal.SIGCONT)

        assert events == []
