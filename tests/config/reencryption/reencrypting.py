"""Keys, names of encrypted columns, and a call of `reencrypt_credentials`."""

import json
from io import StringIO

from cryptography.fernet import Fernet
from django.core.management import call_command

from common import credentials
from config.management.commands.reencrypt_credentials import columns

OLD, NEW = (Fernet.generate_key().decode() for _key in range(2))
PASSWORD = "a-good-password-1"  # pragma: allowlist secret
# pragma: allowlist nextline secret  # names of columns
TOKENS, SECRETS = "delivery.Token.ciphertext", "delivery.WebhookEndpoint.secret_ciphertext"
FORMER, FACTORS = "delivery.WebhookEndpoint.previous_secret_ciphertext", "mfa.Authenticator.data"
OF_SELLERS = {
    f"integration.WebhookEndpoint.{column}": 1
    for column in ("secret_ciphertext", "previous_secret_ciphertext", "authentication_ciphertext")
} | {"integration.Connection.secret_ciphertext": 1}
SHOPS = "delivery.Connection.secret_ciphertext"
SESSIONS = "sessions.Session.session_data"
LINKS, PINS = "delivery.ReceiverLink.ciphertext", "delivery.DropoffOptions.pin_ciphertext"
PHONES = "delivery.PushSubscription.ciphertext"
PEOPLE = "access.PersonRequest.ciphertext"
ALERTS, MAILS = "delivery.EndpointAlerts.url_ciphertext", "mail.Message.body_ciphertext"
UPLOADS = "common.KeptUpload.ciphertext"
UNSUBSCRIBING = "mail.Message.unsubscribe_ciphertext"


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
