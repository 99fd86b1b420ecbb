"""Types of the values that the environment gives: pydantic's, and checks of what it has no type for.

A message of a check does not repeat the value, which may be a secret.
"""

from collections.abc import Callable
from email.utils import parseaddr
from importlib.util import find_spec
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from cryptography.fernet import Fernet
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from psycopg import ProgrammingError, conninfo
from pydantic import AfterValidator, AnyUrl, BeforeValidator, StringConstraints, TypeAdapter, UrlConstraints
from pydantic_settings import NoDecode

from common.redis_url import Sentinels
from config.env import is_embedded
from delivery.drivers import web_push
from delivery.geo import service_area
from integration.words import ORDER_SERVICES

_MIN_KEY_LENGTH = 50
_MIN_DISTINCT_CHARACTERS = 5
_OWN_SEGMENT = "marketplace"
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# Of mail servers, by the scheme of EMAIL_URL.
MAIL_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}

# How an operator makes what is missing or wrong.
NEW_KEY = 'make one: python3 -c "import secrets; print(secrets.token_urlsafe(50))"'
NEW_FERNET_KEY = (
    'make one: python3 -c "import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())"'
    " (several, comma-separated: the first encrypts, all decrypt)"
)


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """That `check` does not raise ValueError for a text, unless it is empty."""

    def validate(text: str) -> str:
        if text:
            check(text)
        return text

    return AfterValidator(validate)


def _refuse(is_wrong: bool, because: str) -> None:
    if is_wrong:
        raise ValueError(because)


def _url_with(*schemes: str) -> Callable[[str], object]:
    """A check: a URL with a host, or of a socket."""
    kind: Any = Annotated[AnyUrl, UrlConstraints(allowed_schemes=list(schemes), host_required=True)]
    urls = TypeAdapter[AnyUrl](kind)
    return lambda text: (text.startswith("unix:///") and "unix" in schemes) or urls.validate_python(text)


def _url(*schemes: str) -> AfterValidator:
    """A URL, which stays as it is written."""
    return _checked(_url_with(*schemes))


def _database_url(text: str) -> None:
    try:
        options = conninfo.conninfo_to_dict(text)
    except ProgrammingError:
        options = {}
    _refuse(not options, "this is no URL of PostgreSQL, or has an option that libpq does not know")
    ports = str(options.get("port", "5432")).split(",")
    _refuse(not all(port.isdecimal() for port in ports if port), "the port is no number")
    _refuse("host" not in options, "the host is missing")
    _refuse("dbname" not in options, "the database is missing")


_redis_server = _url_with("redis", "rediss", "unix")


def _redis_url(text: str) -> None:
    if Sentinels.of(text) is not None:
        return
    _redis_server(text)
    database = urlsplit(text).path.strip("/")
    _refuse(
        bool(database) and not text.startswith("unix:") and not database.isdecimal(),
        "the path is not the number of a database",
    )


def _without_query(text: str) -> None:
    _refuse("?" in text or "#" in text, "something is behind the path, to which further parts of the path are added")


def _https_elsewhere(text: str) -> None:
    is_local = is_embedded() and urlsplit(text).hostname in _OWN_MACHINE
    _refuse(not is_local and not text.startswith("https:"), "URL scheme should be 'https'")


def _installed(package: str) -> Callable[[str], None]:
    """That a package is there which is not installed everywhere."""
    because = f"the package {package} is missing: install requirements-observability.lock too"
    return lambda _text: _refuse(find_spec(package) is None, because)


def _tile_url(text: str) -> None:
    # It becomes part of the Content-Security-Policy, where these characters are separators.
    has_separator = any(character.isspace() or character in ";,'\"" for character in text)
    _refuse(has_separator, "this has a space, a quotation mark, a comma or a semicolon")
    _refuse(not all(part in text for part in ("{z}", "{x}", "{y}")), "{z}, {x} or {y} is missing")


def _email_url(text: str) -> None:
    parts = urlsplit(text)
    _refuse(bool(parts.path.strip("/") or parts.query or parts.fragment), "something is behind the port")
    is_open = parts.scheme == "smtp" and parts.username and parts.hostname not in _OWN_MACHINE
    _refuse(bool(is_open), "the password would be sent without encryption: use smtp+starttls:// or smtps://")


def _sender(text: str) -> None:
    """An address of RFC 5322, with or without a name."""
    _refuse(not text.isprintable(), "this has a control character")
    try:
        validate_email(parseaddr(text)[1])
    except ValidationError as error:
        raise ValueError("this is no sender") from error


