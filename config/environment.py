"""Every variable of the environment that the product reads: a typed model for each group, with meaning and default.

A field has the name of its variable. An empty variable counts as one that is not set. Every process begins with
`refuse_bad_environment`. `manage.py environment` writes `.env.example`.
"""

import ipaddress
import os
from difflib import get_close_matches
from typing import Any, Literal, cast

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from config import environment_values as values
from config.env import StartRefused, is_embedded

# Of two names, from 0 to 1: one wrong or missing letter in nine, or two letters that are exchanged.
_SIMILAR = 0.85
_MAX_SHOWN = 80
_BILLION = 1_000_000_000
_PAIR = "DATABASE_URL and REDIS_URL belong together: set both for production, neither for the embedded servers"
_PUBLIC = (
    "would open the embedded mode to other machines, and it asks for no second factor, sends its cookies without TLS "
    "and lets webhooks reach this machine: set DATABASE_URL and REDIS_URL for production, or ALLOW_PUBLIC_EMBEDDED=1"
)


def _variable(
    default: Any,
    meaning: str,
    *,
    without: str = "",
    required: str = "",
    is_secret: bool = False,
    embedded_only: bool = False,
    **limits: Any,
) -> Any:
    """A field whose default is a value, or a function of the mode.

    `meaning` and `without`, which says what holds without a value where the default alone does not, are Markdown.
    `required` says how to make a value that production has to have.
    """
    given: dict[str, Any] = {"default_factory": default} if callable(default) else {"default": default}
    return Field(
        **given,
        description=meaning,
        repr=not is_secret,
        validate_default=bool(required),
        json_schema_extra={"without": without, "required": required, "embedded_only": embedded_only},
        **limits,
    )


def about(field: FieldInfo) -> dict[str, Any]:
    """`without`, `required` and `embedded_only` of a variable."""
    return cast("dict[str, Any]", field.json_schema_extra)


