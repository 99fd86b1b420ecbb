"""Streams of page updates in a real granian server, with a Redis that goes away."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack, closing, suppress

import pytest
from redis import Redis, RedisError

from common.pages import page_updates
from common.pages.page_updates import CHANNEL, Message
from dev.embedded.redis import _program
from tests.config.server.stream_client import EventStream, granian, limits
from tests.faults.waiting import until

APPLICATION = "tests.config.server.stream_server:application"


class OwnRedis:
    """A Redis of these tests, which they stop and start."""

    def __init__(self, folder):
        self.socket = folder / "redis.sock"
        self.url = f"unix://{self.socket}"
        self.start()

    def start(self):
        command = [_program(), "--port", "0", "--unixsocket", self.socket, "--save", "", "--loglevel", "warning"]
        self.process = subprocess.Popen(command, cwd=self.socket.parent, stdout=subprocess.DEVNULL)
        until(self.answers, what="a Redis")

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


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server and its Redis for tests that end neither. Opens a stream; publishes texts about a topic."""
    redis = OwnRedis(tmp_path_factory.mktemp("redis"))
    with granian(APPLICATION, {**os.environ, "STREAMS_REDIS": redis.url, **limits()}) as (port, _process):
        yield lambda path, **headers: EventStream(port, path, **headers), redis
    redis.stop()


@pytest.fixture
def serve(redis):
    """Starts a server with limits; returns a function that opens streams of it, and its process."""
    with ExitStack() as entered:

        def start(**changed):
            environment = {**os.environ, "STREAMS_REDIS": redis.url, **limits(**changed)}
            port, process = entered.enter_context(granian(APPLICATION, environment))
            return lambda path: entered.enter_context(closing(EventStream(port, path))), process

        yield start


class TestStream:
    def test_passes_the_ids_of_its_topics_on(self, shared):
        open_, redis = shared
        board, account = open_("/board,endpoint?1"), open_("/account?2")
        assert (board.next(), account.next()) == ("ready", "ready")
        assert (board.status, board.headers["content-type"]) == (200, "text/event-stream")
        assert "content-length" not in board.headers

        counts = [redis.publish(topic, text) for topic, text in [("board", "a"), ("account", "b"), ("other", "c")]]

        assert counts == [[1], [1], [0]]
        assert (board.next(), account.next()) == ("a", "b")
        redis.publish("endpoint", "d e")
        assert board.next() == "d e"
        assert [board.next(beats=True) for _event in range(2)] == ["beat", "beat"]  # signs of life
        board.close()
        account.close()

    def test_gathers_what_changes_within_the_pause_and_names_no_ids_when_there_are_many(self, serve, redis):
        open_, _process = serve(pause_seconds=2)
        stream = open_("/board?1")
        assert stream.next() == "ready"

        redis.publish("board", "first", "a", "c", "a", "b")
        assert [stream.next() for _event in range(2)] == ["first", "a b c"]
        redis.publish("board", *(f"id-{number}" for number in range(40)))

        assert stream.next() == "*"

    def test_gives_a_message_the_same_name_for_each_page_and_no_other_message_that_name(self, serve, redis):
        open_, _process = serve(pause_seconds=0.5)
        streams = [open_("/board?1"), open_("/board,account?2")]
        assert [stream.next() for stream in streams] == ["ready", "ready"]

        redis.publish("board", "a", "a")

        named = [[(stream.next(), stream.id) for _event in range(2)] for stream in streams]
        assert named[0] == named[1]
        (text, first), (again, second) = named[0]
        assert (text, again) == ("a", "a")
        assert first != second

    def test_pauses_the_longer_the_more_pages_are_told(self, serve, redis):
        open_, _process = serve(pause_seconds=0, pause_for_each=10, longest_pause_seconds=1)
        streams = [open_(f"/board?{user}") for user in "abc"]
        assert [stream.next() for stream in streams] == ["ready"] * 3
        began = time.monotonic()

        redis.publish("board", "a", "b")

        assert [[stream.next(), stream.next()] for stream in streams] == [["a", "b"]] * 3
        assert 1 <= time.monotonic() - began < 30  # three streams would be 30 s

    @pytest.mark.parametrize("path", ["/plain", "/refused"])
    def test_needs_the_view(self, shared, path):
        open_, _redis = shared
        stream = open_(path, **{"rota.page_stream": "board", "Rota-Page-Stream": "board", "X-Rota.page_stream": "a"})

        assert stream.headers["content-length"] == "24"
        assert stream.next() == "without a stream"
        stream.close()


