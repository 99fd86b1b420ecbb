"""Log records as JSON, and what both formats remove."""

import json
import logging
import subprocess
import sys

import pytest
from django.db import IntegrityError, connection, transaction

from common import log_context
from config.env import BASE_DIR
from config.logs import ContextFilter, JsonFormatter, LineFormatter, without_secrets
from tests.production import ENVIRONMENT

SECRET = "Ab3_-" * 9  # pragma: allowlist secret


def record_of(message, *arguments, exc_info=None):
    record = logging.LogRecord("rota", logging.WARNING, "x.py", 1, message, arguments, exc_info)
    ContextFilter().filter(record)
    return record


class TestJson:
    def test_is_one_object_on_one_line(self):
        text = JsonFormatter().format(record_of("%s asked\nfor %s", "maria", "\u2028x\x1b"))

        written = json.loads(text)
        assert text.isascii()
        assert text.isprintable()
        assert (written["level"], written["logger"]) == ("WARNING", "rota")
        assert written["message"] == "maria asked\nfor \u2028x\x1b"
        assert written["request_id"] == "-"
        assert written["time"].endswith("Z")

    def test_has_the_exception(self):
        try:
            _ = 1 / 0
        except ZeroDivisionError:
            text = JsonFormatter().format(record_of("failed", exc_info=sys.exc_info()))

        assert json.loads(text)["exception"].endswith("ZeroDivisionError: division by zero")

    def test_has_what_is_noted_of_the_request_and_nothing_of_the_next(self):
        scope = log_context.begin()
        log_context.note("account", 7)
        noted = json.loads(JsonFormatter().format(record_of("x")))
        log_context.end(scope)
        log_context.note("delivery", 8)

        after = json.loads(JsonFormatter().format(record_of("x")))

        assert noted["account"] == "7"
        assert not {"account", "delivery"} & set(after)

    def test_is_the_format_of_a_process_with_that_setting(self):
        code = "import django; django.setup(); import logging; logging.getLogger('rota').warning('%s!', 'hello')"

        result = subprocess.run(
            [sys.executable, "-c", code],
            cwd=BASE_DIR,
            env={**ENVIRONMENT, "DJANGO_SETTINGS_MODULE": "config.settings", "LOG_FORMAT": "json"},
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        )

        assert json.loads(result.stderr)["message"] == "hello!"


class TestRemoved:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            (f"token rota_live_{SECRET} used", "token rota_live_… used"),
            (f"key rota_key_{SECRET}", "key rota_key_…"),
            (f"secret whsec_{SECRET}=", "secret whsec_…"),
            (f"Authorization: Bearer {SECRET}", "Authorization: Bearer …"),
            (f"'basic {SECRET}'", "'basic …'"),
            (f"GET /t/{SECRET}/map failed", "GET /t/… failed"),
            (f"/driver/in/{SECRET}/", "/driver/in/…"),
            (f"/account/password/reset/3/{SECRET}/", "/account/password/reset/…"),
            ("/account/password/reset/done/", "/account/password/reset/done/"),
            ("user maria.silva+x@example.com.br logged in", "user …@… logged in"),
            ("hint rota_live_…ZEMs", "hint rota_live_…ZEMs"),
        ],
        ids=[
            "token",
            "key",
            "secret",
            "bearer",
            "basic",
            "receiver",
            "driver",
            "reset",
            "done",
            "mail",
            "hint",
        ],
    )
    def test_are_credentials_links_and_addresses(self, text, left):
        assert without_secrets(text) == left

    @pytest.mark.parametrize("formatter", [JsonFormatter(), LineFormatter()], ids=["json", "line"])
    def test_are_rows_that_postgresql_repeats(self, db, formatter, django_user_model):
        django_user_model.objects.create_user("joana\n\nsilva")
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO auth_user (username, password, is_superuser, first_name, last_name, email, is_staff,"
                    " is_active, date_joined) SELECT username, '', false, '', '', '', false, true, now() FROM auth_user"
                )
        except IntegrityError as error:
            texts = [
                formatter.format(record_of("failed", exc_info=sys.exc_info())),
                formatter.format(record_of("failed: %s", error)),
            ]

        assert all("duplicate key value" in text for text in texts)
        assert not [text for text in texts if "joana" in text or "silva" in text]
        assert "IntegrityError" in texts[0]

    def test_are_removed_before_a_long_text_takes_long(self):
        assert len(without_secrets("a" * 10_000_000)) <= 64 * 1024
