"""The variables of the environment: a sentence for each invalid value, and what is written from their models."""

import os
import re
from unittest import mock

import pytest

from config import environment
from config.env import StartRefused
from config.environment import VARIABLES
from config.management.commands import environment as command
from delivery.drivers import web_push
from tests.cases import in_turn
from tests.production import ENVIRONMENT

FERNET = ENVIRONMENT["CREDENTIALS_KEYS"]

_ASSIGNMENT = re.compile(r"^(#?)([A-Z_0-9]+)=(.*)$", re.MULTILINE)


def problems(variables):
    """The sentences about an environment that has these variables alone."""
    with mock.patch.dict(os.environ, variables, clear=True):
        return environment.problems()


def misspelt(variables):
    with mock.patch.dict(os.environ, variables, clear=True):
        return environment.misspelt()


def assigned(mark):
    return {name: value for hash_, name, value in _ASSIGNMENT.findall(command.example()) if hash_ == mark}


# Variable, value, and what the sentence says; in production and embedded mode alike.
WRONG = [
    ("SECURITY_CONTACT", "security@example.com", "should match pattern"),
    ("SECURITY_CONTACT", "https://example.com/a,mailto:a@example.com\nContact: b", "should match pattern"),
    ("CREDENTIALS_KEYS", "x", "is no Fernet key"),
    ("CREDENTIALS_KEYS", f"{FERNET},short", "(value 2): this is no Fernet key"),
    ("ALLOWED_HOSTS", "https://rota.example.com", "should match pattern"),
    ("ALLOWED_HOSTS", "rota.example.com:8000", "should match pattern"),
    ("ALLOWED_HOSTS", "a" * 300, "at most 255 characters"),
    ("ALLOW_PUBLIC_EMBEDDED", "always", "valid boolean"),
    ("PORT", "0", "greater than or equal to 1"),
    ("WEB_WORKERS", "2.5", "valid integer"),
    ("DATABASE_STATEMENT_SECONDS", "-1", "greater than or equal to 0"),
    ("TRUSTED_PROXIES", "11", "less than or equal to 10"),
    ("TIME_ZONE", "Mars/Olympus", "no time zone"),
    ("TIME_ZONE", "../../etc/passwd", "no time zone"),
    ("TIME_ZONE", "America", "no time zone"),
    ("METRICS_TOKEN", "short", "at least 32 characters"),
    ("METRICS_TOKEN", "with spaces " * 4, "without spaces"),
    ("LOG_FORMAT", "xml", "should be 'line' or 'json'"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "'http' or 'https'"),
    ("SENTRY_DSN", "key@sentry.example.com/1", "valid URL"),
    ("LOG_LEVEL", "LOUD", "should be 'DEBUG', 'INFO'"),
    ("ROUTING_ENGINE", "graphhopper", "should be 'osrm' or 'valhalla'"),
    ("GEOCODER_URL", "http://nominatim:8080", "scheme should be 'https'"),
    ("ROUTING_URL", "file:///etc/passwd", "'http' or 'https'"),
    ("ROUTING_URL", "http://", "empty host"),
    ("ROUTING_URL", "http://osrm:5000/?key=1", "behind the path"),
    ("GEOCODER_URL", "https://nominatim.example/#search", "behind the path"),
    ("MAP_TILE_URL", "javascript:alert(1)/{z}/{x}/{y}", "'http' or 'https'"),
    ("MAP_TILE_URL", "https://tile.example.com/{z}/{x}", "{z}, {x} or {y} is missing"),
    ("MAP_TILE_URL", "https://tile.example.com/; script-src */{z}/{x}/{y}", "semicolon"),
    ("SERVICE_AREA", "-34,-74,6", "no boxes of degrees"),
    ("FORGET_DELIVERY_DAYS", "-1", "or equal to 0"),
    ("PORT", "65536", "or equal to 65535"),
    ("OFFER_LEAD", "9.9", "or equal to 10"),
    ("OFFER_LEAD", "61", "or equal to 60"),
    ("OFFER_TTL", "0", "or equal to 0.01"),
    ("OFFER_TTL", "1e400", "finite number"),
    ("OFFER_TTL", "nan", "finite number"),
    ("SERVICE_ALIASES", "brand", "should match pattern"),
    ("SERVICE_ALIASES", "brand=fast", "no such service, but base, next, turbo"),
    ("SERVICE_ALIASES", "=base", "should match pattern"),
    ("SERVICE_ALIASES", "a b=base", "should match pattern"),
    ("SERVICE_ALIASES", f"{'x' * 41}=base", "should match pattern"),
    ("SERVICE_ALIASES", "brand=base,next=turbo", "another meaning to the service next"),
    ("SERVICE_ALIASES", "brand=base,brand=next", "an alias is there twice"),
    ("INVOICE_PATHS", "marketplace", "there already"),
    ("INVOICE_PATHS", "brand,a/b", "(value 2)"),
    ("INVOICE_PATHS", "Brand", "should match pattern"),
    ("INVOICE_PATHS", "x" * 41, "should match pattern"),
    ("RATE_LIMIT_PER_SECOND", "-1", "or equal to 0"),
    ("RATE_LIMIT_PER_HOUR", "1000000001", "or equal to 1000000000"),
    ("SITE_URL", "rota.example.com", "valid URL"),
    ("SITE_URL", "https://rota.example.com/panel", "no origin"),
    ("EMAIL_URL", "mail.example.com:25", "'smtp', 'smtp+starttls' or 'smtps'"),
    ("EMAIL_URL", "smtps://", "empty host"),
    ("EMAIL_URL", "smtps://mail.example.com:x", "invalid port number"),
    ("EMAIL_URL", "smtps://mail.example.com/inbox", "behind the port"),
    ("EMAIL_URL", "smtp://rota:hunter2@mail.example.com", "without encryption"),  # pragma: allowlist secret
    ("VAPID_PRIVATE_KEY", "x", "no key of Web Push"),
    ("DATABASE_REPLICA_URL", "mysql://replica/rota", "no URL of PostgreSQL"),
    ("DATABASE_REPLICA_URL", "postgres://replica", "the database is missing"),
    ("DEFAULT_FROM_EMAIL", "Rota", "no sender"),
    ("DEFAULT_FROM_EMAIL", "Rota <rota@example.com>\nBcc: x@example.com", "control character"),
]

