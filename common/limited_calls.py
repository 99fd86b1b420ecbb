"""What accounts and authentication of both APIs have in common for their limits of calls."""

from typing import ClassVar, Protocol

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from common import credentials, log_context
from common.credential_model import Credential
from common.errors import DomainError
from common.rate_limit import STANDING, Limits, Standing, limiter

# Key of the WSGI environ: REST framework's request of a call whose account is known, for `config.refused_calls`.
CALL = "rota.call"
_MOST_CALLS = 1_000_000_000


class LimitedAccount(models.Model):
    """Abstract model of an account whose credentials have limits of their own, or the installation's."""

    rate_limit_per_second = models.PositiveIntegerField(
        _("calls per second"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(_MOST_CALLS)],
        help_text=_("Of each token or key. Empty: this installation's RATE_LIMIT_PER_SECOND. 0: no limit."),
    )
    rate_limit_per_hour = models.PositiveIntegerField(
        _("calls per hour"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(_MOST_CALLS)],
        help_text=_("Of each token or key. Empty: this installation's RATE_LIMIT_PER_HOUR. 0: no limit."),
    )

    class Meta:
        abstract = True

    @property
    def rate_limits(self) -> Limits:
        """The account's own limits, or else the installation's."""
        second, hour = self.rate_limit_per_second, self.rate_limit_per_hour
        return Limits(
            settings.RATE_LIMIT_PER_SECOND if second is None else second,
            settings.RATE_LIMIT_PER_HOUR if hour is None else hour,
        )


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
