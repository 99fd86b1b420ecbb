"""A record is one line, whatever its arguments contain."""

import logging
import logging.config

import pytest
from django.conf import settings

FORGED = "2026-01-01 00:00:00,000 INFO rota.access [-] forged"
BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
CONTROLS = ["\x00", "\x08", "\x1b[2K", "\x1b]0;x\x07", "\x7f", "\x9b2K", "\u202e", "\u2066", "\u200b", "\ud800"]


@pytest.fixture
def formatter():
    """As `settings.LOGGING` configures it."""
    config = dict(settings.LOGGING["formatters"]["line"])
    return logging.config.DictConfigurator({"version": 1}).configure_formatter(config)


def record_of(message, *arguments, exc_info=None):
    record = logging.LogRecord("rota", logging.WARNING, "x.py", 1, message, arguments, exc_info)
    record.request_id = "-"
    return record


class TestLine:
    @pytest.mark.parametrize("sent", BREAKS + CONTROLS)
    def test_escapes_what_does_not_print(self, formatter, sent):
        line = formatter.format(record_of("%s asked for %s", "maria", f"/x{sent}{FORGED}"))

        assert line.isprintable()
        assert len(line.splitlines()) == 1
        assert line.encode()
        assert f"/x{sent.encode('unicode_escape').decode()}{FORGED}" in line

    def test_leaves_text_of_any_language_alone(self, formatter):
        line = formatter.format(record_of("%s", "ação 東京 🚚 \\n"))

        assert line.endswith("ação 東京 🚚 \\n")

    def test_begins_with_its_time_in_utc(self, formatter):
        record = record_of("x")
        record.created, record.msecs = 1_795_275_000.25, 250

        assert formatter.format(record).startswith("2026-11-21T15:30:00.250Z WARNING rota ")

    @pytest.mark.parametrize("sent", BREAKS)
    def test_of_a_traceback_begins_no_record(self, formatter, sent):
        error = ValueError(f"x{sent}{FORGED}")

        text = formatter.format(record_of("failed", exc_info=(ValueError, error, None)))

        first, *more = text.splitlines()
        assert first.endswith("failed")
        assert more
        assert all(line.startswith("    ") and line.isprintable() for line in more)


def test_every_handler_has_it():
    assert {handler["formatter"] for handler in settings.LOGGING["handlers"].values()} == {"line"}
    assert {tuple(logger.get("handlers", ())) for logger in settings.LOGGING["loggers"].values()} <= {(), ("stderr",)}


@pytest.mark.parametrize("sent", ["%0a", "%0d%0a", "%E2%80%A8", "%1b[2K"])
def test_a_path_begins_no_record(admin_client, admin_user, formatter, caplog, sent):
    admin_user.is_superuser = False
    admin_user.save()
    delivery = "00000000-0000-0000-0000-000000000000"

    with caplog.at_level(logging.INFO):
        admin_client.get(f"/panel/board/{delivery}/x{sent}{FORGED.replace(' ', '%20')}/")

    lines = [formatter.format(record) for record in caplog.records if "forged" in record.getMessage()]
    assert len(lines) == 2  # the refusal and the access
    assert all(line.isprintable() for line in lines)
