"""`reencrypt_credentials`, from a service under an old key to one that no longer has it."""

import json

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from cryptography.fernet import Fernet
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from common import credentials
from config.management.commands import reencrypt_credentials
from delivery.models import Token
from tests.config.reencryption.reencrypting import (
    ALERTS,
    FACTORS,
    FORMER,
    LINKS,
    MAILS,
    NEW,
    OF_SELLERS,
    OLD,
    PASSWORD,
    PEOPLE,
    PHONES,
    PINS,
    SECRETS,
    SESSIONS,
    SHOPS,
    TOKENS,
    UNSUBSCRIBING,
    UPLOADS,
    ciphertexts,
    name,
    run,
)
from tests.factories import DeliveryFactory, TokenFactory
from tests.one_time_codes import code_of


class TestReencryptCredentials:
    def test_encrypts_everything_with_the_first_key(self, keys, token, browser, message, driver_and_receiver, upload):
        keys(NEW, OLD)
        counts = {TOKENS: 1, SECRETS: 2, FORMER: 1, ALERTS: 1, FACTORS: 2, SESSIONS: 1, MAILS: 1}
        counts |= {UNSUBSCRIBING: 1, SHOPS: 1}
        counts |= {LINKS: 1, PINS: 1, PHONES: 1, PEOPLE: 1, UPLOADS: 1, **OF_SELLERS}

        code, answer, progress = run()

        assert code == 0
        assert answer == {
            "complete": True,
            "first_key": name(NEW),
            "reencrypted": counts,
            "under_key": {name(NEW): counts, name(OLD): {}},
            "unreadable": {},
        }
        assert f"{SECRETS}: 2 ciphertexts, 2 rows re-encrypted, 0 unreadable" in progress

    @pytest.mark.django_db(transaction=True)  # webhooks are sent by connections of their own
    def test_makes_the_old_key_unnecessary(self, keys, token, endpoint, browser, totp_secret, seller, sink, send_due):
        text, (secret, former) = token.clear_text, endpoint.secrets(at=timezone.now())
        code = RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes()[0]
        keys(NEW, OLD)
        run()
        keys(NEW)

        DeliveryFactory.create(token=token)
        send_due()
        ((headers, body),) = sink.received
        assert headers["authorization"] == f"Bearer {text}"
        for signing in (secret, former):
            Webhook(signing).verify(body, headers)

        assert "rota_key_" in browser.get(reverse("panel:seller", args=[seller.pk, "live"])).context["fresh"]
        page = reverse("panel:webhook", args=[token.integrator.pk, "live"])
        browser.post(reverse("panel:webhook_secret", args=[token.integrator.pk, "live"]))
        assert browser.get(page).context["fresh_secret"] == secret

        for given in (code_of(totp_secret), code):
            person = Client()
            person.post(reverse("account_login"), {"login": "root", "password": PASSWORD})
            person.post(reverse("mfa_authenticate"), {"code": given})
            assert person.get("/panel/").status_code == 200

    def test_changes_nothing_when_everything_is_done(self, keys, token, browser):
        keys(NEW, OLD)
        run()
        before = ciphertexts()

        code, answer, _said = run()

        assert (code, answer["complete"], set(answer["reencrypted"].values())) == (0, True, {0})
        assert ciphertexts() == before

    def test_only_reports_with_check(self, keys, token, browser, message):
        keys(NEW, OLD)
        before = ciphertexts()

        code, answer, _said = run("--check")

        assert (code, answer["complete"], set(answer["reencrypted"].values())) == (1, False, {0})
        counts = {TOKENS: 1, SECRETS: 2, FORMER: 1, ALERTS: 1, FACTORS: 2, SESSIONS: 1, MAILS: 1}
        counts |= {UNSUBSCRIBING: 1, SHOPS: 1}
        assert answer["under_key"] == {name(NEW): {}, name(OLD): counts | OF_SELLERS}
        assert ciphertexts() == before

    def test_continues_after_an_interruption(self, keys, token):
        TokenFactory.create_batch(4, integrator=token.integrator)
        keys(NEW, OLD)
        Token.objects.filter(pk=token.pk).update(ciphertext=credentials.encrypt(token.clear_text))

        _code, answer, _said = run()

        assert answer["reencrypted"][TOKENS] == 4
        assert answer["under_key"][name(NEW)][TOKENS] == 5

    def test_works_in_batches(self, keys, token, monkeypatch):
        monkeypatch.setattr(reencrypt_credentials, "_BATCH", 2)
        texts = {one.clear_text for one in [token, *TokenFactory.create_batch(4, integrator=token.integrator)]}
        keys(NEW, OLD)

        assert run()[1]["reencrypted"][TOKENS] == 5

        keys(NEW)
        assert {one.clear_text for one in Token.objects.all()} == texts


class TestUnreadable:
    def test_is_named_and_the_others_are_reencrypted(self, keys, token):
        keys(Fernet.generate_key().decode())
        lost = TokenFactory.create(integrator=token.integrator)
        keys(NEW, OLD)

        code, answer, _said = run()

        assert (code, answer["complete"]) == (1, False)
        assert answer["unreadable"][TOKENS] == [str(lost.pk)]
        assert (answer["reencrypted"][TOKENS], answer["under_key"][name(NEW)][TOKENS]) == (1, 1)

    def test_session_is_not_named_by_its_key(self, keys, browser):
        keys(NEW)

        code, answer, progress = run()

        session = Session.objects.get()
        assert (code, answer["unreadable"][SESSIONS]) == (1, [name(session.session_key)])
        assert session.session_key not in json.dumps(answer) + progress

    def test_session_loses_its_key_and_the_page_is_shown(self, keys, browser, seller):
        keys(NEW)

        response = browser.get(reverse("panel:seller", args=[seller.pk, "live"]))

        assert (response.status_code, response.context["fresh"]) == (200, None)
        assert "cannot be shown any more" in response.content.decode()
