"""How much an account, a person or an address may have: what is counted until a limit is reached."""

from collections import Counter
from datetime import timedelta
from functools import partial
from itertools import count

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.contrib.postgres.functions import TransactionNow
from django.db.models import F

from access import invitations
from access.models import Invitation, InvitationState
from access.teams import TeamRefusal
from common.accounts import Environment, Role
from common.files import kept_uploads
from common.models import AttemptCount, KeptUpload
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from delivery.accounts import tokens
from delivery.errors import TooManyTokens
from delivery.models import Token
from integration.accounts import keys
from integration.errors import TooManyKeys
from integration.models import ApiKey
from tests.counted.moments import DAY, HOUR, MINUTE, NOON, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.factories import BY

LIVE, SANDBOX = Environment.LIVE, Environment.SANDBOX
ANA = "ana@example.com"
TWO = Limit("attempts", 2, timedelta(hours=1))


def is_refused(act, refusal):
    """1 if this is refused, else 0; nothing of it stays."""

    def found():
        try:
            act()
        except refusal:
            return 1
        return 0

    return lambda: rolled_back(found)


@counts("delivery/accounts/tokens.py:_issue")
def test_tokens_of_an_account(shop, account, other, in_sandbox, monkeypatch):
    """A limit of two is reached by a second one that is valid."""
    monkeypatch.setattr(tokens, "MOST_VALID", 2)
    Token.objects.filter(pk=shop.pk).update(revoked_at=NOON)
    check(
        is_refused(lambda: tokens.issue(integrator=account, environment=LIVE, by=BY, at=NOON), TooManyTokens),
        of=partial(copy, shop),
        fit={"the first": ({}, {}), "a second": {}, "that ends in a moment": {"expires_at": NOON + TICK}},
        not_={
            "revoked": {"revoked_at": NOON},
            "that has ended": {"expires_at": NOON},
            "of another account": {"integrator": other},
            "of the sandbox": in_sandbox,
        },
    )


@counts("integration/accounts/keys.py:issue")
def test_keys_of_a_seller(seller, stranger, in_sandbox, monkeypatch):
    """A limit of two is reached by a second one that is not revoked."""
    key = keys.issue(seller=seller, by=BY, at=NOON).key
    keys.revoke(key=ApiKey.objects.get(pk=key.pk), by=BY, at=NOON)
    monkeypatch.setattr(keys, "MOST_VALID", 2)
    check(
        is_refused(lambda: keys.issue(seller=seller, by=BY, at=NOON), TooManyKeys),
        of=partial(copy, key),
        fit={"the first": ({}, {}), "a second": {}},
        not_={
            "revoked": {"revoked_at": NOON, "revoked_by": BY},
            "of another seller": {"seller": stranger},
            "of the sandbox": in_sandbox,
        },
    )


@pytest.fixture
def of_upload(db):
    """Makes uploads of an owner."""

    def make(kind="a", *, owner="account 1", created_at=NOON - HOUR, expires_at=NOON + TICK, busy_until=None):
        row = {"owner": owner, "kind": kind, "ciphertext": "x", "created_at": created_at, "expires_at": expires_at}
        return KeptUpload.objects.create(**row, busy_until=busy_until)

    return make


@counts("common/files/kept_uploads.py:keep")
def test_uploads_that_are_kept(of_upload, monkeypatch):
    """The newest two of an owner, of whatever kind; the one that is kept now is the newest."""
    monkeypatch.setattr(kept_uploads, "MOST_OF_AN_OWNER", 2)

    def found():
        kept_uploads.keep("x", owner="account 1", kind="now", at=NOON)
        return Counter(KeptUpload.objects.values_list("kind", flat=True))

    check(
        lambda: rolled_back(found),
        fit={
            "one before": (of_upload, {"a": 1}),
            "a newer one": (partial(of_upload, "b", created_at=NOON - MINUTE), {"a": -1, "b": 1}),
            "of another owner": (partial(of_upload, "c", owner="account 10"), {"c": 1}),
        },
        not_={"an older one": partial(of_upload, "d", created_at=NOON - HOUR - TICK)},
    )