class TestContent:
    """What pages show of changes, in place of ids for which each page would ask."""

    def test_is_computed_once_for_streams_with_an_equal_one(self, shared):
        open_, redis = shared
        asking, *others, third = (open_(f"/topics?{user}") for user in ("1", "2:en", "3:en", "4:pt"))
        assert [stream.next() for stream in (asking, *others, third)] == ["ready"] * 4

        redis.publish("topics", "a b")

        assert asking.next() == "a b"
        first, second, of_third = (stream.next() for stream in (*others, third))
        assert first == second
        assert first.rpartition(" ")[0] == "[a b] en"
        assert of_third.rpartition(" ")[0] == "[a b] pt"
        assert {stream.id for stream in others} == {asking.id}
        for stream in (asking, *others, third):
            stream.close()

    def test_comes_without_the_pause_of_pages_that_ask(self, serve, redis):
        """The second change is told before the pause of those that ask, of ten seconds for each, could have ended."""
        open_, _process = serve(pause_with_content=0.01, pause_for_each=10, longest_pause_seconds=600)
        stream = open_("/board?1:en")
        assert stream.next() == "ready"

        redis.publish("board", "a", "b")

        assert [stream.next().partition(" ")[0] for _event in range(2)] == ["[a]", "[b]"]

    @pytest.mark.parametrize("ids", ["*", "x", "y"], ids=["anything", "none", "failed"])
    def test_gives_way_to_the_ids_when_there_is_none(self, shared, ids):
        open_, redis = shared
        stream = open_("/without?1:en")
        assert stream.next() == "ready"

        redis.publish("without", ids)

        assert stream.next() == ids
        stream.close()


class TestSince:
    """A page that was rendered at the present version of its topics loads nothing again."""

    @pytest.fixture
    def version(self, shared, monkeypatch):
        client = Redis.from_url(shared[1].url)
        monkeypatch.setattr(page_updates, "redis", lambda: client)
        yield page_updates.version
        client.close()

    def test_is_the_same_until_something_changes(self, shared, version):
        open_, _redis = shared
        since = version("here", "there")
        again, other = version("here", "there"), version("here")
        stream = open_(f"/here,there?1+{since}")

        assert stream.next() == "same"
        page_updates.publish(Message("there", ["a"]))
        assert stream.next() == "a"
        late, unknown, none = (open_(f"/here,there?2+{text}") for text in (since, other, ""))
        assert [each.next() for each in (late, unknown, none)] == ["ready"] * 3
        assert since == again != other
        for each in (stream, late, unknown, none):
            each.close()

    def test_is_not_known_when_redis_has_lost_it(self, shared, version):
        open_, redis = shared
        since = version("lost")
        with Redis.from_url(redis.url) as client:
            client.delete(*page_updates.version_keys(["lost"]))

        stream = open_(f"/lost?1+{since}")

        assert stream.next() == "ready"
        stream.close()


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

    def test_of_the_last_one_ends_the_subscription(self, shared):
        open_, redis = shared
        first, second = open_("/board,a?1"), open_("/board,b?1")
        assert (first.next(), second.next()) == ("ready", "ready")

        first.close()

        until(lambda: redis.subscribed() == {"board", "b"}, what="the other topics")  # after those of former tests
        redis.publish("board", "still")
        assert second.next() == "still"
        again = open_("/a?1")
        assert again.next() == "ready"
        redis.publish("a", "new")
        assert again.next() == "new"
        second.close()
        again.close()


class TestLimit:
    def test_of_a_user_leaves_others_alone_and_ends_with_a_disconnection(self, serve):
        open_, _process = serve(of_user=2)
        streams = [open_("/board?ana") for _stream in range(2)]
        assert [stream.next() for stream in streams] == ["ready", "ready"]

        third, other = open_("/board?ana"), open_("/board?bia")

        assert (third.next(), other.next()) == ("without a stream", "ready")
        assert third.headers["content-length"] == "24"
        streams[0].close()
        until(lambda: open_("/board?ana").next() == "ready", what="a stream")

    def test_of_the_process_counts_all(self, serve):
        open_, _process = serve(streams=2)
        assert [open_(f"/board?{user}").next() for user in "ab"] == ["ready", "ready"]

        assert open_("/board?c").next() == "without a stream"

    def test_has_room_as_soon_as_a_page_has_gone_whatever_is_sent(self, serve):
        """Nothing is written to the stream for a minute, which would find its connection closed."""
        open_, _process = serve(of_user=1, beat_seconds=60)
        first = open_("/board?ana")
        assert first.next() == "ready"

        first.close()

        until(lambda: open_("/board?ana").next() == "ready", what="a stream")


class TestRedisAway:
    def test_ends_streams_until_it_is_back(self, serve, redis):
        open_, _process = serve()
        before = open_("/board?1")
        assert before.next() == "ready"

        redis.stop()

        assert before.rest() == []
        assert open_("/account?1").next() == "without a stream"
        redis.start()
        until(lambda: open_("/board?1").next() == "ready", what="a stream")
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
