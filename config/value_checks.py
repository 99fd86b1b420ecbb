"""Checks of the values that the environment gives. The tables of `config.checks` name the variables of each."""

import re
from collections.abc import Callable
from email.utils import parseaddr
from importlib.util import find_spec
from urllib.parse import SplitResult, parse_qs, parse_qsl, urlsplit
from zoneinfo import ZoneInfo

from cryptography.fernet import Fernet
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from psycopg import ProgrammingError, conninfo

from common import web_push
from config.mail_server import PORTS
from delivery import service_area

_MIN_KEY_LENGTH = 50
_MIN_DISTINCT_CHARACTERS = 5
_MIN_TOKEN_LENGTH = 32
TRUE = {"1", "true", "True", "yes", "on"}
_FALSE = {"0", "false", "False", "no", "off"}
_HOST_NAME = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_MAX_HOST_NAME_LENGTH = 255
_CONTACT = re.compile(r"(https://|mailto:|tel:)[!-~]{1,500}")
_MAX_SHOWN = 80
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

# How an operator makes what is missing or wrong.
NEW_KEY = 'make one: python3 -c "import secrets; print(secrets.token_urlsafe(50))"'
_HOW_TO_MAKE_ONE = 'make one: python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
NEW_FERNET_KEY = (
    'make one: python3 -c "import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())"'
    " (several, comma-separated: the first encrypts, all decrypt)"
)

# Takes a value. Returns None for a valid one, else a predicate that completes a sentence beginning with the variable's
# name, such as "is not a URL".
Check = Callable[[str], str | None]


def number(low: float, high: float, *, whole: bool = False) -> Check:
    def check(text: str) -> str | None:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = float("nan")
        # NaN fails this comparison too.
        if not low <= value <= high:
            return f"is '{text[:_MAX_SHOWN]}', not a {'whole ' if whole else ''}number from {low:,} to {high:,}"
        return None

    return check


def boxes(text: str) -> str | None:
    try:
        service_area.parse(text)
    except (TypeError, ValueError):
        return f"is '{text[:_MAX_SHOWN]}', not boxes of degrees as south,west,north,east; south,west,north,east"
    return None


def boolean(text: str) -> str | None:
    return None if text in TRUE | _FALSE else f"is '{text[:_MAX_SHOWN]}', neither 1 nor 0"


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def never_true(reason: str) -> Check:
    return lambda text: reason if text in TRUE else None


def one_of(*values: str) -> Check:
    def check(text: str) -> str | None:
        return None if text in values else f"is '{text[:_MAX_SHOWN]}', none of {', '.join(values)}"

    return check


def time_zone(text: str) -> str | None:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        return f"is '{text[:_MAX_SHOWN]}', no time zone of the IANA database such as America/Sao_Paulo"
    return None


def url(*schemes: str) -> Check:
    """A URL with one of the schemes and a host. The value is not repeated, because it can hold a password."""

    def check(text: str) -> str | None:
        if (parts := _split(text)) is None:
            return "is no URL: its port or host cannot be read"
        if parts.scheme not in schemes:
            return f"has to begin with {' or '.join(f'{scheme}://' for scheme in schemes)}"
        return None if parts.hostname or parts.scheme == "unix" else "names no host"

    return check


def needing(package: str, check: Check) -> Check:
    """`check`, for a variable that needs a package which is not installed everywhere."""

    def both(text: str) -> str | None:
        missing = find_spec(package) is None
        return f"needs the package {package}: install requirements-observability.lock too" if missing else check(text)

    return both


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError where it is none
    except ValueError:
        return None
    return parts


def database_url(text: str) -> str | None:
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


def redis_url(text: str) -> str | None:
    if fault := url("redis", "rediss", "unix")(text):
        return fault
    parts = urlsplit(text)
    if parts.scheme == "unix":
        return None if parts.path else "names no socket"
    database = parts.path.strip("/")
    return None if not database or database.isdecimal() else "ends in something else than the number of a database"


