"""Checks of the environment. Every process runs them before anything else.

`problems` gives one sentence for each refused value. No sentence repeats a secret.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qs, parse_qsl, urlsplit
from zoneinfo import ZoneInfo

from cryptography.fernet import Fernet
from psycopg import ProgrammingError, conninfo

from config.env import StartRefused
from delivery import service_area

_MIN_KEY_LENGTH = 50
_MIN_DISTINCT_CHARACTERS = 5
_TRUE = {"1", "true", "True", "yes", "on"}
_FALSE = {"0", "false", "False", "no", "off"}
_HOST_NAME = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_MAX_HOST_NAME_LENGTH = 255
_CONTACT = re.compile(r"(https://|mailto:|tel:)[!-~]{1,500}")
_MAX_SHOWN = 80
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PAIR = "DATABASE_URL and REDIS_URL belong together: set both for production, neither for the embedded servers"
_PUBLIC = (
    "would open the embedded mode to other machines, and it asks for no second factor, sends its cookies without TLS "
    "and lets webhooks reach this machine: set DATABASE_URL and REDIS_URL for production, or ALLOW_PUBLIC_EMBEDDED=1"
)

_REQUIRED = {
    "SECRET_KEY": 'make one: python -c "import secrets; print(secrets.token_urlsafe(50))"',  # nosec B105  # how to make one
    "CREDENTIALS_KEYS": (
        'make one: python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'
        " (several, comma-separated: the first encrypts, all decrypt)"
    ),
    "ALLOWED_HOSTS": "the host names this service answers to, comma-separated, such as rota.example.com",
}

# Takes a value. Returns None for a valid one, else a predicate that completes a sentence beginning with the variable's
# name, such as "is not a URL".
Check = Callable[[str], str | None]


def refuse_bad_environment() -> None:
    """Raise StartRefused naming all problems of this process's environment."""
    _refuse(problems(os.environ))


def refuse_public_embedded(host: str) -> None:
    """Raise StartRefused if embedded mode would listen for other machines, unless ALLOW_PUBLIC_EMBEDDED is set."""
    is_allowed = os.environ.get("ALLOW_PUBLIC_EMBEDDED") in _TRUE
    if not (_is_production(os.environ) or is_allowed or _is_loopback(host)):
        _refuse([f"HOST={host} {_PUBLIC}"])


def problems(environment: Mapping[str, str]) -> list[str]:
    """One sentence for each value that is refused."""
    given = {name: value for name, value in environment.items() if value or name in _NEVER_EMPTY}
    found = _faults(given, _MAY_BE_EMPTY | _NEVER_EMPTY)
    if ("DATABASE_URL" in given) != ("REDIS_URL" in given):
        found.append(f"{'REDIS_URL' if 'DATABASE_URL' in given else 'DATABASE_URL'} is not set: {_PAIR}")
    if _is_production(given):
        found += [f"{name} is not set: {how}" for name, how in _REQUIRED.items() if name not in given]
        found += _faults(given, _IN_PRODUCTION)
    return found


def _faults(given: Mapping[str, str], checks: "dict[str, Check]") -> list[str]:
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


def _number(low: float, high: float, *, whole: bool = False) -> Check:
    def check(text: str) -> str | None:
        try:
            number = int(text) if whole else float(text)
        except ValueError:
            number = float("nan")
        # NaN fails this comparison too.
        if not low <= number <= high:
            return f"is '{text[:_MAX_SHOWN]}', not a {'whole ' if whole else ''}number from {low:,} to {high:,}"
        return None

    return check


def _boxes(text: str) -> str | None:
    try:
        service_area.parse(text)
    except (TypeError, ValueError):
        return f"is '{text[:_MAX_SHOWN]}', not boxes of degrees as south,west,north,east; south,west,north,east"
    return None


