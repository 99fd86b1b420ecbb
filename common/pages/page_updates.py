"""Tells open pages which objects have changed: messages by topic, through Redis' publish and subscribe.

A message holds ids and no other data; the pages load what they may see. A message that is lost does little harm: pages
load everything again from time to time, and after each interruption that they notice. `config.server.page_streams`
passes the messages on to browsers.
"""

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from redis import RedisError

from common.connections import BackOff, redis

_log = logging.getLogger(__name__)
CHANNEL = "rota:page-updates:"  # followed by the topic
# Key of the WSGI environ: the StreamRequest of a view that was allowed. It is no header, so no client can set it.
STREAM = "rota.page_stream"
# In place of ids: anything may have changed.
ANYTHING = "*"
# In place of ids: the streams with this topic end. The browser opens them again if it may.
END = "!"
_MOST_IDS = 32
# Where there is no stream: pages load what they show every ten seconds, and ask for a stream again.
_WITHOUT_STREAM = "retry: 10000\nevent: away\ndata: -\n\n"
_back_off = BackOff(2)


class StreamRequest(NamedTuple):
    """What `config.server.page_streams` sends instead of the view's answer. `user` is whose limit of streams counts."""

    topics: tuple[str, ...]
    user: str


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


def stream(request: HttpRequest, *topics: str, user: str) -> HttpResponse:
    """The answer of a view that allows a stream of the topics."""
    request.META[STREAM] = StreamRequest(topics, user)
    # nginx gathers an answer before it passes it on, unless this header forbids it.
    return HttpResponse(_WITHOUT_STREAM, content_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def add_to(pipeline: Any, messages: Iterable[Message]) -> None:
    for message in messages:
        pipeline.publish(CHANNEL + message.topic, message.text)


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
