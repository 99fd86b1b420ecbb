"""Every column with ciphertexts is known."""

import ast

from django.db import connection
from psycopg.sql import SQL, Identifier

from config.env import BASE_DIR
from config.management.commands.reencrypt_credentials import columns
from tests.sources import PACKAGES


class TestColumns:
    def test_are_all_that_hold_ciphertexts(self, token, browser, message, driver_and_receiver, upload):
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

    def test_are_listed_for_every_module_that_encrypts(self):
        """A new place stores what it encrypts in a CiphertextField or joins `access.ciphertexts`, and is added here."""
        places = {
            str(path.relative_to(BASE_DIR))
            for package in PACKAGES
            for path in (BASE_DIR / package).rglob("*.py")
            if any(_encrypts(node) for node in ast.walk(ast.parse(path.read_text())))
        }

        assert places == {
            "common/webhooks/endpoints.py",  # WebhookEndpoint.secret_ciphertext
            "delivery/connections/actions.py",  # Connection.secret_ciphertext
            "integration/connections/actions.py",  # Connection.secret_ciphertext
            "delivery/accounts/tokens.py",  # Token.ciphertext
            "common/files/kept_uploads.py",  # KeptUpload.ciphertext
            "panel/hand_over.py",  # the session
            "integration/models/webhook.py",  # WebhookEndpoint.authentication_ciphertext
            "delivery/alerts/actions.py",  # EndpointAlerts.url_ciphertext
            "delivery/actions/deliveries.py",  # DropoffOptions.pin_ciphertext
            "delivery/drivers/devices.py",  # PushSubscription.ciphertext
            "delivery/receivers/actions.py",  # ReceiverLink.ciphertext
            "access/adapters.py",  # Authenticator.data
            "access/personal_data.py",  # PersonRequest.ciphertext
            "common/mail/outbox.py",  # Message.body_ciphertext
        }


def _encrypts(node):
    return isinstance(node, ast.Attribute) and node.attr == "encrypt" and ast.unparse(node.value) == "credentials"
