"""`reencrypt_credentials`, from a service under an old key to one that no longer has it."""

import ast
import json
import time
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from psycopg.sql import SQL, Identifier
from standardwebhooks import Webhook

from common import credentials
from config import reencryption
from config.env import BASE_DIR
from config.management.commands import reencrypt_credentials
from delivery.actions import endpoints
from delivery.models import Token, WebhookEndpoint
from tests.delivery.webhooks.conftest import send_due, sink  # noqa: F401  # fixtures
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.integration.factories import SellerFactory

OLD, NEW = (Fernet.generate_key().decode() for _key in range(2))
PASSWORD = "a-good-password-1"  # pragma: allowlist secret  # names of columns
# pragma: allowlist nextline secret  # names of columns
TOKENS, SECRETS = "delivery.Token.ciphertext", "delivery.WebhookEndpoint.secret_ciphertext"
FORMER, FACTORS = "delivery.WebhookEndpoint.previous_secret_ciphertext", "mfa.Authenticator.data"
SESSIONS = "sessions.Session.session_data"


def run(*arguments):
    """Exit code, result and progress messages."""
    out, progress = StringIO(), StringIO()
    code: str | int | None = 0
    try:
        call_command("reencrypt_credentials", *arguments, stdout=out, stderr=progress)
    except SystemExit as stop:
        code = stop.code
    return code, json.loads(out.getvalue()), progress.getvalue()


def name(key):
    return credentials.fingerprint(key)


def ciphertexts():
    """Everything that is encrypted, as it stands in the database."""
    return {str(column): [value for batch in column.batches() for _pk, value in batch] for column in columns()}


def columns():
    return reencryption.columns()


@pytest.fixture
def keys(settings):
    """Set CREDENTIALS_KEYS; under the old one to begin with."""

    def use(*chosen):
        settings.CREDENTIALS_KEYS = list(chosen)

    use(OLD)
    return use


@pytest.fixture
def token(keys, transactional_db, sink):  # noqa: F811
    token = TokenFactory.create()
    endpoint = token.integrator.endpoints.get(environment="live")
    endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
    endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())
    return token


@pytest.fixture
def endpoint(token):
    return token.integrator.endpoints.get(environment="live")


@pytest.fixture
def totp_secret():
    """Root's."""
    return totp.generate_totp_secret()


@pytest.fixture
def root(keys, transactional_db, totp_secret):
    """A superuser with a second factor."""
    user = User.objects.create_superuser("root", "", PASSWORD)
    totp.TOTP.activate(user, totp_secret)
    RecoveryCodes.activate(user)
    return user


@pytest.fixture
def seller(transactional_db):
    return SellerFactory.create()


@pytest.fixture
def browser(root, seller):
    """Root's, between the issue of a seller's key and the page that shows it."""
    client = Client()
    client.force_login(root)
    client.post(reverse("panel:seller", args=[seller.pk]))
    return client


def code_of(secret):
    return totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))


