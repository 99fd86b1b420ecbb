"""Life of a Bearer token. Nothing is cached, so a revoked token is dead at once."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from delivery import credentials
from delivery.errors import InvalidToken
from delivery.models import Environment, Integrator, Token

_log = logging.getLogger(__name__)
_PREFIX = {Environment.LIVE: "rota_live_", Environment.SANDBOX: "rota_test_"}
_HINT_TAIL = 4
OVERLAP = timedelta(hours=24)


def issue(*, integrator: Integrator, environment: Environment, by: str, at: datetime) -> Token:
    """A new token. `clear_text` shows it, once, to whoever asked for it."""
    prefix = _PREFIX[environment]
    clear_text = credentials.random_token(prefix)
    token = Token.objects.create(
        integrator=integrator,
        environment=environment,
        digest=credentials.digest(clear_text),
        ciphertext=credentials.encrypt(clear_text),
        hint=f"{prefix}…{clear_text[-_HINT_TAIL:]}",
        created_at=at,
        created_by=by,
    )
    _log.info("token %s issued by %s", token.pk, by)
    return token


@transaction.atomic
def rotate(*, token: Token, by: str, at: datetime, overlap: timedelta = OVERLAP) -> Token:
    """A new token beside `token`, which stays valid for `overlap` and not longer than it was to be."""
    old = Token.objects.select_for_update(of=("self",)).select_related("integrator").get(pk=token.pk)
    end = at + overlap
    if old.expires_at is None or old.expires_at > end:
        old.expires_at = end
        old.save(update_fields=["expires_at"])
    _log.info("token %s rotated by %s", old.pk, by)
    return issue(integrator=old.integrator, environment=Environment(old.environment), by=by, at=at)


def revoke(*, token: Token, by: str, at: datetime) -> None:
    """End a token now. Once revoked, it keeps the moment and the name of the first time."""
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=at, revoked_by=by)
    _log.info("token %s revoked by %s", token.pk, by)


def authenticate(clear_text: str, *, at: datetime) -> Token:
    """The valid token with this text, its use noted at most once a minute. Raises InvalidToken."""
    token = Token.objects.find(clear_text, at=at)
    if token is None:
        raise InvalidToken("Send 'Authorization: Bearer <token>' with a token that is neither revoked nor expired.")
    if not token.used_lately(at=at):
        Token.objects.filter(pk=token.pk).update(last_used_at=at)
    return token
