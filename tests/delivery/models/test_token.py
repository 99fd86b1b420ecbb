from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import Token
from tests.factories import TokenFactory

NOW = timezone.now()
A_MOMENT = timedelta(microseconds=1)


class TestIsValid:
    @pytest.mark.parametrize(
        ("expires_at", "is_valid"), [(None, True), (NOW + A_MOMENT, True), (NOW, False), (NOW - A_MOMENT, False)]
    )
    def test_until_the_moment_of_expiry(self, token, expires_at, is_valid):
        Token.objects.filter(pk=token.pk).update(expires_at=expires_at)
        token.expires_at = expires_at

        assert token.is_valid(at=NOW) is is_valid
        assert Token.objects.valid(at=NOW).filter(pk=token.pk).exists() is is_valid

    def test_not_once_it_is_revoked(self, token):
        Token.objects.filter(pk=token.pk).update(revoked_at=NOW, revoked_by="x")
        token.refresh_from_db()

        assert not token.is_valid(at=NOW)
        assert not Token.objects.valid(at=NOW).exists()


class TestOrder:
    def test_is_the_newest_first(self, token):
        older = TokenFactory.create(at=token.created_at - A_MOMENT)
        newer = TokenFactory.create(at=token.created_at + A_MOMENT)

        assert list(Token.objects.all()) == [newer, token, older]