@counts("common/files/kept_uploads.py:_of", "common/files/kept_uploads.py:claim")
def test_uploads_that_are_found_or_claimed(of_upload):
    own, busy = of_upload("another"), NOON + kept_uploads.BUSY

    def found():
        claimed = rolled_back(lambda: kept_uploads.claim(own.pk, owner="account 1", at=NOON))
        return {"found": kept_uploads._of("account 1", "a", NOON).count(), "claimed": int(claimed)}

    check(
        found,
        of=of_upload,
        fit={
            "of the kind": ({}, {"found": 1}),
            "that is worked on": ({"busy_until": busy}, {"found": 1, "claimed": -1}),
            "for a moment more": ({"busy_until": NOON + TICK}, {"found": 1, "claimed": -1}),
            "that was worked on": ({"busy_until": NOON}, {"found": 1}),
            "by a clock that was ahead": ({"busy_until": busy + TICK}, {"found": 1}),
            "itself": (partial(KeptUpload.objects.filter(pk=own.pk).update, busy_until=busy), {"claimed": -1}),
        },
        not_={
            "of another kind": {"kind": "b"},
            "of another owner": {"owner": "account 10", "busy_until": busy},
            "that has ended": {"expires_at": NOON},
        },
    )
    assert not kept_uploads.claim(of_upload(owner="account 10").pk, owner="account 1", at=NOON)


@counts("common/pages/attempts.py:_COUNT")
def test_attempts_of_a_window(db):
    """A limit of two is reached by a second one. The moment is that of the transaction."""
    now, another = TransactionNow(), Limit("others", 2, TWO.window)

    def attempt(part="a", *, limit=TWO, ends_at=None):
        ((key, _ends_at),) = attempts.count(limit, part).counted
        if ends_at is not None:
            AttemptCount.objects.filter(key=key).update(expires_at=ends_at)

    check(
        is_refused(lambda: attempts.count(TWO, "a"), TooManyAttempts),
        of=attempt,
        fit={
            "the first": ({}, {}),
            "a second": {},
            "in a window that ends in a moment": {"ends_at": now + TICK},
            "by a clock that was a minute ahead": {"ends_at": now + TWO.window + MINUTE},
        },
        not_={
            "of another": {"part": "b"},
            "of another limit": {"limit": another},
            "in a window that is over": {"ends_at": now},
            "by a clock that was further ahead": {"ends_at": now + TWO.window + MINUTE + TICK},
        },
    )


@counts("common/pages/attempts.py:Attempt.forgive", "common/pages/attempts.py:_PRUNE")
@counts("common/pages/attempts.py:_FULL_UNTIL")
def test_attempts_that_are_taken_back_or_pruned(db):
    window = timedelta(days=1)
    attempt, further = attempts.count(TWO, "a"), Limit("others", 1, window)
    rows = AttemptCount.objects.all()
    own = rows.filter(key=attempt.counted[0][0])
    attempts.count(further, "c")

    def ends_at():
        with pytest.raises(TooManyAttempts) as refused:
            attempts.count(further, "c")
        return refused.value.ends_at

    end = ends_at()

    def total():
        return sum(rows.values_list("count", flat=True))

    def taken_back():
        before = total()
        attempt.forgive()
        return before - total()

    def found():
        return {
            "taken back": rolled_back(taken_back),
            "pruned": rolled_back(attempts.prune),
            "until another moment": int(ends_at() != end),
        }

    def ended(*, at, **values):
        AttemptCount.objects.create(**{"key": "k", "count": 1, "expires_at": at, **values})

    check(
        found,
        fit={
            "one more": (partial(attempts.count, TWO, "a"), {}),
            "in a window that has begun since": (
                partial(own.update, expires_at=F("expires_at") + TICK), {"taken back": -1},
            ),
            "taken back before": (partial(own.update, count=0), {"taken back": -1}),
            "whose window is over": (partial(ended, at=TransactionNow()), {"pruned": 1}),
        },
        not_={
            "of another": partial(attempts.count, TWO, "b"),
            "whose window ends in a moment": partial(ended, at=TransactionNow() + TICK),
        },
    )  # fmt: skip  # a table


@pytest.fixture
def of_invitation(account):
    """Makes invitations of Ana to the account."""
    numbers = count(1)

    def make(**values):
        row = {"integrator": account, "email": ANA, "role": Role.MEMBER, "digest": bytes([next(numbers)]) * 32}
        row |= {"is_mailed": False, "invited_by": BY, "sent_at": NOON - DAY, "expires_at": NOON + TICK}
        return Invitation.objects.create(**row | values)

    return make


