"""Tells open pages which objects have changed: messages by topic, through Redis' publish and subscribe.

A message holds ids and no other data; the pages load what they may see, or a stream has `content` for them. A message
that is lost does little harm: pages load everything again from time to time, and after each interruption that they
notice. `config.server.page_streams` passes the messages on to browsers.

Each message gives its topic another version. A page that was rendered at the version that its stream begins with has
missed nothing, and loads nothing again.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from redis import RedisError

from common.connections import BackOff, redis

_log = logging.getLogger(__name__)
CHANNEL = "rota:page-updates:"  # followed by the topic
_VERSION = "rota:page-version:"  # followed by the topic
_VERSION_SECONDS = 3600  # a page that is older when its stream begins loads everything
# Key of the WSGI environ: the StreamRequest of a view that was allowed. It is no header, so no client can set it.
STREAM = "rota.page_stream"
# In place of ids: anything may have changed.
ANYTHING = "*"
# In place of ids: the streams with this topic end. The browser opens them again if it may.
END = "!"
_MOST_IDS = 32
_LENGTH = 24  # characters of a version
# Where there is no stream: pages load what they show every ten seconds, and ask for a stream again.
_WITHOUT_STREAM = "retry: 10000\nevent: away\ndata: -\n\n"
_back_off = BackOff(2)
# Computes what pages show of changed objects, from their ids and the name of the message; see `StreamRequest`.
Content = Callable[[Sequence[str], str], str | None]


class StreamRequest(NamedTuple):
    """What `config.server.page_streams` sends instead of the view's answer. `user` is whose limit of streams counts.

    `since`: the version of the topics at which the page was rendered, or an empty text. `content`: what its pages would
    ask for otherwise, as JSON, or None if they have to. It is called in a thread of requests, once for all streams that
    have an equal one.
    """

    topics: tuple[str, ...]
    user: str
    since: str = ""
    content: Content | None = None


class Message(NamedTuple):
    """Ids of what has changed, each without spaces, for the pages that are subscribed to the topic."""

    topic: str
    ids: Sequence[str]

    @property
    def text(self) -> str:
        return " ".join(self.ids) if len(self.ids) <= _MOST_IDS else ANYTHING


def grouped(ids: Iterable[tuple[str, str]]) -> list[Message]:
    """One message for each topic. `ids`: topics and what has changed there."""
    by_topic: dict[str, list[str]] = {}
    for topic, changed in ids:
        by_topic.setdefault(topic, []).append(changed)
    return [Message(topic, changed) for topic, changed in by_topic.items()]


def stream(request: HttpRequest, *topics: str, user: str, content: Content | None = None) -> HttpResponse:
    """The answer of a view that allows a stream of the topics. The page's version is in the parameter `since`."""
    request.META[STREAM] = StreamRequest(topics, user, request.GET.get("since", ""), content)
    # nginx gathers an answer before it passes it on, unless this header forbids it.
    return HttpResponse(_WITHOUT_STREAM, content_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def add_to(pipeline: Any, messages: Iterable[Message]) -> None:
    for message in messages:
        # First the version: who has subscribed too late for the message finds it.
        pipeline.set(_VERSION + message.topic, token_hex(8), ex=_VERSION_SECONDS)
        pipeline.publish(CHANNEL + message.topic, message.text)


def version(*topics: str) -> str:
    """The present version of the topics; empty while Redis is away. To be read before what a page shows is read."""
    if _back_off.is_on:
        return ""
    try:
        with redis().pipeline(transaction=False) as pipeline:
            for key in version_keys(topics):
                pipeline.set(key, token_hex(8), ex=_VERSION_SECONDS, nx=True)
            pipeline.mget(version_keys(topics))
            *_set, found = pipeline.execute()
    except RedisError as error:
        _back_off.begin()
        _log.warning("The version of a page is not known: %s", error)
        return ""
    return joined_version([text and text.decode() for text in found])


def version_keys(topics: Iterable[str]) -> list[str]:
    return [_VERSION + topic for topic in topics]


def joined_version(versions: Sequence[str | None]) -> str:
    """One version of several topics; empty if one of them is not known."""
    return "" if None in versions else sha256(" ".join(map(str, versions)).encode()).hexdigest()[:_LENGTH]


def publish_on_commit(*messages: Message) -> None:
    if messages:
        transaction.on_commit(partial(publish, *messages), robust=True)


def publish(*messages: Message) -> None:
    """Send the messages in one round trip. Raises nothing when Redis is away."""
    if _back_off.is_on:
        return
    try:
        with redis().pipeline(transaction=False) as pipeline:
            add_to(pipeline, messages)
            pipeline.execute()
    except RedisError as error:
        _back_off.begin()
        _log.warning("Open pages were not told of a change: %s", error)


def subscribed(topics: Sequence[str]) -> set[str]:
    """Those of the topics to which an open page is subscribed; none while Redis is away."""
    try:
        # A list of bytes and numbers, whatever the client's types say.
        counts: Any = redis().pubsub_numsub(*(CHANNEL + topic for topic in topics)) if topics else []
    except RedisError as error:
        _log.warning("Which pages are open is not known: %s", error)
        return set()
    return {channel.decode().removeprefix(CHANNEL) for channel, count in counts if count}
