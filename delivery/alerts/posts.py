"""Posts alerts to the URLs that accounts have set.

With the HTTP client of the webhooks: the same deadlines and check of the address on the connected socket, no redirects.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import aiohttp
from cryptography.fernet import InvalidToken
from django.conf import settings

from common import clock, credentials
from common.postgresql import batches
from common.webhooks import http_client
from common.webhooks.http_client import Request, Result, new_event_loop
from delivery.alerts.models import AlertPost, PostState

_log = logging.getLogger(__name__)
# Until the second attempt, the third, and so on.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
LEASE = timedelta(minutes=1)  # longer than the deadline of a request
_BATCH = 20
_CLIENT_ERRORS = range(400, 500)
_REPEATED = {408, 429}


def post_due(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Post what is due, up to 20 at the same time."""
    while not is_stopping():
        posts = _claim(at=clock.now())
        if not posts:
            return
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            results = runner.run(_send(posts))
        for post, result in zip(posts, results, strict=True):
            _settle(post, result)


def _claim(*, at: datetime) -> list[AlertPost]:
    waiting = AlertPost.objects.filter(state=PostState.WAITING).select_related("alerts")
    return batches.claim(waiting, at=at, lease=LEASE, most=_BATCH)


async def _send(posts: list[AlertPost]) -> list[Result]:
    async with http_client.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK) as session:
        return await asyncio.gather(*(_send_one(session, post) for post in posts))


async def _send_one(session: aiohttp.ClientSession, post: AlertPost) -> Result:
    if not post.alerts.url_ciphertext:
        return Result(error="the URL was removed", was_sent=False)
    try:
        url = credentials.decrypt(post.alerts.url_ciphertext)
    except InvalidToken:
        return Result(error="undecryptable", was_sent=False)
    body = json.dumps({"text": escaped(post.text)}, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Rota-Alerts/1"}
    return await http_client.send(session, Request(url=url, headers=headers, body=body))


def escaped(text: str) -> str:
    """The text without control sequences of Slack: one in an account's name could notify a whole channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _settle(post: AlertPost, result: Result) -> None:
    current = batches.still_claimed(post)
    answer = str(result.status_code or result.error)[:200]
    if result.succeeded:
        current.update(state=PostState.SENT, answer=answer)
        return
    _log.warning("alert %s was not taken by %s: %s", post.pk, post.alerts.url_host, answer)
    # Another attempt would be answered alike: the URL or the text is refused.
    is_refused = result.status_code in _CLIENT_ERRORS and result.status_code not in _REPEATED
    again_at = None if is_refused else batches.next_try(post, PAUSES, at=clock.now())
    if again_at is None:
        current.update(state=PostState.FAILED, answer=answer)
    else:
        current.update(due_at=again_at, answer=answer)
