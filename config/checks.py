"""Checks of the environment. Every process runs them before anything else.

`problems` gives one sentence for each refused value. No sentence repeats a secret.
"""

import ipaddress
import os
from collections.abc import Mapping

from config import value_checks
from config.env import StartRefused
from config.value_checks import Check

_PAIR = "DATABASE_URL and REDIS_URL belong together: set both for production, neither for the embedded servers"
_PUBLIC = (
    "would open the embedded mode to other machines, and it asks for no second factor, sends its cookies without TLS "
    "and lets webhooks reach this machine: set DATABASE_URL and REDIS_URL for production, or ALLOW_PUBLIC_EMBEDDED=1"
)

_REQUIRED = {
    "SECRET_KEY": value_checks.NEW_KEY,
    "CREDENTIALS_KEYS": value_checks.NEW_FERNET_KEY,
    "ALLOWED_HOSTS": "the host names this service answers to, comma-separated, such as rota.example.com",
}


def refuse_bad_environment() -> None:
    """Raise StartRefused naming all problems of this process's environment."""
    _refuse(problems(os.environ))


def refuse_public_embedded(host: str) -> None:
    """Raise StartRefused if embedded mode would listen for other machines, unless ALLOW_PUBLIC_EMBEDDED is set."""
    is_allowed = os.environ.get("ALLOW_PUBLIC_EMBEDDED") in value_checks.TRUE
    if not (_is_production(os.environ) or is_allowed or _is_loopback(host)):
        _refuse([f"HOST={host} {_PUBLIC}"])


def problems(environment: Mapping[str, str]) -> list[str]:
    """One sentence for each value that is refused."""
    given = {name: value for name, value in environment.items() if value or name in _NEVER_EMPTY}
    found = _faults(given, _MAY_BE_EMPTY | _NEVER_EMPTY)
    if ("DATABASE_URL" in given) != ("REDIS_URL" in given):
        found.append(f"{'REDIS_URL' if 'DATABASE_URL' in given else 'DATABASE_URL'} is not set: {_PAIR}")
    if "EMAIL_URL" in given and "DEFAULT_FROM_EMAIL" not in given:
        found.append("DEFAULT_FROM_EMAIL is not set: the sender of e-mails, such as Rota <rota@example.com>")
    if ("VAPID_PRIVATE_KEY" in given) != ("VAPID_SUBJECT" in given):
        found.append("VAPID_PRIVATE_KEY and VAPID_SUBJECT are needed together, for Web Push")
    if _is_production(given):
        found += [f"{name} is not set: {how}" for name, how in _REQUIRED.items() if name not in given]
        found += _faults(given, _IN_PRODUCTION)
    return found


def _faults(given: Mapping[str, str], checks: dict[str, Check]) -> list[str]:
    return [f"{name} {fault}" for name, check in checks.items() if name in given and (fault := check(given[name]))]


def _refuse(found: list[str]) -> None:
    if found:
        raise StartRefused("\n".join(["Rota does not start in this environment:", *(f"  {text}" for text in found)]))


