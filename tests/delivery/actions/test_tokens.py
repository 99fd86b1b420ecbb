from datetime import timedelta

import pytest
from django.utils import timezone

from common import credentials
from delivery.actions import tokens
from delivery.errors import InvalidToken, TooManyTokens
from delivery.models import AuditEntry, Environment, Token
from tests.factories import BY, IntegratorFactory, TokenFactory

NOW = timezone.now()


def valid(token, at=NOW):
    try:
        return tokens.authenticate(token.clear_text, at=at).pk == token.pk
    except InvalidToken:
        return False


@pytest.mark.django_db
class TestIssue:
    @pytest.mark.parametrize(("environment", "prefix"), [("live", "rota_live_"), ("sandbox", "rota_test_")])
    def test_makes_256_random_bits_after_a_prefix_for_the_environment(self, environment, prefix):
        token = tokens.issue(integrator=IntegratorFactory.create(), environment=Environment(environment), by=BY, at=NOW)

        assert token.clear_text.startswith(prefix)
        assert len(token.clear_text.removeprefix(prefix)) == 43  # 32 bytes in unpadded base64

    def test_keeps_no_clear_text(self):
        token = TokenFactory.create()

        row = " ".join(str(value) for value in Token.objects.filter(pk=token.pk).values_list()[0])
        assert token.clear_text not in row
        assert bytes(Token.objects.get(pk=token.pk).digest) == credentials.digest(token.clear_text)


@pytest.mark.django_db
class TestRotate:
    def test_leaves_the_old_one_valid_for_the_overlap(self):
        old = TokenFactory.create(at=NOW)

        new = tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=1))

        assert valid(old, NOW + timedelta(minutes=59))
        assert not valid(old, NOW + timedelta(minutes=61))
        assert valid(new, NOW + timedelta(days=1000))

    def test_shortens_the_validity_of_one_that_expires_later_than_the_overlap(self):
        old = TokenFactory.create(at=NOW)
        Token.objects.filter(pk=old.pk).update(expires_at=NOW + timedelta(days=30))

        tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=1))

        assert Token.objects.get(pk=old.pk).expires_at == NOW + timedelta(hours=1)

    def test_never_extends_the_old_one(self):
        old = TokenFactory.create()
        tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=1))

        tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=9))

        assert not valid(old, NOW + timedelta(hours=2))


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
        with pytest.raises(TooManyTokens, match="revoke one first"):
            tokens.issue(integrator=full.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert (Token.objects.count(), AuditEntry.objects.count()) == (20, 20)

    def test_refuses_a_rotation_and_does_not_change_the_old_token(self, full):
        with pytest.raises(TooManyTokens):
            tokens.rotate(token=full, by=BY, at=NOW)

        assert Token.objects.get(pk=full.pk).expires_at is None
        assert Token.objects.count() == 20

    @pytest.mark.parametrize("ended", [{"revoked_at": NOW}, {"expires_at": NOW}])
    def test_counts_valid_ones_only(self, full, ended):
        Token.objects.filter(pk=full.pk).update(**ended)

        tokens.issue(integrator=full.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert Token.objects.count() == 21

    def test_counts_each_environment_and_account_separately(self, full):
        TokenFactory.create(integrator=full.integrator, sandbox=True)
        TokenFactory.create()

        assert Token.objects.count() == 22


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_for_tokens_issued_concurrently(at_once):
    integrator = IntegratorFactory.create()
    for _further in range(tokens.MOST_VALID - 1):
        TokenFactory.create(integrator=integrator)

    results = at_once(*[lambda: tokens.issue(integrator=integrator, environment=Environment.LIVE, by=BY, at=NOW)] * 4)

    assert sorted(type(result).__name__ for result in results) == ["Token", *["TooManyTokens"] * 3]