def tile_url(text: str) -> str | None:
    if fault := url("http", "https")(text):
        return fault
    # It becomes part of the Content-Security-Policy, where these characters are separators.
    if re.search(r"[\s;,'\"]", text):
        return "holds a space, a quotation mark, a comma or a semicolon"
    return None if all(part in text for part in ("{z}", "{x}", "{y}")) else "lacks {z}, {x} or {y}"


def email_url(text: str) -> str | None:
    if fault := url(*PORTS)(text):
        return fault
    parts = urlsplit(text)
    if parts.path.strip("/") or parts.query or parts.fragment:
        return "has something after the port"
    if parts.scheme == "smtp" and parts.username and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        return "would send its password without encryption: use smtp+starttls:// or smtps://"
    return None


def sender(text: str) -> str | None:
    """An address of RFC 5322, with or without a name."""
    try:
        validate_email(parseaddr(text)[1])
    except ValidationError:
        return f"is {text[:_MAX_SHOWN]!r}, no sender such as Rota <rota@example.com>"
    return None if text.isprintable() else "holds a control character"


def origin(text: str) -> str | None:
    return f"is '{text[:_MAX_SHOWN]}', which is no origin such as https://rota.example.com" if origins(text) else None


def origins(text: str) -> str | None:
    for origin in _parts(text):
        parts = _split(origin)
        if parts is None or parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query:
            return f"holds '{origin[:_MAX_SHOWN]}', which is no origin such as https://rota.example.com"
    return None


def hosts(text: str) -> str | None:
    for host in _parts(text):
        if host != "*" and (len(host) > _MAX_HOST_NAME_LENGTH or not _HOST_NAME.fullmatch(host)):
            return f"holds '{host[:_MAX_SHOWN]}', which is no host name (no scheme, port or path)"
    return None


def named_hosts(text: str) -> str | None:
    return "holds '*': name the hosts" if "*" in _parts(text) else None


def bearer_token(text: str) -> str | None:
    if len(text) >= _MIN_TOKEN_LENGTH and text.isascii() and text.isprintable() and " " not in text:
        return None
    return f"has to be at least {_MIN_TOKEN_LENGTH} printable characters without spaces; {_HOW_TO_MAKE_ONE}"


def vapid_key(text: str) -> str | None:
    try:
        web_push.private_key(text)
    except web_push.InvalidKey as error:
        return f"is no key of Web Push: {error} Make one: manage.py vapid_key"
    return None


def vapid_subject(text: str) -> str | None:
    is_address = text.startswith("mailto:") and "@" in text
    if (is_address or text.startswith("https://")) and text.isascii() and text.isprintable() and " " not in text:
        return None
    return f"is {text[:_MAX_SHOWN]!r}, neither mailto:name@example.com nor an https:// address"


def contacts(text: str) -> str | None:
    for contact in _parts(text):
        if not _CONTACT.fullmatch(contact):
            return f"holds {contact[:_MAX_SHOWN]!r}, which does not begin with https://, mailto: or tel:"
    return None


def fernet_keys(text: str) -> str | None:
    keys = text.split(",")
    for number, key in enumerate(keys, start=1):
        try:
            Fernet(key.strip())
        except ValueError:
            return f"holds no Fernet key in place {number} of {len(keys)}; {NEW_FERNET_KEY}"
    return None


def strong_keys(text: str) -> str | None:
    """Former keys still verify sessions, so a weak one allows forging them."""
    weak = [number for number, key in enumerate(text.split(","), start=1) if strong_key(key)]
    return f"holds a key that is too weak in place {weak[0]}" if weak else None


def strong_key(text: str) -> str | None:
    if text.startswith("django-insecure-"):
        return f"is one of Django's `startproject`, which are for development; {NEW_KEY}"
    if len(text) >= _MIN_KEY_LENGTH and len(set(text)) >= _MIN_DISTINCT_CHARACTERS:
        return None
    return (
        f"is too weak: it takes {_MIN_KEY_LENGTH} characters, {_MIN_DISTINCT_CHARACTERS} of them different; {NEW_KEY}"
    )