WRONG_IN_PRODUCTION = [
    ("DATABASE_URL", "postgresql://x", "the database is missing"),
    ("DATABASE_URL", "postgresql:///rota", "the host is missing"),
    ("DATABASE_URL", "postgresql://rota@db:port/rota", "the port is no number"),
    ("DATABASE_URL", "sqlite:///rota.db", "no URL of PostgreSQL"),
    ("DATABASE_URL", "mysql://db/rota", "no URL of PostgreSQL"),
    ("DATABASE_URL", "", "belong together"),
    ("DATABASE_URL", " ", "no URL of PostgreSQL"),
    ("DATABASE_REPLICA_URL", ENVIRONMENT["DATABASE_URL"], "is the same as DATABASE_URL"),
    ("GEOCODER_URL", "http://127.0.0.1:8080", "scheme should be 'https'"),
    ("REDIS_URL", "", "belong together"),
    ("REDIS_URL", "amqp://broker", "'redis', 'rediss' or 'unix'"),
    ("REDIS_URL", "127.0.0.1:6379", "valid URL"),
    ("REDIS_URL", "redis://127.0.0.1/x", "number of a database"),
    ("REDIS_URL", "unix://", "empty host"),
    ("REDIS_URL", "redis+sentinel://h1,h2/0", "name of the master is missing"),
    ("REDIS_URL", "redis+sentinel://h1,/0?master=rota", "host of a Sentinel is missing"),
    ("REDIS_URL", "redis+sentinel://h1:x/0?master=rota", "port of a Sentinel"),
    ("REDIS_URL", "redis+sentinel://h1/x?master=rota", "number of a database"),
    ("REDIS_URL", "redis+sentinel://h1/0?master=rota&slave=1", "only master and sentinel_password"),
    ("DATABASE_URL", "postgresql://h1:5432,h2:port/rota", "the port is no number"),
    ("SECRET_KEY", "", "is not set"),
    ("SECRET_KEY", "a", "too weak"),
    ("SECRET_KEY", ENVIRONMENT["SECRET_KEY"][:49], "too weak"),
    ("SECRET_KEY", "django-insecure-" + "abcdefgh" * 8, "startproject"),
    ("DATABASE_URL", "postgres://rota@db/rota?bogus=1", "option that libpq does not know"),
    ("SECRET_KEY", "a" * 60, "too weak"),
    ("CREDENTIALS_KEYS", "", "is not set"),
    ("CREDENTIALS_KEYS", " ", "is not set"),
    ("SECRET_KEY", f"{ENVIRONMENT['SECRET_KEY']},a", "(value 2): this is too weak"),
    ("WEBHOOK_ALLOW_LOOPBACK", "1", "embedded mode only"),
    ("ALLOWED_HOSTS", "", "is not set"),
    ("ALLOWED_HOSTS", "*", "name those of this service"),
    ("ALLOWED_HOSTS", "rota.example.com,*", "name those of this service"),
]

