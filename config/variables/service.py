"""Variables of the installation: servers, keys, hosts, processes, HTTP, e-mail and logs."""

from config import value_checks
from config.variables.variable import Variable

_PAIR = "DATABASE_URL and REDIS_URL belong together: set both for production, neither for the embedded servers"

SERVICE = (
    Variable(
        "DATABASE_URL",
        "PostgreSQL, as `postgres://USER@HOST:5432/DATABASE` (or `postgresql://`), `:PASSWORD` behind the user. With "
        "both URLs the service runs in production mode",
        without="embedded server",
        check=value_checks.database_url,
        may_be_empty=True,
        required=_PAIR,
    ),
    Variable(
        "DATABASE_REPLICA_URL",
        "a streaming replica of `DATABASE_URL`, in the same form, from which web processes read lists, exports and "
        "reports; see *Read replica* in [deployment.md](deployment.md#read-replica)",
        without="none: everything is read from `DATABASE_URL`",
        check=value_checks.database_url,
        may_be_empty=True,
    ),
    Variable(
        "REDIS_URL",
        "Redis or Valkey, as `redis://:PASSWORD@HOST:6379/0`, `rediss://` or `unix://`",
        without="embedded server",
        check=value_checks.redis_url,
        may_be_empty=True,
        required=_PAIR,
    ),
    Variable(
        "SECRET_KEY",
        "Django's key, at least 50 characters",
        without="generated in `DATA_DIR`",
        in_production=value_checks.strong_key,
        required=value_checks.NEW_KEY,
    ),
    Variable(
        "SECRET_KEY_FALLBACKS",
        "former values of `SECRET_KEY`, comma-separated; see *Rotating keys*",
        in_production=value_checks.strong_keys,
    ),
    Variable(
        "CREDENTIALS_KEYS",
        "Fernet keys for tokens, signing secrets and second factors, comma-separated: the first encrypts, all "
        "decrypt; see *Rotating keys*",
        without="generated in `DATA_DIR`",
        check=value_checks.fernet_keys,
        may_be_empty=True,
        required=value_checks.NEW_FERNET_KEY,
    ),
    Variable(
        "ALLOWED_HOSTS",
        "host names served, comma-separated; `*` is refused in production",
        without="localhost, 127.0.0.1, [::1]",
        check=value_checks.hosts,
        may_be_empty=True,
        in_production=value_checks.named_hosts,
        required="the host names this service answers to, comma-separated, such as rota.example.com",
    ),
    Variable(
        "CSRF_TRUSTED_ORIGINS",
        "origins of pages behind a proxy, such as `https://rota.example.com`",
        check=value_checks.origins,
        may_be_empty=True,
    ),
    Variable(
        "DEBUG",
        "Django's error pages; refused in production",
        default="0",
        check=value_checks.boolean,
        in_production=value_checks.never_true(
            "is on, which shows code and settings to visitors: it is for the embedded mode only"
        ),
        embedded_only=True,
    ),
    Variable(
        "DATA_DIR",
        "folder of what the service writes beside the databases: photos, the map, and all data of embedded servers",
        default="var",
    ),
    Variable(
        "HOST",
        "address of the web server; one other than loopback is refused in embedded mode",
        default="127.0.0.1",
    ),
    Variable("PORT", "port of the web server", default="8000", check=value_checks.number(1, 65_535, whole=True)),
    Variable(
        "ALLOW_PUBLIC_EMBEDDED",
        "1 allows another `HOST` in embedded mode, which has no required second factor, cookies without TLS, and "
        "webhooks to this machine",
        default="0",
        check=value_checks.boolean,
        embedded_only=True,
    ),
    Variable(
        "SEED_DEMO",
        "1 lets `make run` put demo data, a superuser included, into an external database that is empty",
        default="0",
        without="0; always in embedded mode",
        check=value_checks.boolean,
        embedded_only=True,
    ),
    Variable("WEB_WORKERS", "processes of the web server", default="2", check=value_checks.number(1, 512, whole=True)),
    Variable("WORKERS", "processes of a worker", default="2", check=value_checks.number(1, 512, whole=True)),
    Variable(
        "WEB_THREADS",
        "concurrent requests in each web process, and its database connections. More of them wait for the "
        "interpreter instead of working: at 2, 3 and 4, 1,380, 1,310 and 1,230 calls of info-delivery per second",
        default="3",
        check=value_checks.number(1, 512, whole=True),
    ),
    Variable(
        "DATABASE_PREPARE",
        "0 where a connection pooler between the service and PostgreSQL does not support prepared statements "
        "(PgBouncer does from 1.21, with `max_prepared_statements`)",
        default="1",
        check=value_checks.boolean,
    ),
    Variable(
        "DATABASE_STATEMENT_SECONDS",
        "time limit of a database statement. If it is set, a lock is waited for 5 s at most, and a web process waits "
        "3 s longer for a server that does not answer. 0: no limit",
        without="15 for web processes, 0 for workers, migrations and commands",
        check=value_checks.number(0, 86_400),
    ),
    Variable(
        "TIME_ZONE",
        "IANA name; determines the offset of timestamps in answers",
        default="America/Sao_Paulo",
        check=value_checks.time_zone,
    ),
    Variable(
        "REQUIRE_TWO_FACTOR",
        "privileged people set up a second factor with an enrolment code before anything else; passwords set by "
        "others are changed at the first log-in",
        default="1",
        without="1, 0 in embedded mode",
        check=value_checks.boolean,
    ),
    Variable(
        "TRUSTED_PROXIES",
        "number of proxies in front, each of which appends the address it sees to `X-Forwarded-For`; the service "
        "must be reachable through them only",
        default="1",
        without="1, 0 in embedded mode",
        check=value_checks.number(0, 10, whole=True),
    ),
    Variable(
        "SECURE_SSL_REDIRECT",
        "1: pages requested over plain HTTP redirect to https, and calls of the APIs are refused (403). The "
        "proxy says by `X-Forwarded-Proto: https` that a request came over TLS",
        default="1",
        without="1, 0 in embedded mode",
        check=value_checks.boolean,
    ),
    Variable(
        "SECURE_HSTS_SECONDS",
        "duration of `Strict-Transport-Security` for this host and its subdomains",
        default="31536000",
        without="a year, none in embedded mode",
        check=value_checks.number(0, 1_000_000_000, whole=True),
    ),
    Variable(
        "SECURITY_CONTACT",
        "contacts for reports of vulnerabilities, as URIs (`https://`, `mailto:`, `tel:`), comma-separated; "
        "served as `/.well-known/security.txt`",
        without="none, and no such file",
        check=value_checks.contacts,
        may_be_empty=True,
    ),
    Variable(
        "EMAIL_URL",
        "the mail server: `smtp+starttls://host:587`, `smtps://host:465`, each with `USER:PASSWORD@` before the "
        "host, or `smtp://host:25` without encryption. User and password are percent-encoded. See *E-mail*",
        without="none: nothing is sent",
        check=value_checks.email_url,
        may_be_empty=True,
    ),
    Variable(
        "DEFAULT_FROM_EMAIL",
        "sender of e-mails, such as `Rota <rota@example.com>`; required with `EMAIL_URL`",
        check=value_checks.sender,
        may_be_empty=True,
    ),
    Variable(
        "SITE_URL",
        "address at which people reach the service, for links in e-mails, such as `https://rota.example.com`",
        without="the first of `ALLOWED_HOSTS` with https; `http://127.0.0.1:PORT` in embedded mode",
        check=value_checks.origin,
        may_be_empty=True,
    ),
    Variable(
        "WEBHOOK_ALLOW_LOOPBACK",
        "1: webhooks to this machine are allowed; embedded mode only",
        default="0",
        without="1 in embedded mode, else 0",
        check=value_checks.boolean,
        in_production=value_checks.never_true("is on, which is for the embedded mode only"),
        embedded_only=True,
    ),
    Variable(
        "METRICS_TOKEN",
        "Bearer token of Prometheus for `/metrics`, at least 32 characters; see [monitoring.md](monitoring.md)",
        without="none: there is no such page",
        check=value_checks.bearer_token,
        may_be_empty=True,
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "collector of traces, such as `http://otel-collector:4318`; see "
        "[monitoring.md](monitoring.md#traces-and-error-reports)",
        without="none: no traces",
        check=value_checks.needing("opentelemetry", value_checks.url("http", "https")),
        may_be_empty=True,
    ),
    Variable(
        "SENTRY_DSN",
        "where errors are reported; see [monitoring.md](monitoring.md#traces-and-error-reports)",
        without="none",
        check=value_checks.needing("sentry_sdk", value_checks.url("https", "http")),
        may_be_empty=True,
    ),
    Variable(
        "LOG_FORMAT",
        "`line`, or `json`: each record is one JSON object; see [monitoring.md](monitoring.md#logs)",
        default="line",
        check=value_checks.one_of("line", "json"),
    ),
    Variable(
        "LOG_LEVEL",
        "DEBUG, INFO, WARNING, ERROR or CRITICAL",
        default="INFO",
        check=value_checks.one_of("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    ),
)
