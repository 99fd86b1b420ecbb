"""Types of the values that the environment gives, each with the check that pydantic applies."""

import re
from collections.abc import Callable
from email.utils import parseaddr
from importlib.util import find_spec
from typing import Annotated, Any
from urllib.parse import SplitResult, parse_qs, parse_qsl, urlsplit
from zoneinfo import ZoneInfo

from cryptography.fernet import Fernet
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from psycopg import ProgrammingError, conninfo
from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import NoDecode

from config.env import is_embedded
from delivery import web_push
from delivery.geo import service_area
from integration.words import ORDER_SERVICES

_MIN_KEY_LENGTH = 50
_MIN_DISTINCT_CHARACTERS = 5
_MIN_TOKEN_LENGTH = 32
_HOST_NAME = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_MAX_HOST_NAME_LENGTH = 255
_CONTACT = re.compile(r"(https://|mailto:|tel:)[!-~]{1,500}")
_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SEGMENT = re.compile(r"[a-z0-9_-]{1,40}")
_OWN_SEGMENT = "marketplace"
_MAX_SHOWN = 80
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# Of mail servers, by the scheme of EMAIL_URL.
MAIL_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
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


def boxes(text: str) -> str | None:
    try:
        service_area.parse(text)
    except (TypeError, ValueError):
        return f"is '{text[:_MAX_SHOWN]}', not boxes of degrees as south,west,north,east; south,west,north,east"
    return None


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


def base_url(*schemes: str) -> Check:
    """A URL to which paths are added."""

    def check(text: str) -> str | None:
        if fault := url(*schemes)(text):
            return fault
        has_more = any(character in text for character in "?#")
        return "has something behind its path, to which further parts of the path are added" if has_more else None

    return check


def geocoder_url(text: str) -> str | None:
    parts = _split(text)
    is_local = is_embedded() and parts is not None and parts.hostname in _OWN_MACHINE
    return base_url("http", "https")(text) if is_local else base_url("https")(text)


def installed(package: str) -> Check:
    """That a package is there which is not installed everywhere."""

    def check(_text: str) -> str | None:
        missing = find_spec(package) is None
        return f"needs the package {package}: install requirements-observability.lock too" if missing else None

    return check


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
    options = dict(parse_qsl(parts.query))  # libpq would refuse wrong ones at each connection
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
    if fault := url(*MAIL_PORTS)(text):
        return fault
    parts = urlsplit(text)
    if parts.path.strip("/") or parts.query or parts.fragment:
        return "has something after the port"
    if parts.scheme == "smtp" and parts.username and parts.hostname not in _OWN_MACHINE:
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
    parts = _split(text)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query:
        return f"is '{text[:_MAX_SHOWN]}', which is no origin such as https://rota.example.com"
    return None


def host(text: str) -> str | None:
    if text == "*":
        return None if is_embedded() else "is '*': name the hosts"
    if len(text) > _MAX_HOST_NAME_LENGTH or not _HOST_NAME.fullmatch(text):
        return f"is '{text[:_MAX_SHOWN]}', which is no host name (no scheme, port or path)"
    return None


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


def contact(text: str) -> str | None:
    if not _CONTACT.fullmatch(text):
        return f"is {text[:_MAX_SHOWN]!r}, which does not begin with https://, mailto: or tel:"
    return None


def fernet_key(text: str) -> str | None:
    try:
        Fernet(text)
    except ValueError:
        return f"is no Fernet key; {NEW_FERNET_KEY}"
    return None


def strong_key(text: str) -> str | None:
    if text.startswith("django-insecure-"):
        return f"is one of Django's `startproject`, which are for development; {NEW_KEY}"
    if len(text) >= _MIN_KEY_LENGTH and len(set(text)) >= _MIN_DISTINCT_CHARACTERS:
        return None
    return (
        f"is too weak: it takes {_MIN_KEY_LENGTH} characters, {_MIN_DISTINCT_CHARACTERS} of them different; {NEW_KEY}"
    )


def service_alias(text: str) -> str | None:
    alias, _equals, service = text.partition("=")
    if service not in ORDER_SERVICES or not _WORD.fullmatch(alias):
        services = ", ".join(ORDER_SERVICES)
        return f"has {text[:_MAX_SHOWN]!r}, which is no alias of a service ({services}) such as brand=base"
    return f"gives another meaning to the service {alias}" if alias in ORDER_SERVICES else None


def path_segment(text: str) -> str | None:
    if not _SEGMENT.fullmatch(text) or text == _OWN_SEGMENT:
        return f"has {text[:_MAX_SHOWN]!r}, which is no further path segment of at most 40 a-z, 0-9, - and _"
    return None


def _each_once(aliases: list[str]) -> list[str]:
    if len({alias.partition("=")[0] for alias in aliases}) < len(aliases):
        raise ValueError("has an alias twice")
    return aliases


def _checked(check: Check) -> AfterValidator:
    def validate(text: str) -> str:
        if text and (fault := check(text)):
            raise ValueError(fault)
        return text

    return AfterValidator(validate)


def _parts(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


_COMMA_SEPARATED = (NoDecode, BeforeValidator(_parts))

DatabaseUrl = Annotated[str, _checked(database_url)]
RedisUrl = Annotated[str, _checked(redis_url)]
SecretKeys = Annotated[list[Annotated[str, _checked(strong_key)]], *_COMMA_SEPARATED]
FernetKeys = Annotated[list[Annotated[str, _checked(fernet_key)]], *_COMMA_SEPARATED]
Hosts = Annotated[list[Annotated[str, _checked(host)]], *_COMMA_SEPARATED]
BaseUrl = Annotated[str, _checked(base_url("http", "https"))]
GeocoderUrl = Annotated[str, _checked(geocoder_url)]
CollectorUrl = Annotated[str, _checked(installed("opentelemetry")), _checked(base_url("http", "https"))]
SentryUrl = Annotated[str, _checked(installed("sentry_sdk")), _checked(url("https", "http"))]
TileUrl = Annotated[str, _checked(tile_url)]
EmailUrl = Annotated[str, _checked(email_url)]
Sender = Annotated[str, _checked(sender)]
Origin = Annotated[str, _checked(origin)]
Contacts = Annotated[list[Annotated[str, _checked(contact)]], *_COMMA_SEPARATED]
ServiceAliases = Annotated[list[Annotated[str, _checked(service_alias)]], *_COMMA_SEPARATED, AfterValidator(_each_once)]
PathSegments = Annotated[list[Annotated[str, _checked(path_segment)]], *_COMMA_SEPARATED]
BearerToken = Annotated[str, _checked(bearer_token)]
VapidKey = Annotated[str, _checked(vapid_key)]
TimeZone = Annotated[str, _checked(time_zone)]


def _embedded_only(is_on: bool) -> bool:
    if is_on and not is_embedded():
        raise ValueError("is on, which is for the embedded mode only")
    return is_on


EmbeddedOnly = Annotated[bool, AfterValidator(_embedded_only)]
Boxes = Annotated[str, _checked(boxes)]