class Group(BaseSettings):
    """Variables that belong together."""

    model_config = SettingsConfigDict(
        case_sensitive=True, env_ignore_empty=True, extra="ignore", frozen=True, allow_inf_nan=False
    )

    @field_validator("*")
    @classmethod
    def _is_set(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse production without a required value."""
        how = about(cls.model_fields[str(info.field_name)])["required"]
        if how and not value and not is_embedded():
            raise ValueError(f"this is not set: {how}")
        return value


class Servers(Group):
    """PostgreSQL and Redis."""

    DATABASE_URL: values.DatabaseUrl = _variable(
        "",
        "PostgreSQL, as `postgres://USER@HOST:5432/DATABASE` (or `postgresql://`), `:PASSWORD` behind the user, and "
        "commas between several hosts. With both URLs the service runs in production mode",
        without="embedded server",
        required=_PAIR,
        is_secret=True,
    )
    REDIS_URL: values.RedisUrl = _variable(
        "",
        "Redis or Valkey, as `redis://:PASSWORD@HOST:6379/0`, `rediss://` or `unix://`. Or its Sentinels: "
        "`redis+sentinel://…@HOST:26379,HOST:26379/0?master=NAME`, `rediss+sentinel://`",
        without="embedded server",
        required=_PAIR,
        is_secret=True,
    )
    DATABASE_REPLICA_URL: values.DatabaseUrl = _variable(
        "",
        "a streaming replica of `DATABASE_URL`, in the same form, from which web processes read lists, exports and "
        "reports; see *Read replica* in [deployment.md](deployment.md#read-replica)",
        without="none: everything is read from `DATABASE_URL`",
        is_secret=True,
    )
    DATABASE_PREPARE: bool = _variable(
        True,
        "0 where a connection pooler between the service and PostgreSQL does not support prepared statements "
        "(PgBouncer does from 1.22, with `max_prepared_statements`)",
    )
    DATABASE_STATEMENT_SECONDS: float = _variable(
        0,
        "time limit of a database statement. If it is set, a lock is waited for 5 s at most, and a web process waits "
        "3 s longer for a server that does not answer. 0: no limit",
        without="15 for web processes, 0 for workers, migrations and commands",
        ge=0,
        le=86_400,
    )

    @model_validator(mode="after")
    def _replica_is_another(self) -> "Servers":
        if self.DATABASE_REPLICA_URL and self.DATABASE_REPLICA_URL == self.DATABASE_URL:
            raise ValueError("DATABASE_REPLICA_URL is the same as DATABASE_URL: it names a replica, or is not set")
        return self


class Keys(Group):
    """Keys."""

    SECRET_KEY: values.SecretKeys = _variable(
        [],
        "Django's keys, each at least 50 characters, comma-separated: the first signs, all verify; see *Rotating keys*",
        without="generated in `DATA_DIR`",
        required=values.NEW_KEY,
        is_secret=True,
    )
    CREDENTIALS_KEYS: values.FernetKeys = _variable(
        [],
        "Fernet keys for tokens, signing secrets and second factors, comma-separated: the first encrypts, all "
        "decrypt; see *Rotating keys*",
        without="generated in `DATA_DIR`",
        required=values.NEW_FERNET_KEY,
        is_secret=True,
    )


class Web(Group):
    """Web server."""

    ALLOWED_HOSTS: values.Hosts = _variable(
        [],
        "host names served, without scheme, port and path, comma-separated; `*` is refused in production",
        without="localhost, 127.0.0.1, [::1]",
        required="the host names this service answers to, comma-separated, such as rota.example.com",
    )
    HOST: str = _variable("127.0.0.1", "address of the web server; one other than loopback is refused in embedded mode")
    PORT: int = _variable(8000, "port of the web server", ge=1, le=65_535)
    SITE_URL: values.Origin = _variable(
        "",
        "address at which people reach the service, such as `https://rota.example.com`: for links in e-mails, the "
        "`type` of problems, and the origin of forms where the proxy gives another `Host`",
        without="the first of `ALLOWED_HOSTS` with https; `http://127.0.0.1:PORT` in embedded mode",
    )
    WEB_WORKERS: int = _variable(2, "processes of the web server", ge=1, le=512)
    TRUSTED_PROXIES: int = _variable(
        lambda: 0 if is_embedded() else 1,
        "number of proxies in front, each of which appends the address it sees to `X-Forwarded-For`; the service "
        "must be reachable through them only",
        without="1, 0 in embedded mode",
        ge=0,
        le=10,
    )
    SECURE_SSL_REDIRECT: bool = _variable(
        lambda: not is_embedded(),
        "1: pages requested over plain HTTP redirect to https, and calls of the APIs are refused (403). The "
        "proxy says by `X-Forwarded-Proto: https` that a request came over TLS",
        without="1, 0 in embedded mode",
    )
    REQUIRE_TWO_FACTOR: bool = _variable(
        lambda: not is_embedded(),
        "privileged people set up a second factor with an enrolment code before anything else; passwords set by "
        "others are changed at the first log-in",
        without="1, 0 in embedded mode",
    )
    SECURITY_CONTACT: values.Contacts = _variable(
        [],
        "contacts for reports of vulnerabilities, as URIs (`https://`, `mailto:`, `tel:`), comma-separated; "
        "served as `/.well-known/security.txt`",
        without="none, and no such file",
    )


class Limits(Group):
    """Limits."""

    RATE_LIMIT_PER_SECOND: int = _variable(
        50,
        "calls of each token and key in a second; 0: no limit. The admin can set another value for one account",
        ge=0,
        le=_BILLION,
    )
    RATE_LIMIT_PER_HOUR: int = _variable(
        20_000,
        "calls of each token and key in an hour; 0: no limit. The admin can set another value for one account",
        ge=0,
        le=_BILLION,
    )


class Installation(Group):
    """Installation."""

    DATA_DIR: str = _variable(
        "var",
        "folder of what the service writes beside the databases: photos, the map, and all data of embedded servers",
    )
    WORKERS: int = _variable(2, "processes of a worker", ge=1, le=512)
    TIME_ZONE: values.TimeZone = _variable(
        "America/Sao_Paulo", "IANA name; determines the offset of timestamps in answers"
    )
    WEBHOOK_ALLOW_LOOPBACK: values.EmbeddedOnly = _variable(
        is_embedded, "1: webhooks to this machine are allowed", without="1 in embedded mode, else 0", embedded_only=True
    )
    ALLOW_PUBLIC_EMBEDDED: bool = _variable(
        False,
        "1 allows another `HOST` in embedded mode, which has no required second factor, cookies without TLS, and "
        "webhooks to this machine",
        embedded_only=True,
    )


class Messages(Group):
    """E-mail and Web Push."""

    EMAIL_URL: values.EmailUrl = _variable(
        "",
        "the mail server: `smtp+starttls://host:587`, `smtps://host:465`, each with `USER:PASSWORD@` before the "
        "host, or `smtp://host:25` without encryption. User and password are percent-encoded. See *E-mail*",
        without="none: nothing is sent",
        is_secret=True,
    )
    DEFAULT_FROM_EMAIL: values.Sender = _variable(
        "", "sender of e-mails, such as `Rota <rota@example.com>`; required with `EMAIL_URL`"
    )
    VAPID_PRIVATE_KEY: values.VapidKey = _variable(
        "",
        "the key with which drivers are told of new offers by Web Push while the page is closed: `private_key` of"
        " `manage.py vapid_key`. A new key ends all subscriptions. Push services are told `DEFAULT_FROM_EMAIL`, or "
        "else `SITE_URL`, as whom to ask",
        without="none: no Web Push",
        is_secret=True,
    )

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> "Messages":
        if self.EMAIL_URL and not self.DEFAULT_FROM_EMAIL:
            raise ValueError("DEFAULT_FROM_EMAIL is not set: the sender of e-mails, such as Rota <rota@example.com>")
        return self


class Observability(Group):
    """Logs, metrics and traces."""

    LOG_FORMAT: Literal["line", "json"] = _variable(
        "line", "`line`, or `json`: each record is one JSON object; see [monitoring.md](monitoring.md#logs)"
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = _variable(
        "INFO", "DEBUG, INFO, WARNING, ERROR or CRITICAL"
    )
    METRICS_TOKEN: values.BearerToken = _variable(
        "",
        "Bearer token of Prometheus for `/metrics`, at least 32 characters without spaces; see "
        "[monitoring.md](monitoring.md)",
        without="none: there is no such page",
        is_secret=True,
    )
    OTEL_EXPORTER_OTLP_ENDPOINT: values.CollectorUrl = _variable(
        "",
        "collector of traces, such as `http://otel-collector:4318`; see "
        "[monitoring.md](monitoring.md#traces-and-error-reports)",
        without="none: no traces",
        is_secret=True,
    )
    SENTRY_DSN: values.SentryUrl = _variable(
        "",
        "where errors are reported; see [monitoring.md](monitoring.md#traces-and-error-reports)",
        without="none",
        is_secret=True,
    )


class Geography(Group):
    """Maps and routes."""

    ROUTING_URL: values.BaseUrl = _variable(
        "",
        "URL of a routing engine, for prices and arrival times; without an answer within 2 s the geodesic "
        "distance is used",
        without="geodesic distance",
        is_secret=True,
    )
    ROUTING_ENGINE: Literal["osrm", "valhalla"] = _variable(
        "osrm",
        "what is at `ROUTING_URL`: `osrm` (one profile for both vehicles) or `valhalla` (costing `motorcycle` or "
        "`auto`)",
    )
    GEOCODER_URL: values.GeocoderUrl = _variable(
        "",
        "https URL of a server with the search of Nominatim (`/search`) or Photon (`/api`), in embedded mode also http "
        "on this machine. It gets the addresses of drop-offs that are sent without coordinates, and what staff look "
        "for; see *Addresses* in docs/operations.md. Without it they are looked for in imported addresses",
        without="`manage.py addresses import`",
        is_secret=True,
    )
    SERVICE_AREA: values.Boxes = _variable(
        "",
        "boxes within which points are served, in degrees: `south,west,north,east; south,west,north,east`",
        without="Brazil",
    )
    MAP_TILE_URL: values.TileUrl = _variable(
        "",
        "a tile server that is used instead of the map file, such as `https://tile.example.com/{z}/{x}/{y}.png`; "
        "follow its terms of use",
        without="none: `map.pmtiles` in `DATA_DIR`; see *Maps*",
    )
    MAP_ATTRIBUTION: str = _variable("", "attribution of the map")


class Dispatch(Group):
    """Dispatch."""

    FAILURE_PHOTOS: bool = _variable(
        False, "drivers take a photo where a place is closed or an address is not found (`true` or `false`)"
    )
    OFFER_LEAD: float = _variable(
        10,
        "minutes before a scheduled delivery is ready that it is offered at the latest; earlier where drivers are far",
        ge=10,
        le=60,
    )
    OFFER_TTL: float = _variable(60, "minutes until an offer expires that no driver has accepted", ge=0.01, le=525_600)


class OrderIntegration(Group):
    """Order integration."""

    SERVICE_ALIASES: values.ServiceAliases = _variable(
        [],
        "further names of the services of an order, as `brand=base`, comma-separated: sellers may send the brand's "
        "name; answers have the service's",
        without="none: `base`, `next` and `turbo` only",
    )
    INVOICE_PATHS: values.PathSegments = _variable(
        [],
        "further path segments beside `marketplace` to which sellers may send invoices, comma-separated: `brand` "
        "opens `/api/integration/invoices/brand`",
        without="none",
    )


class Retention(Group):
    """Personal data and photos."""

    FORGET_DELIVERY_DAYS: int = _variable(
        180,
        "people in deliveries and orders of shops are anonymised so many days after the end, in open orders of shops "
        "after their last change, see [personal-data.md](personal-data.md); 0: never",
        ge=0,
        le=36_500,
    )
    PROOF_S3_BUCKET: str = _variable("", "bucket of the photos; see *Photos*", without="none: `proofs` in `DATA_DIR`")


GROUPS: tuple[type[Group], ...] = (
    Servers, Keys, Web, Limits, Installation, Messages, Observability, Geography, Dispatch, OrderIntegration, Retention,
)  # fmt: skip  # a list of names
VARIABLES: dict[str, FieldInfo] = {name: field for group in GROUPS for name, field in group.model_fields.items()}


def refuse_bad_environment() -> None:
    """Raise StartRefused naming all problems of this process's environment."""
    _refuse(problems())


def refuse_embedded() -> None:
    """Raise StartRefused if neither DATABASE_URL nor REDIS_URL is set, for processes that do not start the servers."""
    if is_embedded():
        _refuse(
            ["DATABASE_URL and REDIS_URL are not set: production needs both, and `make run` starts servers of its own"]
        )


def refuse_public_embedded(host: str) -> None:
    """Raise StartRefused if embedded mode would listen for other machines, unless ALLOW_PUBLIC_EMBEDDED is set."""
    if is_embedded() and not _is_loopback(host) and not Installation().ALLOW_PUBLIC_EMBEDDED:
        _refuse([f"HOST={host} {_PUBLIC}"])


def problems() -> list[str]:
    """One sentence for each value that is refused. No sentence repeats a secret."""
    found = []
    for group in GROUPS:
        try:
            group()
        except ValidationError as error:
            found += [_sentence(group, dict(each)) for each in error.errors(include_url=False)]
    return found


def misspelt() -> list[str]:
    """A sentence for each variable that is none of this service but nearly the name of one that is not set."""
    found = []
    for name in sorted(os.environ):
        if name not in VARIABLES and (near := get_close_matches(name, VARIABLES, n=1, cutoff=_SIMILAR)):
            (meant,) = near
            if meant not in os.environ:
                found.append(f"{name} is not a variable of Rota and has no effect: the nearest is {meant}")
    return found


def _sentence(group: type[Group], error: dict[str, Any]) -> str:
    name, *place = error["loc"] or [""]
    reason = error["msg"].removeprefix("Value error, ")
    if not name or name not in group.model_fields:  # of a model
        return str(reason)
    field = group.model_fields[name]
    which = f" (value {place[0] + 1})" if place and "," in os.environ[name] else ""
    shown = f" '{os.environ[name][:_MAX_SHOWN]}'" if field.repr and os.environ.get(name) else ""
    return f"{name}{which}{shown}: {reason} ({field.description})".replace("\n", " ")


def _refuse(found: list[str]) -> None:
    if found:
        raise StartRefused("\n".join(["Rota does not start in this environment:", *(f"  {text}" for text in found)]))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
