"""Receiving what shops' platforms post: body, signature and order, and a record of what has become of it."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from typing import Any

from django.db import transaction
from django.http import HttpRequest

from common.api import json_body
from common.errors import DomainError
from common.postgresql import prepared
from common.postgresql.compiled_queries import insert_together
from common.shops import platforms, samples
from common.shops.drafts import Drafts, Outcome, Reason, Result, decimal
from common.shops.models import LONGEST_SECRET, ShopConnection, ShopReception
from common.shops.order import Address, ShopOrder, UnknownForm
from common.shops.platforms import Platform

MOST_CONNECTIONS = 10  # of an account
MOST_BYTES = 1024 * 1024
MOST_RECEPTIONS = 100  # of a connection, which are kept
_SECRET_BYTES = 32
_LONGEST_ABOUT = 300
_TRIED_AT = Address(
    postal_code="01310100",
    street="Avenida Paulista",
    number="1000",
    complement="",
    district="Bela Vista",
    city="São Paulo",
    state="SP",
    country="BR",
)
_PRUNE = """
DELETE FROM {table} WHERE connection_id = %s AND id <= (
    SELECT id FROM {table} WHERE connection_id = %s ORDER BY id DESC OFFSET %s LIMIT 1
)
"""


def new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def clean_secret(secret: str) -> str:
    """The secret without blanks around it, which come with what is copied; empty if it is none."""
    secret = secret.strip()
    return secret if len(secret) <= LONGEST_SECRET and secret.isprintable() else ""


def read_body(request: HttpRequest) -> bytes | None:
    """The body as it was sent, which the signature is of; None, and no more is read, if it has more than MOST_BYTES."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and (len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES):
        return None
    body = request.read(MOST_BYTES + 1)
    return body if len(body) <= MOST_BYTES else None


def header_of(connection: ShopConnection) -> str:
    """The header that has the signature."""
    return platforms.SIGNATURE_HEADERS[Platform(connection.platform)]


def is_signed(connection: ShopConnection, *, body: bytes, signature: str) -> bool:
    """Whether the platform has signed exactly this body."""
    return platforms.is_signed(secret=connection.secret, body=body, signature=signature)


@dataclass(frozen=True)
class Receptions:
    """The receptions of an area.

    `unknown_form`: raised for what is no order, with `platform` and `missing`. `no_object`: what is missing of a body
    that is not JSON.
    """

    model: type[ShopReception]
    drafts: Drafts[Any, Any]
    unknown_form: type[DomainError]
    no_object: str

    def receive(self, *, connection: Any, body: bytes, topic: str = "", at: datetime, place: Any = None) -> Outcome:
        """Take the order in a body whose signature is right, and record what has become of it.

        `topic`: the value of `platforms.TOPIC_HEADER`. `place`: of a trial, where its test order goes to. Raises
        `unknown_form`, which is recorded too.
        """
        is_trial = place is not None
        try:
            platforms.check_topic(Platform(connection.platform), topic)
            order = _read(Platform(connection.platform), body)
        except UnknownForm as error:
            missing = ", ".join(error.missing)[:_LONGEST_ABOUT]
            refused = Outcome(Result.REFUSED, Reason.UNKNOWN_FORM)
            self._record(connection, refused, at=at, about=missing, is_trial=is_trial)
            platform = connection.get_platform_display()
            raise self.unknown_form(platform=platform, missing=missing or self.no_object) from error
        if is_trial:
            latitude, longitude = place
            address = replace(order.address, latitude=latitude, longitude=longitude)
            order = replace(order, is_test=True, address=address, shipping_methods=(connection.shipping_method,))
        with transaction.atomic():
            outcome = self.drafts.take(connection=connection, order=order, at=at)
            self._record(connection, outcome, at=at, number=order.number or order.id, is_trial=is_trial)
        return outcome

    def try_out(
        self, *, connection: Any, at: datetime, place: tuple[float | None, float | None] = (None, None)
    ) -> Outcome:
        """Receive a signed order of an invented customer, as the platform posts it.

        It is a test order with every shipping method. `place`: where it goes to.
        """
        platform, number = Platform(connection.platform), int(at.timestamp())
        posting = samples.posting(platform, secret=connection.secret, to=_TRIED_AT, number=number, at=at)
        return self.receive(connection=connection, body=posting.body, at=at, place=place)

    def _record(
        self, connection: Any, outcome: Outcome, *, at: datetime, number: str = "", about: str = "", is_trial: bool
    ) -> None:
        of_area: dict[str, Any] = {"connection": connection, "draft": outcome.draft}
        insert_together(
            self.model(
                at=at,
                number=number,
                result=outcome.result,
                reason=outcome.reason,
                about=about,
                is_trial=is_trial,
                **of_area,
            )
        )
        prune = _PRUNE.format(table=self.model._meta.db_table)
        prepared.execute(prune, [connection.pk, connection.pk, MOST_RECEPTIONS])


def _read(platform: Platform, body: bytes) -> ShopOrder:
    """Raises UnknownForm, with no path if the body is not a JSON object."""
    try:
        found = json_body.read_object(
            BytesIO(body), most_bytes=MOST_BYTES, most_levels=platforms.MOST_LEVELS, parse_float=decimal
        )
    except (json_body.InvalidJSON, json_body.NotAnObject, json_body.BodyTooDeep) as error:
        raise UnknownForm(()) from error
    return platforms.read(platform, found)
