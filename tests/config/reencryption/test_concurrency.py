"""`reencrypt_credentials` while other transactions use the rows."""

import time

import pytest
from django.db import connections
from django.utils import timezone

from common import credentials
from common.webhooks import endpoints
from config.management.commands import reencrypt_credentials
from delivery.models import Token, WebhookEndpoint
from tests.config.reencryption.reencrypting import NEW, OLD, TOKENS, run
from tests.factories import BY, TokenFactory


@pytest.mark.django_db(transaction=True)
class TestBesideARunningService:
    @pytest.fixture
    def other(self):
        """Another connection, in a transaction."""
        connection_ = connections.create_connection("default")
        connection_.set_autocommit(False)
        yield connection_
        connection_.close()

    def test_leaves_a_locked_row_and_says_so(self, keys, token, other, monkeypatch):
        monkeypatch.setattr(reencrypt_credentials, "_MOST_PASSES", 1)
        free = TokenFactory.create(integrator=token.integrator)
        locked_text, free_text = token.clear_text, free.clear_text
        keys(NEW, OLD)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM delivery_token WHERE id = %s FOR UPDATE", [token.pk])

        code, answer, _said = run()

        assert (code, answer["complete"], answer["reencrypted"][TOKENS]) == (1, False, 1)
        keys(NEW)
        assert Token.objects.get(pk=free.pk).clear_text == free_text
        keys(OLD)
        assert Token.objects.get(pk=token.pk).clear_text == locked_text

    def test_tries_a_locked_row_again(self, keys, token, other, monkeypatch):
        keys(NEW, OLD)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM delivery_token WHERE id = %s FOR UPDATE", [token.pk])
        monkeypatch.setattr(time, "sleep", lambda _seconds: other.rollback())

        code, answer, _said = run()

        assert (code, answer["reencrypted"][TOKENS]) == (0, 1)

    def test_loses_no_secret_that_is_rotated_meanwhile(self, keys, endpoint, monkeypatch):
        key_of, before = credentials.key_of, endpoint.secret
        rotated: list[str] = []

        def rotate_first(ciphertext):
            if not rotated and ciphertext == endpoint.secret_ciphertext:
                at, until = timezone.now(), endpoint.previous_secret_until
                rotated.append(endpoints.rotate_secret(endpoint=endpoint, by=BY, at=at, end_previous=until))
            return key_of(ciphertext)

        keys(NEW, OLD)
        monkeypatch.setattr(credentials, "key_of", rotate_first)

        code, answer, _said = run()

        keys(NEW)
        assert (code, answer["complete"], len(rotated)) == (0, True, 1)
        fresh = WebhookEndpoint.objects.get(pk=endpoint.pk)
        assert fresh.secrets(at=timezone.now()) == [rotated[0], before]
