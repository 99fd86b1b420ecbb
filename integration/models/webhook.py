import base64
import re
from dataclasses import dataclass

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.accounts import Environment
from common.fields import CiphertextField, not_personal, one_of, personal
from common.webhooks.errors import InvalidAuthentication
from common.webhooks.models import (
    Attempt,
    AttemptQuerySet,
    Endpoint,
    EndpointAction,
    EndpointQuerySet,
    Event,
    EventQuerySet,
    Health,
    QueueItem,
    ToldHealth,
    attempt_indexes,
    endpoint_constraints,
    event_constraints,
    event_indexes,
    event_triggers,
    item_constraints,
    item_indexes,
)
from common.webhooks.outbox import Authorization
from integration import words
from integration.lifecycle import Status
from integration.models.order import Order
from integration.models.seller import Seller, environment_field

_STATUSES = [(status.value, words.STATUSES[status]) for status in Status]
_PREFIX = "b_"  # of names that area A's tables have without it
_LONGEST_HEADER = 64
_LONGEST_SECRET = 1000
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")  # a token, RFC 9110
_PRINTABLE = re.compile(r"[ -~]*")
# Those that are set when a webhook is sent, and those that are about one connection.
_RESERVED = {
    "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "cookie", "date",
    "expect", "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
}  # fmt: skip  # a list of names
_RESERVED_BEGINNINGS = ("webhook-", "rota-")
# Secrets of fewer characters are shown without their beginning.
_LEAST_SHOWN = 12


class AuthenticationKind(models.TextChoices):
    """By what a seller's server recognises webhooks, beside their signature."""

    NONE = "none", _("Nothing: the signature alone")
    BASIC = "basic", _("User and password (Basic)")
    BEARER = "bearer", _("Token (Bearer)")
    HEADER = "header", _("A header of your own")


@dataclass(frozen=True)
class Authentication:
    """What webhooks carry: the secret is `user:password`, a token, or the value of the header `name`."""

    kind: AuthenticationKind = AuthenticationKind.NONE
    secret: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> "Authentication":
        """`none`, `basic:USER:PASSWORD`, `bearer:TOKEN` or `header:NAME:VALUE`. Raises InvalidAuthentication."""
        kind, _colon, rest = text.partition(":")
        if kind not in AuthenticationKind.values:
            raise InvalidAuthentication("Write none, basic:USER:PASSWORD, bearer:TOKEN or header:NAME:VALUE.")
        name, _colon, value = rest.partition(":") if kind == AuthenticationKind.HEADER else ("", "", rest)
        made = cls(AuthenticationKind(kind), value, name)
        made.check()
        return made

    def check(self) -> None:
        """Raises InvalidAuthentication, whose `fields` name what is wrong: `secret` or `name`."""
        if self.kind == AuthenticationKind.NONE:
            return
        if not self.secret or len(self.secret) > _LONGEST_SECRET or self.secret != self.secret.strip():
            raise InvalidAuthentication("From 1 to 1000 characters, without blanks around them.", "secret")
        if self.kind == AuthenticationKind.BASIC:
            user, colon, _password = self.secret.partition(":")
            if not user or not colon or not self.secret.isprintable():
                raise InvalidAuthentication("A user and a password, without control characters.", "secret")
        elif not _PRINTABLE.fullmatch(self.secret) or (self.kind == AuthenticationKind.BEARER and " " in self.secret):
            raise InvalidAuthentication("Printable ASCII characters only; a token has no blanks.", "secret")
        if self.kind == AuthenticationKind.HEADER:
            self._check_name()

    def _check_name(self) -> None:
        if len(self.name) > _LONGEST_HEADER or not _HEADER.fullmatch(self.name):
            raise InvalidAuthentication("A name of a header has letters, digits and hyphens, at most 64.", "name")
        if self.name.lower() in _RESERVED or self.name.lower().startswith(_RESERVED_BEGINNINGS):
            raise InvalidAuthentication("Webhooks have this header already, or may not have it.", "name")

    def header(self) -> Authorization:
        """The header that is sent. Its hint is the whole header with most of the secret left out."""
        if self.kind == AuthenticationKind.NONE:
            return Authorization()
        begin = f"{self.secret[:4]}…" if len(self.secret) >= _LEAST_SHOWN else "…"
        if self.kind == AuthenticationKind.HEADER:
            return Authorization({self.name: self.secret}, [self.secret], f"{self.name}: {begin}")
        if self.kind == AuthenticationKind.BEARER:
            return Authorization(
                {"Authorization": f"Bearer {self.secret}"}, [self.secret], f"Authorization: Bearer {begin}"
            )
        encoded = base64.b64encode(self.secret.encode()).decode()
        password = self.secret.partition(":")[2]
        secrets = [each for each in (encoded, password) if each]
        return Authorization({"Authorization": f"Basic {encoded}"}, secrets, "Authorization: Basic …")


class WebhookEndpointQuerySet(EndpointQuerySet["WebhookEndpoint"]):
    """Endpoints of sellers."""