def _origin(text: str) -> None:
    parts = urlsplit(text)
    _refuse(bool(parts.path or parts.query), "this is no origin: something is behind the host")


def _host(text: str) -> None:
    _refuse(text == "*" and not is_embedded(), "'*' stands for every host: name those of this service")


def _vapid_key(text: str) -> None:
    try:
        web_push.private_key(text)
    except web_push.InvalidKey as error:
        raise ValueError(f"this is no key of Web Push: {error}") from error


def _fernet_key(text: str) -> None:
    try:
        Fernet(text)
    except ValueError as error:
        raise ValueError(f"this is no Fernet key; {NEW_FERNET_KEY}") from error


def _strong_key(text: str) -> None:
    is_weak = len(text) < _MIN_KEY_LENGTH or len(set(text)) < _MIN_DISTINCT_CHARACTERS
    because = f"it takes {_MIN_KEY_LENGTH} characters, {_MIN_DISTINCT_CHARACTERS} of them different"
    _refuse(is_weak, f"this is too weak: {because}; {NEW_KEY}")
    _refuse(text.startswith("django-insecure-"), f"this is one of `startproject`, for development; {NEW_KEY}")


def _service_alias(text: str) -> None:
    alias, _equals, service = text.partition("=")
    _refuse(service not in ORDER_SERVICES, f"there is no such service, but {', '.join(ORDER_SERVICES)}")
    _refuse(alias in ORDER_SERVICES, f"this would give another meaning to the service {alias}")


def _each_once(aliases: list[str]) -> list[str]:
    _refuse(len({alias.partition("=")[0] for alias in aliases}) < len(aliases), "an alias is there twice")
    return aliases


def _path_segment(text: str) -> None:
    _refuse(text == _OWN_SEGMENT, "this segment is there already")


def _time_zone(text: str) -> None:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError) as error:
        raise ValueError("this is no time zone of the IANA database such as America/Sao_Paulo") from error


def _boxes(text: str) -> None:
    try:
        service_area.parse(text)
    except (TypeError, ValueError) as error:
        raise ValueError("these are no boxes of degrees") from error


def _embedded_only(is_on: bool) -> bool:
    _refuse(is_on and not is_embedded(), "this is for the embedded mode only")
    return is_on


def _parts(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


_COMMA_SEPARATED = (NoDecode, BeforeValidator(_parts))

DatabaseUrl = Annotated[str, _checked(_database_url)]
RedisUrl = Annotated[str, _checked(_redis_url)]
SecretKeys = Annotated[list[Annotated[str, _checked(_strong_key)]], *_COMMA_SEPARATED]
FernetKeys = Annotated[list[Annotated[str, _checked(_fernet_key)]], *_COMMA_SEPARATED]
_Host = Annotated[
    str,
    StringConstraints(max_length=255, pattern=r"^(\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])$"),
    _checked(_host),
]
Hosts = Annotated[list[_Host], *_COMMA_SEPARATED]
BaseUrl = Annotated[str, _url("http", "https"), _checked(_without_query)]
GeocoderUrl = Annotated[BaseUrl, _checked(_https_elsewhere)]
CollectorUrl = Annotated[str, _checked(_installed("opentelemetry")), _url("http", "https"), _checked(_without_query)]
SentryUrl = Annotated[str, _checked(_installed("sentry_sdk")), _url("http", "https")]
TileUrl = Annotated[str, _url("http", "https"), _checked(_tile_url)]
EmailUrl = Annotated[str, _url(*MAIL_PORTS), _checked(_email_url)]
Sender = Annotated[str, _checked(_sender)]
Origin = Annotated[str, _url("http", "https"), _checked(_origin)]
_Contact = Annotated[str, StringConstraints(pattern=r"^(https://|mailto:|tel:)[!-~]{1,500}$")]
Contacts = Annotated[list[_Contact], *_COMMA_SEPARATED]
_ServiceAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}=[a-z]+$"), _checked(_service_alias)]
ServiceAliases = Annotated[list[_ServiceAlias], *_COMMA_SEPARATED, AfterValidator(_each_once)]
_PathSegment = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,40}$"), _checked(_path_segment)]
PathSegments = Annotated[list[_PathSegment], *_COMMA_SEPARATED]
BearerToken = Annotated[str, StringConstraints(pattern=r"^([!-~]{32,})?$")]
VapidKey = Annotated[str, _checked(_vapid_key)]
TimeZone = Annotated[str, _checked(_time_zone)]
EmbeddedOnly = Annotated[bool, AfterValidator(_embedded_only)]
Boxes = Annotated[str, _checked(_boxes)]
