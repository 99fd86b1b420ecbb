from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.accounts import Environment
from common.api.authentication import Credential
from common.fields import CiphertextField, not_personal, one_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery.models.bases import Identified
from delivery.models.integrator import Integrator


class TokenQuerySet(models.QuerySet["Token"]):
    def valid(self, *, at: datetime) -> Self:
        """Tokens neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None)


class Token(Identified, Credential):
    """A Bearer token. Stored are its digest, for look-ups, and its ciphertext, for the header of webhooks."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="tokens",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    ciphertext = not_personal(CiphertextField(editable=False))
    hint = not_personal(
        models.CharField(_("token"), max_length=20, editable=False, help_text=_("Its beginning and end."))
    )
    name = not_personal(
        models.CharField(
            _("name"), max_length=60, blank=True, db_default="", help_text=_("For people: the system that uses it.")
        )
    )
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True, editable=False)
    # Staff issued it to hand it over, and nobody else: one that was lost on the way may be replaced.
    to_hand_over = models.BooleanField(default=False, db_default=False, editable=False)

    objects = TokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created_at"]
        constraints = [one_of("token_environment", "environment", Environment.values)]
        indexes = [models.Index(fields=["integrator", "environment", "-created_at"], name="token_newest")]

    @property
    def title(self) -> str:
        """Its name with the hint, or the hint alone."""
        return f"{self.name} ({self.hint})" if self.name else self.hint

    @property
    def clear_text(self) -> str:
        """The decrypted token, as sent by the integrator and in webhooks. Raises InvalidToken of cryptography."""
        return credentials.decrypt(self.ciphertext)

    @property
    def account(self) -> str:
        return str(self.integrator_id)

    def is_valid(self, *, at: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > at)

    @staticmethod
    def find(clear_text: str) -> "Token | None":
        """The token with this text, valid or not, with its integrator, or None."""
        return _BY_DIGEST.first(digest=credentials.digest(clear_text))


@dataclass(frozen=True)
class AccountScope:
    """An account in one of its environments, for which a person requests a delivery in the panel, without a token."""

    integrator: Integrator
    environment: str

    @property
    def integrator_id(self) -> UUID:
        return self.integrator.pk


Requester = Token | AccountScope

# What authentication and the calls need of them.
_NEEDED = [
    "digest", "environment", "hint", "revoked_at", "expires_at", "last_used_at", "integrator__suspended_at",
    "integrator__rate_limit_per_second", "integrator__rate_limit_per_hour", "integrator__allow_any_pickup",
    "integrator__refuse_repeated_external_ids", "integrator__on_failure",
]  # fmt: skip  # a list of names
_BY_DIGEST = CompiledQuery(
    lambda: Token.objects.filter(digest=Parameter("digest")).select_related("integrator").only(*_NEEDED).order_by()[:1]
)