def _is_production(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DATABASE_URL") or environment.get("REDIS_URL"))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


# Variables that count as unset when they are empty.
_MAY_BE_EMPTY: dict[str, Check] = {
    "DATABASE_URL": value_checks.database_url,
    "REDIS_URL": value_checks.redis_url,
    "CREDENTIALS_KEYS": value_checks.fernet_keys,
    "ALLOWED_HOSTS": value_checks.hosts,
    "CSRF_TRUSTED_ORIGINS": value_checks.origins,
    "SECURITY_CONTACT": value_checks.contacts,
    "ROUTING_URL": value_checks.url("http", "https"),
    "GEOCODER_URL": value_checks.url("https"),
    "MAP_TILE_URL": value_checks.tile_url,
    "PROOF_S3_URL": value_checks.url("https", "http"),
    "SITE_URL": value_checks.origin,
    "EMAIL_URL": value_checks.email_url,
    "DEFAULT_FROM_EMAIL": value_checks.sender,
    "METRICS_TOKEN": value_checks.bearer_token,
    "VAPID_PRIVATE_KEY": value_checks.vapid_key,
    "VAPID_SUBJECT": value_checks.vapid_subject,
}

_NEVER_EMPTY: dict[str, Check] = {
    "DEBUG": value_checks.boolean,
    "REQUIRE_TWO_FACTOR": value_checks.boolean,
    "SECURE_SSL_REDIRECT": value_checks.boolean,
    "WEBHOOK_ALLOW_LOOPBACK": value_checks.boolean,
    "ALLOW_PUBLIC_EMBEDDED": value_checks.boolean,
    "SEED_DEMO": value_checks.boolean,
    "PORT": value_checks.number(1, 65_535, whole=True),
    "WEB_WORKERS": value_checks.number(1, 512, whole=True),
    "WEB_THREADS": value_checks.number(1, 512, whole=True),
    "WORKERS": value_checks.number(1, 512, whole=True),
    "DATABASE_PREPARE": value_checks.boolean,
    "DATABASE_STATEMENT_SECONDS": value_checks.number(0, 86_400),
    "TRUSTED_PROXIES": value_checks.number(0, 10, whole=True),
    "SECURE_HSTS_SECONDS": value_checks.number(0, 1_000_000_000, whole=True),
    "TIME_ZONE": value_checks.time_zone,
    "LOG_LEVEL": value_checks.one_of("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "ROAD_FACTOR": value_checks.number(1, 10),
    "ROUTING_ENGINE": value_checks.one_of("osrm", "valhalla"),
    "ROUTING_TIME_FACTOR_MOTORCYCLE": value_checks.number(0.5, 5),
    "ROUTING_TIME_FACTOR_CAR": value_checks.number(0.5, 5),
    "SPEED_KMH_MOTORCYCLE": value_checks.number(1, 200),
    "SPEED_KMH_CAR": value_checks.number(1, 200),
    "SERVICE_MINUTES_PICKUP": value_checks.number(0, 240),
    "SERVICE_MINUTES_STOP": value_checks.number(0, 240),
    "SERVICE_AREA": value_checks.boxes,
    "OFFER_TTL": value_checks.number(0.01, 525_600),
    "DISPATCH_RADIUS_KM": value_checks.number(0.01, 20_040),
    "LATE_WITHOUT_DRIVER_MINUTES": value_checks.number(0.01, 525_600),
    "LATE_PICKUP_MINUTES": value_checks.number(0.01, 525_600),
    "LATE_MINUTES_PER_KM": value_checks.number(0, 525_600),
    "POSITION_FRESH_SECONDS": value_checks.number(1, 86_400, whole=True),
    "DRIVER_SESSION_DAYS": value_checks.number(0.01, 3650),
    "DRIVER_MAX_SPEED_KMH": value_checks.number(1, 1000),
    "DRIVER_SHARE_PERCENT": value_checks.number(0, 100),
    "PROOF_PHOTO_DAYS": value_checks.number(1, 3650, whole=True),
    "RATE_LIMIT_PER_SECOND": value_checks.number(0, 1_000_000_000, whole=True),
    "RATE_LIMIT_PER_HOUR": value_checks.number(0, 1_000_000_000, whole=True),
    "INVOICE_QUOTA_MB": value_checks.number(0, 1_000_000_000, whole=True),
    "INVOICES_PER_DAY": value_checks.number(0, 1_000_000_000, whole=True),
}

_IN_PRODUCTION: dict[str, Check] = {
    "SECRET_KEY": value_checks.strong_key,
    "SECRET_KEY_FALLBACKS": value_checks.strong_keys,
    "ALLOWED_HOSTS": value_checks.named_hosts,
    "DEBUG": value_checks.never_true(
        "is on, which shows code and settings to visitors: it is for the embedded mode only"
    ),
    "WEBHOOK_ALLOW_LOOPBACK": value_checks.never_true("is on, which is for the embedded mode only"),
}
