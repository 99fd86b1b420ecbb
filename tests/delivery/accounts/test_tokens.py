from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from common import credentials
from delivery.accounts import integrators, tokens
from delivery.errors import AccountSuspended, InvalidToken, TokenEnded, TooManyTokens
from delivery.models import AuditEntry, Environment, Token
from tests.delivery.locking import without_waiting
from tests.factories import BY, DeliveryFactory, IntegratorFactory, TokenFactory

NOW = timezone.now()


def valid(token, at=NOW):
    try:
        return tokens.authenticate(token.clear_text, at=at).pk == token.pk
    except InvalidToken:
        return False


def written(action):
    """The lines of the audit trail with this action."""
    return list(AuditEntry.objects.filter(action=action).values_list("environment", "subject", "by", "at"))


@pytest.mark.django_db
class TestIssue:
    @pytest.mark.parametrize(("environment", "prefix"), [("live", "rota_live_"), ("sandbox", "rota_test_")])
    def test_makes_256_random_bits_after_a_prefix_for_the_environment_and_is_audited(self, environment, prefix):
        account = IntegratorFactory.create()

        token = tokens.issue(integrator=account, environment=Environment(environment), by="user ana", at=NOW)

        assert token.clear_text.startswith(prefix)
        assert len(token.clear_text.removeprefix(prefix)) == 43  # 32 bytes in unpadded base64
        assert written("token_issued") == [(environment, token.hint, "user ana", NOW)]

    def test_keeps_no_clear_text(self):
        token = TokenFactory.create()

        row = " ".join(str(value) for value in Token.objects.filter(pk=token.pk).values_list()[0])
        assert token.clear_text not in row
        assert bytes(Token.objects.get(pk=token.pk).digest) == credentials.digest(token.clear_text)


@pytest.mark.django_db
class TestRotate:
    def test_leaves_the_old_one_valid_for_24_hours(self):
        old = TokenFactory.create(at=NOW)

        new = tokens.rotate(token=old, by=BY, at=NOW)

        assert valid(old, NOW + timedelta(hours=24, microseconds=-1))
        assert not valid(old, NOW + timedelta(hours=24))
        assert valid(new, NOW + timedelta(days=1000))

    def test_shortens_the_validity_of_one_that_expires_later(self):
        old = TokenFactory.create(at=NOW)
        Token.objects.filter(pk=old.pk).update(expires_at=NOW + timedelta(days=30))

        tokens.rotate(token=old, by=BY, at=NOW)

        assert Token.objects.get(pk=old.pk).expires_at == NOW + timedelta(hours=24)

    def test_never_extends_the_old_one(self):
        old = TokenFactory.create()
        tokens.rotate(token=old, by=BY, at=NOW)

        tokens.rotate(token=old, by=BY, at=NOW + timedelta(hours=9))

        assert not valid(old, NOW + timedelta(hours=24))

    def test_is_recorded_with_the_new_token_in_the_audit_trail(self):
        old = TokenFactory.create(sandbox=True)

        new = tokens.rotate(token=old, by="user ana", at=NOW)

        assert written("token_rotated") == [("sandbox", new.hint, "user ana", NOW)]
        assert [subject for _environment, subject, _by, _at in written("token_issued")] == [old.hint]

    @pytest.mark.parametrize("ended", [{"revoked_at": NOW}, {"expires_at": NOW}])
    def test_refuses_one_that_has_ended_and_names_it(self, ended):
        old = TokenFactory.create()
        Token.objects.filter(pk=old.pk).update(**ended)

        with pytest.raises(TokenEnded, match=f"The token {old.hint} is revoked or expired"):
            tokens.rotate(token=old, by=BY, at=NOW)

        assert (Token.objects.count(), AuditEntry.objects.count()) == (1, 1)


@pytest.mark.django_db
class TestIssueAgain:
    """In place of a token to hand over that was lost on the way."""

    @pytest.fixture
    def others(self):
        """Tokens that are not lost; a day old, two days, and so on."""
        account = IntegratorFactory.create()
        lost = {"integrator": account, "to_hand_over": True}
        changes: list[dict[str, Any]] = [
            lost | {"to_hand_over": False},  # a member's own
            lost | {"last_used_at": NOW},
            lost | {"revoked_at": NOW},
            lost | {"expires_at": NOW + timedelta(hours=24)},  # was issued again
            lost | {"environment": Environment.SANDBOX},
            lost | {"integrator": IntegratorFactory.create()},
        ]
        return [TokenFactory.create(at=NOW - timedelta(days=day), **each) for day, each in enumerate(changes, 1)]

    def issue_again(self, account):
        before = list(Token.objects.order_by("pk").values())
        issued = tokens.issue_again(integrator=account, environment=Environment.LIVE, by=BY, at=NOW)
        after = Token.objects.exclude(pk=issued.pk).order_by("pk").values()
        assert (issued.to_hand_over, valid(issued)) == (True, True)
        return [now["id"] for then, now in zip(before, after, strict=True) if then != now]

    def test_ends_the_newest_of_those_that_were_never_used_and_no_other(self, others):
        account = others[0].integrator
        ages = (timedelta(days=30), timedelta(days=20))
        _older, lost = (TokenFactory.create(integrator=account, to_hand_over=True, at=NOW - age) for age in ages)

        assert self.issue_again(account) == [lost.pk]
        lost.refresh_from_db()
        assert lost.expires_at == NOW + timedelta(hours=24)

    def test_ends_none_where_none_was_lost(self, others):
        assert self.issue_again(others[0].integrator) == []