RIGHT = [
    {},
    {
        "EMAIL_URL": "smtp+starttls://rota%40example.com:hunter2@mail.example.com:587",  # pragma: allowlist secret
        "DEFAULT_FROM_EMAIL": "Rota <rota@example.com>",
        "SITE_URL": "https://rota.example.com",
    },
    {"EMAIL_URL": "smtp://10.0.0.5", "DEFAULT_FROM_EMAIL": "rota@example.com"},
    {"ALLOWED_HOSTS": "rota.example.com, .example.org,[::1],127.0.0.1"},
    {"CREDENTIALS_KEYS": f"{FERNET}, {FERNET}"},
    {"SECRET_KEY": ENVIRONMENT["SECRET_KEY"][:50]},
    {
        "DATABASE_URL": "postgresql://u:p%40ss@db:5432/rota?sslmode=require",  # pragma: allowlist secret
        "REDIS_URL": "rediss://:secret@redis:6380/3",
    },
    {"DATABASE_URL": "postgres://rota@%2Fvar%2Frun%2Fpostgresql/rota", "REDIS_URL": "unix:///run/redis.sock"},
    {"DATABASE_URL": "postgres:///rota?host=/var/run/postgresql"},
    {
        "DATABASE_URL": "postgres://rota@h1:5432,h2:5433,h3/rota?target_session_attrs=read-write",
        "REDIS_URL": "redis+sentinel://:secret@h1:26379,h2,[::1]:26380/0?master=rota",
    },
    {"MAP_TILE_URL": "https://{s}.tile.example.com/{z}/{x}/{y}.png", "ROUTING_URL": "http://osrm:5000"},
    {"ROUTING_URL": "http://valhalla:8002", "ROUTING_ENGINE": "valhalla", "GEOCODER_URL": "https://photon:2322"},
    {"MAP_TILE_URL": "", "PORT": "", "TIME_ZONE": "", "DATABASE_PREPARE": ""},
    {"SECRET_KEY": f"{ENVIRONMENT['SECRET_KEY']}, {ENVIRONMENT['SECRET_KEY'][:50]}"},
    {"DATABASE_PREPARE": "0", "SECURE_SSL_REDIRECT": "false", "TIME_ZONE": "America/Manaus", "LOG_LEVEL": "DEBUG"},
    {"SERVICE_ALIASES": f"brand=base, Brand_2=next,{'x' * 40}=base", "INVOICE_PATHS": f"brand, b-2_x,{'x' * 40}"},
    {"EMAIL_URL": "smtp://rota:x@127.0.0.1", "DEFAULT_FROM_EMAIL": "rota@example.com"},  # of this machine
    {"METRICS_TOKEN": "m" * 32, "SECURITY_CONTACT": "mailto:a@example.com,tel:+55-11-3333-0000,https://example.com/a"},
    {"OFFER_LEAD": "60", "TRUSTED_PROXIES": "10", "RATE_LIMIT_PER_HOUR": "0", "FORGET_DELIVERY_DAYS": "0"},
    {"DATABASE_STATEMENT_SECONDS": "0", "WEBHOOK_ALLOW_LOOPBACK": "0", "PORT": "65535", "OFFER_TTL": "0.01"},
    {"OFFER_TTL": "0.5", "TRUSTED_PROXIES": "0", "VAPID_PRIVATE_KEY": web_push.new_key()},
]


class TestMisspelt:
    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("OFFER_TLL", "OFFER_TTL"),
            ("WORKER", "WORKERS"),
            ("ALOWED_HOSTS", "ALLOWED_HOSTS"),
            ("LOG_FORMT", "LOG_FORMAT"),
        ],
    )
    def test_names_the_nearest_variable(self, name, meant):
        assert misspelt({name: "1"}) == [f"{name} is not a variable of Rota and has no effect: the nearest is {meant}"]

    @pytest.mark.parametrize(
        "name", ["PATH", "HOSTNAME", "HOME", "LANG", "PGHOST", "PYTHONPATH", "WEB_PORT", "LOGNAME"]
    )
    def test_leaves_variables_of_others_alone(self, name):
        assert misspelt({name: "1"}) == []

    def test_says_nothing_where_the_nearest_is_set_too(self):
        assert misspelt({"OFFER_TLL": "1", "OFFER_TTL": "60"}) == []


