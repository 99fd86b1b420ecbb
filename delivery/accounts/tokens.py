"""Issuing, rotating, revoking and checking Bearer tokens. Nothing is cached, so a revocation takes effect at once."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from common import credentials
from common.webhooks import queue
from common.workers import wake_up
from delivery.errors import InvalidToken, TokenEnded, TooManyTokens
from delivery.models import AuditAction, AuditEntry, Environment, Integrator, Token, WebhookEndpoint
from delivery.webhooks import outbox

_log = logging.getLogger(__name__)
_PREFIX = {Environment.LIVE: credentials.LIVE_TOKEN, Environment.SANDBOX: credentials.SANDBOX_TOKEN}
OVERLAP = timedelta(hours=24)
# For each account and environment, including rotated tokens during their overlap.
MOST_VALID = 20


def issue(
    *,
    integrator: Integrator,
    environment: Environment,
    by: str,
    at: datetime,
    name: str = "",
    to_hand_over: bool = False,
) -> Token:
    """Create a token; `clear_text` is to be shown once. Raises AccountSuspended or TooManyTokens.

    `to_hand_over`: by staff for the account, so that `issue_again` may replace it.
    """
    action = AuditAction.TOKEN_ISSUED
    return _issue(integrator, environment, action, name=name, to_hand_over=to_hand_over, by=by, at=at)


@transaction.atomic
def rotate(*, token: Token, by: str, at: datetime, to_hand_over: bool = False) -> Token:
    """Create a token that replaces `token`, with its name. `to_hand_over` as in `issue`.

    The old one expires after OVERLAP, or earlier if it was to expire earlier. Raises TokenEnded, AccountSuspended or
    TooManyTokens.
    """
    old = Token.objects.select_for_update(of=("self",)).select_related("integrator").get(pk=token.pk)
    if not old.is_valid(at=at):
        raise TokenEnded(
            "The token %(hint)s is revoked or expired, so it cannot be rotated; issue a new one.", hint=old.hint
        )
    end = at + OVERLAP
    if old.expires_at is None or old.expires_at > end:
        old.expires_at = end
        old.save(update_fields=["expires_at"])
    environment, action = Environment(old.environment), AuditAction.TOKEN_ROTATED
    return _issue(old.integrator, environment, action, name=old.name, to_hand_over=to_hand_over, by=by, at=at)


@transaction.atomic
def issue_again(*, integrator: Integrator, environment: Environment, by: str, at: datetime) -> Token:
    """Issue a token to hand over, in place of one that was lost: it is rotated, so that it ends.

    Only one counts as lost that staff issued to hand over, and that was never used: a member's own, unused so far, may
    be in the configuration of a shop that goes live tomorrow. Raises AccountSuspended or TooManyTokens.
    """
    unused = integrator.tokens.valid(at=at).filter(environment=environment, last_used_at=None, expires_at=None)
    lost = unused.filter(to_hand_over=True).order_by("created_at").last()
    return (
        rotate(token=lost, to_hand_over=True, by=by, at=at)
        if lost
        else issue(integrator=integrator, environment=environment, to_hand_over=True, by=by, at=at)
    )


@transaction.atomic
def rename(*, token: Token, name: str, by: str, at: datetime) -> None:
    """Give the token another name. Does nothing if the token has that name."""
    if Token.objects.filter(pk=token.pk).exclude(name=name).update(name=name):
        token.name = name
        _record_in_audit_trail(token, AuditAction.TOKEN_RENAMED, by=by, at=at)


@transaction.atomic
def revoke(*, token: Token, by: str, at: datetime) -> bool:
    """End a token now. Returns False, and changes nothing, for a token that is revoked already."""
    revoked = token.revoke(by=by, at=at)
    if revoked:
        _record_in_audit_trail(token, AuditAction.TOKEN_REVOKED, by=by, at=at)
    return revoked


def authenticate(clear_text: str, *, at: datetime, on_found: Callable[[Token], None] = lambda _token: None) -> Token:
    """The valid token with this text. Raises InvalidToken or AccountSuspended.

    `on_found` is called before the account is checked, and may refuse the token. `last_used_at` is written at most once
    a minute.
    """
    token = Token.find(clear_text)
    if token is None:
        raise InvalidToken(_unknown(clear_text))
    # Nobody but its owner has the whole text of a token, so only they are told what became of it.
    if token.revoked_at is not None:
        raise InvalidToken("This token was revoked. Use another one, or issue one in the panel.")
    if not token.is_valid(at=at):
        raise InvalidToken("This token has expired. Use the one that replaced it, or issue one in the panel.")
    on_found(token)
    token.integrator.check_active()
    token.record_use(at=at)
    return token


def _unknown(clear_text: str) -> str:
    """What to do about a text that is no token, by its kind."""
    if clear_text.startswith(credentials.KEYS):
        return (
            "This is an API key, for order integration (/api/integration/). Immediate delivery takes a token, which "
            "begins with rota_live_ or rota_test_."
        )
    if clear_text.startswith(tuple(_PREFIX.values())):
        return "No token is this one. Copy it whole, without quotes, or issue another in the panel."
    return (
        "This is no token. Send 'Authorization: Bearer <token>', with the token as it was shown: it begins with "
        "rota_live_ or rota_test_, and is neither quoted nor encoded."
    )


@transaction.atomic
def _issue(
    integrator: Integrator,
    environment: Environment,
    action: AuditAction,
    *,
    name: str,
    to_hand_over: bool,
    by: str,
    at: datetime,
) -> Token:
    # Locked, so that suspending the account and issuing other tokens are serialized with this.
    Integrator.objects.select_for_update(no_key=True).get(pk=integrator.pk).check_active()
    if integrator.tokens.filter(environment=environment).valid(at=at).count() >= MOST_VALID:
        raise TooManyTokens(
            "The account has %(most)s valid tokens, the most it may have; revoke one first.", most=MOST_VALID
        )
    prefix = _PREFIX[environment]
    clear_text = credentials.random_token(prefix)
    token = Token.objects.create(
        integrator=integrator,
        environment=environment,
        digest=credentials.digest(clear_text),
        ciphertext=credentials.encrypt(clear_text),
        hint=credentials.hint(prefix, clear_text),
        name=name,
        to_hand_over=to_hand_over,
        created_at=at,
        created_by=by,
    )
    _record_in_audit_trail(token, action, by=by, at=at)
    _release_webhooks(token, at=at)
    return token


def _release_webhooks(token: Token, *, at: datetime) -> None:
    """Make the webhooks due that waited for a valid token."""
    # In the order in which all others lock the items of several endpoints.
    for endpoint in WebhookEndpoint.objects.of(token.integrator_id, token.environment).order_by("pk"):
        if queue.bring_forward(outbox.OUTBOX, endpoint_id=endpoint.pk, at=at):
            wake_up.send_on_commit(outbox.OUTBOX.task)


def _record_in_audit_trail(token: Token, action: AuditAction, *, by: str, at: datetime) -> None:
    AuditEntry.objects.create(
        integrator_id=token.integrator_id,
        environment=token.environment,
        action=action,
        subject=token.title,
        by=by,
        at=at,
    )
    _log.info("token %s: %s by %s", token.pk, action, by)