@pytest.mark.django_db
class TestRevoke:
    def test_takes_effect_at_once(self):
        token = TokenFactory.create()
        assert valid(token)

        tokens.revoke(token=token, by=BY, at=NOW)

        assert not valid(token)

    def test_keeps_the_first_revocation(self):
        token = TokenFactory.create()
        tokens.revoke(token=token, by="first", at=NOW)

        tokens.revoke(token=token, by="second", at=NOW)

        assert Token.objects.get(pk=token.pk).revoked_by == "first"
        assert written("token_revoked") == [("live", token.hint, "first", NOW)]


@pytest.mark.django_db
class TestAuthenticate:
    def test_writes_the_last_use_once_a_minute(self, django_assert_num_queries):
        token = TokenFactory.create()

        with django_assert_num_queries(2):
            tokens.authenticate(token.clear_text, at=NOW)
        with django_assert_num_queries(1):
            tokens.authenticate(token.clear_text, at=NOW + timedelta(seconds=59))
        with django_assert_num_queries(2):
            tokens.authenticate(token.clear_text, at=NOW + timedelta(seconds=61))

    def test_tells_of_the_token_before_it_refuses_the_account(self):
        token = TokenFactory.create()
        found: list[Token] = []
        integrators.suspend(integrator=token.integrator, reason="unpaid", by=BY, at=NOW)

        with pytest.raises(AccountSuspended):
            tokens.authenticate(token.clear_text, at=NOW, on_found=found.append)

        assert found == [token]

    def test_does_not_log_the_token(self, caplog):
        token = TokenFactory.create()
        tokens.revoke(token=token, by=BY, at=NOW)

        assert not valid(token)
        assert token.clear_text not in caplog.text


class TestLimit:
    @pytest.fixture
    def full(self, db):
        """An account with as many valid tokens of the live environment as it may have."""
        token = TokenFactory.create(at=NOW)
        for _further in range(tokens.MOST_VALID - 1):
            TokenFactory.create(integrator=token.integrator, at=NOW)
        return token

    def test_refuses_one_more(self, full):
        with pytest.raises(TooManyTokens, match="has 20 valid tokens, the most it may have; revoke one first"):
            tokens.issue(integrator=full.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert (Token.objects.count(), AuditEntry.objects.count()) == (20, 20)

    def test_refuses_one_more_to_an_account_that_had_a_higher_limit(self, full, monkeypatch):
        monkeypatch.setattr(tokens, "MOST_VALID", 19)

        with pytest.raises(TooManyTokens):
            tokens.issue(integrator=full.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert Token.objects.count() == 20

    def test_refuses_a_rotation_and_does_not_change_the_old_token(self, full):
        with pytest.raises(TooManyTokens):
            tokens.rotate(token=full, by=BY, at=NOW)

        assert Token.objects.get(pk=full.pk).expires_at is None
        assert Token.objects.count() == 20

    @pytest.mark.parametrize("ended", [{"revoked_at": NOW}, {"expires_at": NOW}])
    def test_counts_valid_ones_of_the_account_and_environment_only(self, full, ended):
        Token.objects.filter(pk=full.pk).update(**ended)
        for whose in ({"integrator": full.integrator, "environment": Environment.SANDBOX}, {}):
            TokenFactory.create(at=NOW, **whose)

        tokens.issue(integrator=full.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert full.integrator.tokens.filter(environment=Environment.LIVE).count() == 21


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_for_tokens_issued_concurrently(at_once):
    integrator = IntegratorFactory.create()
    for _further in range(tokens.MOST_VALID - 1):
        TokenFactory.create(integrator=integrator)

    results = at_once(*[lambda: tokens.issue(integrator=integrator, environment=Environment.LIVE, by=BY, at=NOW)] * 4)

    assert sorted(type(result).__name__ for result in results) == ["Token", *["TooManyTokens"] * 3]


@pytest.mark.django_db(transaction=True)
class TestConcurrentRequest:
    """A delivery is requested with another token of the account while a transaction changes its tokens."""

    @pytest.mark.parametrize("action", ["issue", "rotate"])
    def test_does_not_wait(self, at_once, action):
        token, other = (TokenFactory.create(integrator=integrator) for integrator in [IntegratorFactory.create()] * 2)

        with transaction.atomic():
            if action == "issue":
                tokens.issue(integrator=token.integrator, environment=Environment.LIVE, by=BY, at=NOW)
            else:
                tokens.rotate(token=token, by=BY, at=NOW)
            (delivery,) = at_once(lambda: without_waiting(lambda: DeliveryFactory.create(token=other)))

        assert other.deliveries.get() == delivery