class WebhookEndpoint(Endpoint):
    """Where a seller receives events. The first one is made when it is needed first."""

    OWNER = "seller"

    seller = models.ForeignKey(
        Seller,
        verbose_name=_("seller"),
        on_delete=models.CASCADE,
        related_name="endpoints",
        db_index=False,  # an index begins with this column
    )
    statuses = ArrayField(
        models.CharField(max_length=16, choices=_STATUSES),
        verbose_name=_("filter"),
        default=list,
        db_default=[],
        blank=True,
        help_text=_("Events with these statuses are sent. None: all events."),
    )
    authentication_kind = models.CharField(
        _("authentication"),
        max_length=6,
        choices=AuthenticationKind,
        default=AuthenticationKind.NONE,
        db_default=AuthenticationKind.NONE,
        editable=False,
    )
    header_name = not_personal(
        models.CharField(_("header"), max_length=_LONGEST_HEADER, blank=True, default="", db_default="", editable=False)
    )
    authentication_ciphertext = not_personal(CiphertextField(blank=True, default="", db_default="", editable=False))

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["seller", "environment", "number"]
        constraints = [
            *endpoint_constraints(owner="seller", statuses=[s.value for s in Status], prefix=_PREFIX),
            one_of("endpoint_authentication_kind", "authentication_kind", AuthenticationKind.values),
            models.CheckConstraint(
                name="endpoint_authentication_is_whole",
                condition=Q(authentication_kind="none", authentication_ciphertext="", header_name="")
                | Q(authentication_kind__in=["basic", "bearer"], header_name="") & ~Q(authentication_ciphertext="")
                | Q(authentication_kind="header") & ~Q(authentication_ciphertext="") & ~Q(header_name=""),
            ),
        ]

    def shown_authorization(self, hint: str) -> dict[str, str]:
        name, colon, value = hint.partition(": ")
        return {name: value} if colon else {}

    @property
    def authentication(self) -> Authentication:
        """Raises InvalidToken of cryptography when no key of CREDENTIALS_KEYS decrypts it."""
        kind, ciphertext = AuthenticationKind(self.authentication_kind), self.authentication_ciphertext
        return Authentication(kind, credentials.decrypt(ciphertext) if ciphertext else "", self.header_name)

    @authentication.setter
    def authentication(self, wanted: Authentication) -> None:
        self.authentication_kind, self.header_name = wanted.kind, wanted.name
        self.authentication_ciphertext = credentials.encrypt(wanted.secret) if wanted.secret else ""


class WebhookEventQuerySet(EventQuerySet["WebhookEvent"]):
    """Events of orders."""


class WebhookEvent(Event):
    """The outbox: one entry of the status log of one order for one endpoint, see Event."""

    SUBJECT = "order"

    order = models.ForeignKey(
        Order,
        verbose_name=_("order"),
        on_delete=models.CASCADE,
        related_name="events",
        null=True,
        db_index=False,  # an index begins with this column
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # the index `b_event_log` begins with this column
    )
    sequence = models.PositiveIntegerField(_("sequence"), help_text=_("1, 2, 3 … within the order."))
    name = models.CharField(_("event"), max_length=16, choices=_STATUSES)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = event_constraints(subject="order", prefix=_PREFIX)
        triggers = event_triggers(subject="order", prefix=_PREFIX)
        indexes = event_indexes(subject="order", prefix=_PREFIX)


class WebhookQueueItem(QueueItem):
    """An event to send next, see QueueItem. The subject is the order."""

    event = models.OneToOneField(
        WebhookEvent, verbose_name=_("event"), on_delete=models.CASCADE, related_name="queue_item"
    )
    order = models.ForeignKey(
        Order,
        verbose_name=_("order"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        null=True,
        db_index=False,  # the unique constraint covers the ordered items, and there are few others
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        db_index=False,  # the index `b_queue_item_due` begins with this column
    )

    class Meta:
        verbose_name = _("webhook queue item")
        verbose_name_plural = _("webhook queue items")
        constraints = item_constraints(subject="order", prefix=_PREFIX)
        indexes = item_indexes(_PREFIX)

    def __str__(self) -> str:
        return f"{self.event_id}"


class WebhookAttemptQuerySet(AttemptQuerySet["WebhookAttempt"]):
    """Attempts to send events of orders."""


class WebhookAttempt(Attempt):
    """One attempt to send an event of an order. `token_hint` is the whole header, see `Authentication.header`."""

    event = models.ForeignKey(
        WebhookEvent,
        verbose_name=_("event"),
        on_delete=models.CASCADE,
        related_name="attempts",
        db_index=False,  # the unique constraint's index begins with this column
    )
    token_hint = not_personal(models.CharField(_("authentication"), max_length=80, blank=True, db_default=""))

    objects = WebhookAttemptQuerySet.as_manager()

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "number"], name=f"{_PREFIX}one_attempt_per_number")]
        indexes = attempt_indexes(_PREFIX)


class EndpointAlerts(ToldHealth):
    """What was told about a seller's endpoint, see ToldHealth."""

    endpoint = models.OneToOneField(WebhookEndpoint, primary_key=True, on_delete=models.CASCADE, related_name="alerts")

    class Meta:
        default_permissions = ()
        constraints = [one_of("seller_alerts_reported", "reported", Health.values)]

    def __str__(self) -> str:
        return f"{self.endpoint_id}: {self.reported}"


class EndpointChange(models.Model):
    """Who did what to the endpoints of a seller, and when. Append-only."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = environment_field()
    action = models.CharField(
        max_length=20, choices=[*EndpointAction.choices, ("authentication_set", _("Authentication set"))]
    )
    subject = personal(models.CharField(max_length=2000, blank=True))
    by = personal(models.CharField(max_length=200))
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        constraints = [one_of("endpoint_change_environment", "environment", Environment.values)]
        indexes = [
            models.Index(fields=["seller", "environment", "action", "-at", "-id"], name="endpoint_change_by_action")
        ]
        triggers = [
            pgtrigger.Protect(name="endpoint_change_append_only", operation=pgtrigger.Update | pgtrigger.Delete)
        ]

    def __str__(self) -> str:
        return f"{self.get_action_display()} {self.subject}".strip()
