"""Credentials of both APIs, tokens and keys, as rows, and authentication with limits of their calls."""

from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple, Protocol

from django.db import models
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from common import credentials
from common.api.rate_limit import STANDING, Limits, Standing, limiter
from common.errors import DomainError
from common.fields import not_personal, personal
from common.observability import log_context

# Keys of the WSGI environ, for `common.api.refused_calls`: REST framework's request of a call of a known account, and
# what the domain said when it refused the call with values.
CALL, REFUSAL = "rota.call", "rota.refusal"
USE_RESOLUTION = timedelta(minutes=1)


class Refusal(NamedTuple):
    """Of a DomainError, whose docstring tells what they are."""

    code: str
    message: str
    fields: tuple[str, ...]
    values: dict[str, object]


class Credential(models.Model):
    """Abstract model of a credential that is found by its digest (`credentials.digest`) and can be revoked.

    Subclasses add `hint`, the part of the text that is displayed, under a label of their own.
    """

    digest = not_personal(models.BinaryField(max_length=32, unique=True, editable=False))
    created_at = models.DateTimeField(_("created at"), editable=False)
    created_by = personal(models.CharField(_("created by"), max_length=200, editable=False))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)
    revoked_by = personal(models.CharField(_("revoked by"), max_length=200, blank=True, editable=False))
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True, editable=False)
    hint: "models.CharField[str, str]"

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.hint

    @property
    def account(self) -> str:
        """The account's name in logs: an id or a public reference."""
        raise NotImplementedError

    def revoke(self, *, by: str, at: datetime) -> bool:
        """Write the revocation. Returns False, and changes nothing, if the credential is revoked already."""
        valid = type(self)._default_manager.filter(pk=self.pk, revoked_at=None)
        return valid.update(revoked_at=at, revoked_by=by) == 1

    def record_use(self, *, at: datetime) -> None:
        """Write the time of last use, unless the last one written is less than a minute old."""
        if self.last_used_at is None or at - self.last_used_at >= USE_RESOLUTION:
            type(self)._default_manager.filter(pk=self.pk).update(last_used_at=at)


class OverLimit(Protocol):
    """Makes the error for a call over a limit, of the seconds of Retry-After."""

    def __call__(self, retry_after: int, /) -> DomainError: ...


class LimitedAuthentication(BaseAuthentication):
    """Base of an authentication class that limits the calls of each credential."""

    over_limit: ClassVar[OverLimit]

    def check_lately_refused(self, request: Request, clear_text: str) -> None:
        """Refuse a credential that was over its limit a moment ago, without using PostgreSQL or Redis."""
        if refusal := limiter().refused_lately(credentials.digest(clear_text)):
            self._set_credential(request, refusal.caller)
            self._set_standing(request, refusal.standing)

    def check_limits(self, request: Request, credential: Credential, limits: Limits) -> None:
        """Count a call with a valid credential, also of a suspended account. Raises `over_limit`."""
        self._set_credential(request, credential)
        if standing := limiter().count(bytes(credential.digest), limits, caller=credential):
            self._set_standing(request, standing)

    def _set_credential(self, request: Request, credential: Credential) -> None:
        """Attach the caller's credential to the request, for logs and the record of refused calls."""
        request.auth = credential
        log_context.note("account", credential.account)
        request.META[CALL] = request

    def _set_standing(self, request: Request, standing: Standing) -> None:
        """Attach what the headers of the answer say about the limits. Raises `over_limit` if the call is over one."""
        request.META[STANDING] = standing
        if standing.retry_after:
            raise self.over_limit(standing.retry_after)
