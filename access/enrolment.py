"""Enrolment codes, with which privileged users set up a second factor.

Where a second factor is required, the password alone must not be enough to set it up: whoever has stolen an initial
password could register a device of their own. A superuser issues the code and sends it over another channel.
"""

import logging
import secrets
from datetime import datetime, timedelta
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop

from access.models import EnrolmentCode
from access.rights import has_privileges
from common.http_requests import client_address

LIFETIME = timedelta(hours=24)
# Without I, L, O, 0 and 1, which are easily confused.
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # pragma: allowlist secret
_GROUPS, _GROUP_LENGTH = 4, 4  # 31 ** 16, which is 79 bits

_log = logging.getLogger(__name__)


class AlreadyEnrolled(Exception):
    """The user has a second factor. A superuser has to delete it first, in the admin."""


def needs_code(user: User) -> bool:
    """Whether this user needs an enrolment code to set up a second factor."""
    return settings.REQUIRE_TWO_FACTOR and has_privileges(user)


def issue(*, user: User, by: str, at: datetime) -> str:
    """A code with which `user` can set up a second factor once within `LIFETIME`. Replaces the user's earlier code.

    Raises AlreadyEnrolled.
    """
    if has_second_factor(user):
        raise AlreadyEnrolled
    characters = [[secrets.choice(_ALPHABET) for _ in range(_GROUP_LENGTH)] for _ in range(_GROUPS)]
    code = "-".join("".join(group) for group in characters)
    EnrolmentCode.objects.update_or_create(
        user=user,
        defaults={
            "digest": _digest(code),
            "issued_by": by,
            "issued_at": at,
            "expires_at": at + LIFETIME,
            "used_at": None,
        },
    )
    _log.info("An enrolment code for %s was issued by %s", user.get_username(), by)
    return code


def is_valid(*, user: User, code: str, at: datetime) -> bool:
    """Whether `use` would take this code."""
    return _valid(user, code, at).exists()


def use(*, user: User, code: str, at: datetime) -> bool:
    """Mark a code as used. False for a wrong, used or expired one. Of concurrent calls only one returns True."""
    return _valid(user, code, at).update(used_at=at) == 1


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user).exists()


def _valid(user: User, code: str, at: datetime) -> QuerySet[EnrolmentCode]:
    return EnrolmentCode.objects.filter(user=user, digest=_digest(code), used_at=None, expires_at__gt=at)


def _digest(code: str) -> bytes:
    """Keyed, so that a copy of the database does not allow guessing codes offline. Ignores case and separators."""
    plain = "".join(character for character in code.upper() if character.isalnum())
    return salted_hmac(__name__, plain, algorithm="sha256").digest()


@receiver(authenticator_added)
def _trust_this_session(request: HttpRequest, user: User, **_more: Any) -> None:
    """Setting up a second factor proves its possession, so this session counts as authenticated with it."""
    record_authentication(request, user, "mfa")


@receiver(authenticator_added)
@receiver(authenticator_removed)
@receiver(authenticator_reset)
def _write_history(signal: Any, request: HttpRequest, user: User, authenticator: Authenticator, **_more: Any) -> None:
    """Record a change of a second factor in the log and in the user's history in the admin."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES and signal is not authenticator_reset:
        return  # created and deleted together with the app's factor
    message = {
        authenticator_added: gettext_noop("Second factor set up, from address %(address)s."),
        authenticator_removed: gettext_noop("Second factor removed, from address %(address)s."),
        authenticator_reset: gettext_noop("Recovery codes renewed, from address %(address)s."),
    }[signal]
    values = {"address": client_address(request.META, proxies=settings.TRUSTED_PROXIES)}
    _log.warning("%s: %s", user.get_username(), message % values)
    person = User.objects.filter(pk=user.pk)
    LogEntry.objects.log_actions(user.pk, person, CHANGE, gettext(message) % values, single_object=True)
