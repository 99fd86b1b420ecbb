"""Links that show the access data of an account once, to whoever was given one.

Neither the link nor what it shows is stored: `AccessLink` has the digest of its key until the link is used or expires.
Tokens and keys are issued when the page is opened, by the person who made the link.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.urls import reverse

from access.models import AccessLink
from access.rights import Account
from common import credentials
from common.webhooks import endpoints
from delivery.accounts import tokens
from delivery.models import Environment, Integrator
from integration.accounts import keys
from integration.models import Seller

LIFETIME = timedelta(days=1)


@dataclass(frozen=True)
class Part:
    """What an integrator needs in one environment. `token` is None if it is not shown."""

    environment: Environment
    token: str | None
    url: str
    secret: str


@dataclass(frozen=True)
class KeyPart:
    """What a seller needs in one environment. `key` is None if it is not shown."""

    environment: Environment
    key: str | None


@dataclass(frozen=True)
class Opened:
    """The account of a link, and what its page shows: `parts` of an integrator, or `key_parts` of a seller."""

    account: Account
    parts: tuple[Part, ...] = ()
    key_parts: tuple[KeyPart, ...] = ()


class NotOpen(Exception):
    """The link was used, has expired or never existed."""


def issue(*, account: Account, by: str, at: datetime) -> str:
    """The path of a new link."""
    key = credentials.random_token("")
    AccessLink.objects.create(
        digest=credentials.digest(key),
        integrator=account if isinstance(account, Integrator) else None,
        seller=account if isinstance(account, Seller) else None,
        issued_by=by,
        issued_at=at,
        expires_at=at + LIFETIME,
    )
    return f"{reverse('account_access')}?key={key}"


def find(key: str, *, at: datetime) -> Account:
    """The account of a link that can still be opened. Raises NotOpen."""
    return _open_link(key, at=at).account


@transaction.atomic
def open_(key: str, *, at: datetime) -> Opened:
    """Use a link up, and issue what it shows. Raises NotOpen, AccountSuspended, TooManyTokens, TooManyKeys."""
    link = _open_link(key, at=at)
    deleted, _models = AccessLink.objects.filter(pk=link.pk).delete()
    if not deleted:  # of two at once, one deletes the row
        raise NotOpen
    account, by = link.account, link.issued_by
    if isinstance(account, Seller):
        texts = {each: keys.issue(seller=account, environment=each, by=by, at=at).clear_text for each in Environment}
        return Opened(account, key_parts=key_parts(texts))
    clear = {
        each: tokens.issue_again(integrator=account, environment=each, by=by, at=at).clear_text for each in Environment
    }
    return Opened(account, parts=parts(account, clear, by=by, at=at))


def parts(account: Integrator, clear: dict[Environment, str], *, by: str, at: datetime) -> tuple[Part, ...]:
    """The data of both environments, with these tokens. Records that the signing secrets were shown."""
    return tuple(
        Part(
            environment=(environment := Environment(endpoint.environment)),
            token=clear.get(environment),
            url=endpoint.url,
            secret=endpoints.show_secret(endpoint=endpoint, by=by, at=at),
        )
        for endpoint in account.endpoints.first_ones().order_by("-environment")
    )


def key_parts(texts: Mapping[Environment, str]) -> tuple[KeyPart, ...]:
    """The parts of both environments, with these keys; the sandbox, where everything begins, first."""
    return tuple(KeyPart(each, texts.get(each)) for each in (Environment.SANDBOX, Environment.LIVE))


def _open_link(key: str, *, at: datetime) -> AccessLink:
    found = AccessLink.objects.filter(digest=credentials.digest(key), expires_at__gt=at)
    link = found.select_related("integrator", "seller").first()
    if link is None:
        raise NotOpen
    return link
