from datetime import timedelta

import pytest
from django.utils import timezone

from delivery import credentials
from delivery.actions import tokens
from delivery.errors import InvalidToken
from delivery.models import Environment, Token
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
    def test_makes_256_random_bits_behind_a_telling_prefix(self, environment, prefix):
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

    def test_never_prolongs_the_old_one(self):
        old = TokenFactory.create()
        tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=1))

        tokens.rotate(token=old, by=BY, at=NOW, overlap=timedelta(hours=9))

        assert not valid(old, NOW + timedelta(hours=2))


@pytest.mark.django_db
class TestRevoke:
    def test_works_at_once(self):
        token = TokenFactory.create()
        assert valid(token)

        tokens.revoke(token=token, by=BY, at=NOW)

        assert not valid(token)

    def test_keeps_who_was_first(self):
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

    def test_says_nothing_of_the_token_in_the_log(self, caplog):
        token = TokenFactory.create()
        tokens.revoke(token=token, by=BY, at=NOW)

        assert not valid(token)
        assert token.clear_text not in caplog.text