def _boolean(text: str) -> str | None:
    return None if text in _TRUE | _FALSE else f"is '{text[:_MAX_SHOWN]}', neither 1 nor 0"


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _never_true(reason: str) -> Check:
    return lambda text: reason if text in _TRUE else None


def _log_level(text: str) -> str | None:
    return None if text in _LOG_LEVELS else f"is '{text[:_MAX_SHOWN]}', none of {', '.join(_LOG_LEVELS)}"


def _time_zone(text: str) -> str | None:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        return f"is '{text[:_MAX_SHOWN]}', no time zone of the IANA database such as America/Sao_Paulo"
    return None


def _url(*schemes: str) -> Check:
    """A URL with one of the schemes and a host. The value is not repeated, because it can hold a password."""

    def check(text: str) -> str | None:
        if (parts := _split(text)) is None:
            return "is no URL: its port or host cannot be read"
        if parts.scheme not in schemes:
            return f"has to begin with {' or '.join(f'{scheme}://' for scheme in schemes)}"
        return None if parts.hostname or parts.scheme == "unix" else "names no host"

    return check


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError where it is none
    except ValueError:
        return None
    return parts


def _database_url(text: str) -> str | None:
    if (parts := _split(text)) is None:
        return "is no URL: its port or host cannot be read"
    if parts.scheme not in {"postgres", "postgresql"}:
        return "has to begin with postgres:// or postgresql://: Rota needs PostgreSQL"
    if not parts.hostname and "host" not in parse_qs(parts.query):
        return "names no host"
    if not parts.path.strip("/"):
        return "names no database: postgres://USER@HOST:5432/DATABASE"
    return _connection_options(dict(parse_qsl(parts.query)))


def _connection_options(options: dict[str, str]) -> str | None:
    """Check the query parameters of DATABASE_URL, which libpq would otherwise refuse at each connection."""
    for name, value in options.items():
        try:
            conninfo.make_conninfo(**{name: value})
        except ProgrammingError:
            return f"has the option '{name[:_MAX_SHOWN]}', which libpq does not know"
        if name.endswith(("timeout", "idle", "interval", "count")) and not value.isdecimal():
            return f"has the option {name}, whose value is no number"
    if options.get("sslmode", "prefer") not in _SSL_MODES:
        return f"has an sslmode that is none of {', '.join(_SSL_MODES)}"
    return None


def _redis_url(text: str) -> str | None:
    if fault := _url("redis", "rediss", "unix")(text):
        return fault
    parts = urlsplit(text)
    if parts.scheme == "unix":
        return None if parts.path else "names no socket"
    database = parts.path.strip("/")
    return None if not database or database.isdecimal() else "ends in something else than the number of a database"


def _tile_url(text: str) -> str | None:
    if fault := _url("http", "https")(text):
        return fault
    # It becomes part of the Content-Security-Policy, where these characters are separators.
    if re.search(r"[\s;,'\"]", text):
        return "holds a space, a quotation mark, a comma or a semicolon"
    return None if all(part in text for part in ("{z}", "{x}", "{y}")) else "lacks {z}, {x} or {y}"


def _origins(text: str) -> str | None:
    for origin in _parts(text):
        parts = _split(origin)
        if parts is None or parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query:
            return f"holds '{origin[:_MAX_SHOWN]}', which is no origin such as https://rota.example.com"
    return None


def _hosts(text: str) -> str | None:
    for host in _parts(text):
        if host != "*" and (len(host) > _MAX_HOST_NAME_LENGTH or not _HOST_NAME.fullmatch(host)):
            return f"holds '{host[:_MAX_SHOWN]}', which is no host name (no scheme, port or path)"
    return None


def _named_hosts(text: str) -> str | None:
    return "holds '*': name the hosts" if "*" in _parts(text) else None


def _contacts(text: str) -> str | None:
    for contact in _parts(text):
        if not _CONTACT.fullmatch(contact):
            return f"holds {contact[:_MAX_SHOWN]!r}, which does not begin with https://, mailto: or tel:"
    return None