class TestProblems:
    @in_turn("changes", RIGHT)
    def test_are_none_in_a_right_environment(self, changes):
        assert problems({**ENVIRONMENT, **changes}) == []

    @in_turn("base", [{}, ENVIRONMENT])
    @in_turn(("name", "value", "text"), WRONG)
    def test_name_a_wrong_value(self, base, name, value, text):
        (problem,) = problems({**base, name: value})

        assert problem.split()[0].rstrip(":") == name
        assert text in problem
        assert "\n" not in problem
        assert "hunter2" not in problem

    @in_turn(("name", "value", "text"), WRONG_IN_PRODUCTION)
    def test_name_what_production_cannot_have(self, name, value, text):
        (problem,) = problems({**ENVIRONMENT, name: value})

        assert problem.split()[0].rstrip(":") == name
        assert text in problem

    def test_name_a_missing_sender(self):
        (problem,) = problems({"EMAIL_URL": "smtps://mail.example.com"})

        assert problem.startswith("DEFAULT_FROM_EMAIL is not set")

    def test_are_named_all_at_once(self):
        wrong = {"SECRET_KEY": "", "PORT": "x", "DATABASE_URL": "postgresql://x", "TIME_ZONE": "x"}

        found = {problem.split()[0].rstrip(":") for problem in problems({**ENVIRONMENT, **wrong})}

        assert found == set(wrong)

    @pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "SECRET_KEY", "CREDENTIALS_KEYS"])
    def test_repeat_no_secret(self, name):
        (problem,) = problems({**ENVIRONMENT, name: "hunter2://:hunter2@x"})

        assert "hunter2" not in problem

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
    def test_are_none_with_a_geocoder_beside_an_embedded_installation(self, host):
        assert problems({"GEOCODER_URL": f"http://{host}:8080"}) == []

    def test_are_none_of_the_embedded_mode_by_itself(self):
        assert problems({"DATABASE_URL": "", "REDIS_URL": "", "ALLOWED_HOSTS": "*"}) == []


class TestRefusePublicEmbedded:
    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.7", "rota.example.com", "127.0.0.1.example.com"])
    def test_refuses_what_other_machines_reach(self, host, monkeypatch):
        monkeypatch.setenv("DATABASE_URL", "")
        monkeypatch.setenv("REDIS_URL", "")

        with pytest.raises(StartRefused, match="ALLOW_PUBLIC_EMBEDDED=1"):
            environment.refuse_public_embedded(host)

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"])
    def test_allows_loopback(self, host, monkeypatch):
        monkeypatch.setenv("DATABASE_URL", "")
        monkeypatch.setenv("REDIS_URL", "")

        environment.refuse_public_embedded(host)

    @pytest.mark.parametrize("change", [{"ALLOW_PUBLIC_EMBEDDED": "1"}, ENVIRONMENT], ids=["wanted", "production"])
    def test_allows_any_host_in_production_or_when_it_is_set_to(self, change, monkeypatch):
        for name, value in change.items():
            monkeypatch.setenv(name, value)

        environment.refuse_public_embedded("0.0.0.0")


class TestExample:
    def test_is_current(self):
        assert command.EXAMPLE.read_text() == command.example(), "run: manage.py environment"

    def test_leaves_open_what_production_requires_and_has_no_other_variable_twice(self):
        assert assigned("") == dict.fromkeys(ENVIRONMENT, "")
        assert assigned("").keys() | assigned("#").keys() == VARIABLES.keys() - {
            "ALLOW_PUBLIC_EMBEDDED",
            "WEBHOOK_ALLOW_LOOPBACK",
        }

    def test_has_defaults_that_are_accepted(self):
        assert problems({**ENVIRONMENT, **assigned("#")}) == []


def test_values_that_are_secret_are_not_shown_by_a_group():
    secret = {"SECRET_KEY": ENVIRONMENT["SECRET_KEY"], "METRICS_TOKEN": "m" * 40, "EMAIL_URL": "smtps://a:b@c.example"}
    sender = {"DEFAULT_FROM_EMAIL": "rota@example.com"}
    with mock.patch.dict(os.environ, {**ENVIRONMENT, **secret, **sender}, clear=True):
        shown = "".join(repr(group()) for group in environment.GROUPS)

    assert not [value for value in {**ENVIRONMENT, **secret}.values() if value in shown and "example.com" not in value]