@counts("access/invitations.py:pending", "access/invitations.py:invite")
def test_invitations_that_are_open(of_invitation, account, other):
    """One of an address to an account: it is refused to make a second one, and is renewed once it has ended."""
    by = User.objects.create_superuser("boss")

    def invite():
        try:
            invitations.invite(account=account, email=ANA, role=Role.MEMBER, by=by, language="en", at=NOON)
        except TeamRefusal as refusal:
            return {"invited already": "invited already" in str(refusal), "belongs": "belongs" in str(refusal)}
        return {}

    def found():
        return {"pending": invitations.pending(account).count(), **rolled_back(invite)}

    def belongs(to):
        to.memberships.create(user=User.objects.create_user("ana", ANA))

    ended = {"ended": InvitationState.REVOKED, "ended_at": NOON}
    check(
        found,
        of=of_invitation,
        fit={
            "of another address": ({"email": "bia@example.com"}, {"pending": 1}),
            "open": ({}, {"pending": 1, "invited already": 1}),
            "expired": ({"expires_at": NOON}, {"pending": 1}),
            "of a person who belongs to it": (partial(belongs, account), {"belongs": 1}),
        },
        not_={
            "revoked": ended,
            "used": ended | {"ended": InvitationState.USED},
            "to another account": {"integrator": other},
            "of a person who belongs to another": partial(belongs, other),
        },
    )


@counts("access/invitations.py:invite", "common/pages/attempts.py:_COUNT")
def test_invitations_of_a_day(account, other, monkeypatch):
    """A limit of two is reached by a second one, whoever makes it."""
    monkeypatch.setattr(invitations, "PER_ACCOUNT", TWO)
    boss, owner = User.objects.create_superuser("boss"), User.objects.create_user("owner")
    account.memberships.create(user=owner)

    def invite(name, *, to=account, by=boss):
        address = f"{name}@example.com"
        invitations.invite(account=to, email=address, role=Role.MEMBER, by=by, language="en", at=NOON)

    def invite_again():
        first = invitations.pending(account).get(email="a@example.com").pk
        invitations.resend(account=account, invitation=first, by=boss, language="en", at=NOON)

    check(
        is_refused(partial(invite, "ana"), TeamRefusal),
        fit={
            "the first": (partial(invite, "a"), {}),
            "a second": partial(invite, "b"),
            "by another person": partial(invite, "b", by=owner),
            "sent again": invite_again,
        },
        not_={"to another account": partial(invite, "b", to=other)},
    )


@counts("access/invitations.py:users_of", "access/invitations.py:verified_log_in")
def test_log_ins_of_an_address(db):
    names = count()

    def log_in(name="", email="", *, address="", verified=True, is_active=True):
        user = User.objects.create_user(name or f"user {next(names)}", email, is_active=is_active)
        if address:
            EmailAddress.objects.create(user=user, email=address, verified=verified)

    check(
        lambda: {
            "users": invitations.users_of("sa@example.com").count(),
            "verified": int(invitations.verified_log_in("SA@example.com") is not None),
        },
        of=log_in,
        fit={
            "whose address it is": ({"email": "SA@Example.com"}, {"users": 1}),
            "whose name it is": ({"name": "Sa@example.com"}, {"users": 1}),
            "that is not active": ({"name": "sa@example.com", "is_active": False}, {"users": 1}),
            "that has shown to read it": ({"address": "sa@example.com"}, {"users": 1, "verified": 1}),
            "that has not": ({"address": "sa@example.com", "verified": False}, {"users": 1}),
            "by all of them": (
                {"name": "sa@example.com", "email": "sa@example.com", "address": "sa@example.com"},
                {"users": 1, "verified": 1},
            ),
        },
        not_={
            "of another": {"name": "sa@example.com.br", "email": "a@example.com", "address": "saa@example.com"},
            "with a long s": {"email": "\u017fa@example.com"},
        },
    )


@counts("access/invitations.py:_join")
def test_the_first_person_of_an_account(of_invitation, account, other):
    """Becomes its owner, whatever the invitation says; what is counted are those who join as members."""
    ana, invitation = User.objects.create_user("ana", ANA), of_invitation()

    def joined():
        invitations.accept(invitation=invitation, user=ana, at=NOON)
        return int(account.memberships.get(user=ana).role == Role.MEMBER)

    def person(role=Role.OWNER, *, of=account):
        of.memberships.create(user=User.objects.create_user(f"{role} of {of.pk}"), role=role)

    check(
        lambda: rolled_back(joined),
        fit={"after another's owner": (partial(person, of=other), {}), "after an owner": person},
        not_={"after one who is not an owner": partial(person, Role.MEMBER)},
    )
