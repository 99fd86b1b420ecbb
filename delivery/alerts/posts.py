"""Posts alerts to the chats and URLs that accounts have set.

To URLs with the HTTP client of the webhooks: the same deadlines and check of the address on the connected socket, no
redirects.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

import aiohttp
from cryptography.fernet import InvalidToken
from django.conf import settings

from common import clock, credentials
from common.postgresql import batches
from common.webhooks import http_client
from common.webhooks.http_client import Request, new_event_loop
from delivery.alerts import chats
from delivery.alerts.models import AlertPost, PostState

_log = logging.getLogger(__name__)
# Until the second attempt, the third, and so on.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
LEASE = timedelta(minutes=1)  # longer than the deadline of a request
_BATCH = 20
_CLIENT_ERRORS = range(400, 500)
_REPEATED = {408, 429}


class _Outcome(NamedTuple):
    """`is_final`: another attempt would be answered alike, because the URL or the text is refused."""

    taken: bool
    answer: str
    is_final: bool = False


def post_due(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Post what is due, up to 20 at the same time."""
    while not is_stopping():
        posts = _claim(at=clock.now())
        if not posts:
            return
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            outcomes = runner.run(_send(posts))
        for post, outcome in zip(posts, outcomes, strict=True):
            _settle(post, outcome)


def _claim(*, at: datetime) -> list[AlertPost]:
    waiting = AlertPost.objects.filter(state=PostState.WAITING).select_related("alerts")
    return batches.claim(waiting, at=at, lease=LEASE, most=_BATCH)


async def _send(posts: list[AlertPost]) -> list[_Outcome]:
    async with http_client.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK) as session:
        return await asyncio.gather(*(_send_one(session, post) for post in posts))


async def _send_one(session: aiohttp.ClientSession, post: AlertPost) -> _Outcome:
    if not post.alerts.url_ciphertext:
        return _Outcome(taken=False, answer="the URL was removed")
    try:
        url = credentials.decrypt(post.alerts.url_ciphertext)
    except InvalidToken:
        return _Outcome(taken=False, answer="undecryptable")
    if chat := chats.chat_of(url):
        taken = await chat.post(post.text)
        return _Outcome(taken, f"{'taken' if taken else 'not taken'} by {chat.service}")
    body = json.dumps({"text": escaped(post.text)}, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Rota-Alerts/1"}
    result = await http_client.send(session, Request(url=url, headers=headers, body=body))
    is_final = result.status_code in _CLIENT_ERRORS and result.status_code not in _REPEATED
    return _Outcome(result.succeeded, str(result.status_code or result.error)[:200], is_final)


def escaped(text: str) -> str:
    """The text without control sequences of Slack: one in an account's name could notify a whole channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _settle(post: AlertPost, outcome: _Outcome) -> None:
    current = batches.still_claimed(post)
    if outcome.taken:
        current.update(state=PostState.SENT, answer=outcome.answer)
        return
    _log.warning("alert %s was not taken by %s: %s", post.pk, post.alerts.url_host, outcome.answer)
    again_at = None if outcome.is_final else batches.next_try(post, PAUSES, at=clock.now())
    if again_at is None:
        current.update(state=PostState.FAILED, answer=outcome.answer)
    else:
        current.update(due_at=again_at, answer=outcome.answer)