def _fernet_keys(text: str) -> str | None:
    keys = text.split(",")
    for number, key in enumerate(keys, start=1):
        try:
            Fernet(key.strip())
        except ValueError:
            return f"holds no Fernet key in place {number} of {len(keys)}; {_REQUIRED['CREDENTIALS_KEYS']}"
    return None


def _strong_keys(text: str) -> str | None:
    """Former keys still verify sessions, so a weak one allows forging them."""
    weak = [number for number, key in enumerate(text.split(","), start=1) if _strong_key(key)]
    return f"holds a key that is too weak in place {weak[0]}" if weak else None


def _strong_key(text: str) -> str | None:
    if text.startswith("django-insecure-"):
        return f"is one of Django's `startproject`, which are for development; {_REQUIRED['SECRET_KEY']}"
    if len(text) >= _MIN_KEY_LENGTH and len(set(text)) >= _MIN_DISTINCT_CHARACTERS:
        return None
    return (
        f"is too weak: it takes {_MIN_KEY_LENGTH} characters, {_MIN_DISTINCT_CHARACTERS} of them different; "
        f"{_REQUIRED['SECRET_KEY']}"
    )


# Variables that count as unset when they are empty.
_MAY_BE_EMPTY: dict[str, Check] = {
    "DATABASE_URL": _database_url,
    "REDIS_URL": _redis_url,
    "CREDENTIALS_KEYS": _fernet_keys,
    "ALLOWED_HOSTS": _hosts,
    "CSRF_TRUSTED_ORIGINS": _origins,
    "SECURITY_CONTACT": _contacts,
    "ROUTING_URL": _url("http", "https"),
    "MAP_TILE_URL": _tile_url,
}

_NEVER_EMPTY: dict[str, Check] = {
    "DEBUG": _boolean,
    "REQUIRE_TWO_FACTOR": _boolean,
    "SECURE_SSL_REDIRECT": _boolean,
    "WEBHOOK_ALLOW_LOOPBACK": _boolean,
    "ALLOW_PUBLIC_EMBEDDED": _boolean,
    "SEED_DEMO": _boolean,
    "PORT": _number(1, 65_535, whole=True),
    "WEB_WORKERS": _number(1, 512, whole=True),
    "WEB_THREADS": _number(1, 512, whole=True),
    "WORKERS": _number(1, 512, whole=True),
    "DATABASE_POOL": _number(0, 1_000, whole=True),
    "DATABASE_STATEMENT_SECONDS": _number(0, 86_400),
    "TRUSTED_PROXIES": _number(0, 10, whole=True),
    "SECURE_HSTS_SECONDS": _number(0, 1_000_000_000, whole=True),
    "TIME_ZONE": _time_zone,
    "LOG_LEVEL": _log_level,
    "ROAD_FACTOR": _number(1, 10),
    "SERVICE_AREA": _boxes,
    "OFFER_TTL": _number(0.01, 525_600),
    "DISPATCH_RADIUS_KM": _number(0.01, 20_040),
    "POSITION_FRESH_SECONDS": _number(1, 86_400, whole=True),
    "RATE_LIMIT_PER_SECOND": _number(0, 1_000_000_000, whole=True),
    "RATE_LIMIT_PER_HOUR": _number(0, 1_000_000_000, whole=True),
    "INVOICE_QUOTA_MB": _number(0, 1_000_000_000, whole=True),
    "INVOICES_PER_DAY": _number(0, 1_000_000_000, whole=True),
}

_IN_PRODUCTION: dict[str, Check] = {
    "SECRET_KEY": _strong_key,
    "SECRET_KEY_FALLBACKS": _strong_keys,
    "ALLOWED_HOSTS": _named_hosts,
    "DEBUG": _never_true("is on, which shows code and settings to visitors: it is for the embedded mode only"),
    "WEBHOOK_ALLOW_LOOPBACK": _never_true("is on, which is for the embedded mode only"),
}
