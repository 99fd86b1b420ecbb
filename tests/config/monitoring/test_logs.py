"""Log records as lines and as JSON: one line, whatever their arguments contain, and what both formats remove."""

import json
import logging
import sys

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction

from common.observability import log_context
from config.monitoring.logs import BEFORE_SECRETS, JsonFormatter, LineFormatter, formatter, without_secrets
from tests.cases import in_turn

SECRET = "Ab3_-" * 9  # pragma: allowlist secret

FORGED = "2026-01-01 00:00:00,000 INFO rota.access [-] forged"
BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
CONTROLS = ["\x00", "\x08", "\x1b[2K", "\x1b]0;x\x07", "\x7f", "\x9b2K", "\u202e", "\u2066", "\u200b", "\ud800"]


def record_of(message, *arguments, exc_info=None):
    return logging.LogRecord("rota", logging.WARNING, "x.py", 1, message, arguments, exc_info)


class TestLine:
    @in_turn("sent", BREAKS + CONTROLS)
    def test_escapes_what_does_not_print(self, sent):
        line = LineFormatter().format(record_of("%s asked for %s", "maria", f"/x{sent}{FORGED}"))

        assert line.isprintable()
        assert len(line.splitlines()) == 1
        assert line.encode()
        assert f"/x{sent.encode('unicode_escape').decode()}{FORGED}" in line

    def test_leaves_text_of_any_language_alone(self):
        line = LineFormatter().format(record_of("%s", "ação 東京 🚚 \\n"))

        assert line.endswith("ação 東京 🚚 \\n")

    def test_begins_with_its_time_in_utc(self):
        record = record_of("x")
        record.created, record.msecs = 1_795_275_000.25, 250

        assert LineFormatter().format(record).startswith("2026-11-21T15:30:00.250Z WARNING rota ")

    @in_turn("sent", BREAKS)
    def test_of_a_traceback_begins_no_record(self, sent):
        error = ValueError(f"x{sent}{FORGED}")

        text = LineFormatter().format(record_of("failed", exc_info=(ValueError, error, None)))

        first, *more = text.splitlines()
        assert first.endswith("failed")
        assert more
        assert all(line.startswith("    ") and line.isprintable() for line in more)


def test_every_handler_has_it():
    assert settings.LOGGING["formatters"] == {"environment": {"()": "config.monitoring.logs.formatter"}}
    assert {handler["formatter"] for handler in settings.LOGGING["handlers"].values()} == {"environment"}
    assert {tuple(logger.get("handlers", ())) for logger in settings.LOGGING["loggers"].values()} <= {(), ("stderr",)}


@pytest.mark.parametrize(("value", "kind"), [("", LineFormatter), ("line", LineFormatter), ("json", JsonFormatter)])
def test_the_environment_names_the_format(monkeypatch, value, kind):
    monkeypatch.setenv("LOG_FORMAT", value)

    assert type(formatter()) is kind


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


class TestRemoved:
    @in_turn(
        ("text", "left"),
        [
            (f"token rota_live_{SECRET} used", "token rota_live_… used"),
            (f"key rota_key_{SECRET}", "key rota_key_…"),
            (f"secret whsec_{SECRET}=", "secret whsec_…"),
            (f"Authorization: Bearer {SECRET}", "Authorization: Bearer …"),
            (f"'basic {SECRET}'", "'basic …'"),
            *((f"GET {prefix}{SECRET}", f"GET {prefix}…") for prefix in BEFORE_SECRETS),
            (f"GET /t/{SECRET}/map failed", "GET /t/… failed"),
            (f"/driver/in/{SECRET}/", "/driver/in/…"),
            (f"/account/password/reset/3/{SECRET}/", "/account/password/reset/…"),
            (f"GET /api/photos/0a1b:1xXHuQ:{SECRET} 500", "GET /api/photos/… 500"),
            ("/account/password/reset/", "/account/password/reset/"),
            ("user maria.silva+x@example.com.br logged in", "user …@… logged in"),
            ("hint rota_live_…ZEMs", "hint rota_live_…ZEMs"),
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