class TestReencryptCredentials:
    def test_brings_everything_under_the_first_key(self, keys, token, browser):
        keys(NEW, OLD)

        code, answer, progress = run()

        assert code == 0
        assert answer == {
            "complete": True,
            "first_key": name(NEW),
            "reencrypted": {TOKENS: 1, SECRETS: 2, FORMER: 1, FACTORS: 2, SESSIONS: 1},
            "under_key": {name(NEW): {TOKENS: 1, SECRETS: 2, FORMER: 1, FACTORS: 2, SESSIONS: 1}, name(OLD): {}},
            "unreadable": {},
        }
        assert f"{SECRETS}: 2 ciphertexts, 2 rows re-encrypted, 0 unreadable" in progress

    def test_lets_the_old_key_go(self, keys, token, endpoint, browser, totp_secret, seller, sink, send_due):  # noqa: F811
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

        assert "rota_key_" in browser.get(reverse("panel:seller", args=[seller.pk])).context["fresh"]
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

    def test_only_reports_with_check(self, keys, token, browser):
        keys(NEW, OLD)
        before = ciphertexts()

        code, answer, _said = run("--check")

        assert (code, answer["complete"], set(answer["reencrypted"].values())) == (1, False, {0})
        counts = {TOKENS: 1, SECRETS: 2, FORMER: 1, FACTORS: 2, SESSIONS: 1}
        assert answer["under_key"] == {name(NEW): {}, name(OLD): counts}
        assert ciphertexts() == before

    def test_goes_on_where_it_was_interrupted(self, keys, token):
        TokenFactory.create_batch(4, integrator=token.integrator)
        keys(NEW, OLD)
        Token.objects.filter(pk=token.pk).update(ciphertext=credentials.encrypt(token.clear_text))

        _code, answer, _said = run()

        assert answer["reencrypted"][TOKENS] == 4
        assert answer["under_key"][name(NEW)][TOKENS] == 5

    def test_works_in_batches(self, keys, token, monkeypatch):
        monkeypatch.setattr(reencryption, "_BATCH", 2)
        texts = {one.clear_text for one in [token, *TokenFactory.create_batch(4, integrator=token.integrator)]}
        keys(NEW, OLD)

        assert run()[1]["reencrypted"][TOKENS] == 5

        keys(NEW)
        assert {one.clear_text for one in Token.objects.all()} == texts


class TestUnreadable:
    def test_is_named_and_does_not_hold_up_the_others(self, keys, token):
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

    def test_session_costs_its_key_and_not_the_page(self, keys, browser, seller):
        keys(NEW)

        response = browser.get(reverse("panel:seller", args=[seller.pk]))

        assert (response.status_code, response.context["fresh"]) == (200, None)
        assert "cannot be shown any more" in response.content.decode()


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

    def test_comes_back_to_a_locked_row(self, keys, token, other, monkeypatch):
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
                at = timezone.now()
                rotated.append(endpoints.rotate_secret(endpoint=endpoint, by=BY, at=at, end_previous=True))
            return key_of(ciphertext)

        keys(NEW, OLD)
        monkeypatch.setattr(credentials, "key_of", rotate_first)

        code, answer, _said = run()

        keys(NEW)
        assert (code, answer["complete"], len(rotated)) == (0, True, 1)
        fresh = WebhookEndpoint.objects.get(pk=endpoint.pk)
        assert fresh.secrets(at=timezone.now()) == [rotated[0], before]


class TestColumns:
    def test_are_all_that_hold_ciphertexts(self, token, browser):
        """Looks through every text of the database; sessions are left out, whose content is signed and packed."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'jsonb')"
            )
            texts = cursor.fetchall()
            found = set()
            for table, column in texts:
                query = SQL("SELECT 1 FROM {} WHERE {}::text LIKE %s LIMIT 1")
                cursor.execute(query.format(Identifier(table), Identifier(column)), ["%gAAAAA%"])
                if cursor.fetchone():
                    found.add((table, column))

        known = {(column.model._meta.db_table, column.attribute) for column in columns()}
        assert found == known - {("django_session", "session_data")}

    def test_are_known_of_every_place_that_encrypts(self):
        """A new place stores what it encrypts in a CiphertextField or joins `panel.ciphertexts`, and is added here."""
        places = {
            str(path.relative_to(BASE_DIR))
            for package in ("access", "config", "delivery", "integration", "panel")
            for path in (BASE_DIR / package).rglob("*.py")
            if any(_encrypts(node) for node in ast.walk(ast.parse(path.read_text())))
        }

        assert places == {
            "delivery/actions/endpoints.py",  # WebhookEndpoint.secret_ciphertext
            "delivery/actions/tokens.py",  # Token.ciphertext
            "panel/views/sellers.py",  # the session
            "access/adapters.py",  # Authenticator.data
        }


def _encrypts(node):
    return isinstance(node, ast.Attribute) and node.attr == "encrypt" and ast.unparse(node.value) == "credentials"
