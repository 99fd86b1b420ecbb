"""Settings. What varies between installations comes from the environment."""

import logging
import sys
from datetime import timedelta
from email.utils import parseaddr
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import django_stubs_ext
from csp.constants import NONE, SELF
from django.http import HttpRequest
from django.templatetags.static import static

from common.redis_url import Sentinels
from config import environment, proof_storage
from config.database import from_url, with_deadlines
from config.env import BASE_DIR, data_dir, is_embedded
from config.env import VERSION as VERSION  # noqa: PLC0414  # a setting
from config.environment_values import MAIL_PORTS
from config.monitoring import logs
from delivery.geo import service_area

django_stubs_ext.monkeypatch()
environment.refuse_bad_environment()

EMBEDDED = is_embedded()
DEBUG = False  # its pages show code and settings; errors are in the log

_servers, _keys, _web, _limits = environment.Servers(), environment.Keys(), environment.Web(), environment.Limits()
_installation, _messages = environment.Installation(), environment.Messages()
_observability, _geography = environment.Observability(), environment.Geography()
_dispatch, _retention = environment.Dispatch(), environment.Retention()
_order_integration = environment.OrderIntegration()
_defaults: dict[str, str] = {}
if EMBEDDED:
    from dev import embedded  # its packages are absent in production

    _defaults = embedded.environment()

# Former keys still verify what they signed.
SECRET_KEY, *SECRET_KEY_FALLBACKS = _keys.SECRET_KEY or [_defaults["SECRET_KEY"]]
CREDENTIALS_KEYS = _keys.CREDENTIALS_KEYS or [_defaults["CREDENTIALS_KEYS"]]
ALLOWED_HOSTS = _web.ALLOWED_HOSTS or _defaults["ALLOWED_HOSTS"].split(",")

# --- Application -----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # before the admin, whose templates it replaces
    "unfold.contrib.filters",
    "unfold.contrib.import_export",  # before the package whose templates it replaces
    "import_export",
    "config.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "pgtrigger",
    "pghistory",
    "rest_framework",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_filters",
    "config",
    "access",
    "common",
    "common.mail",
    "panel",
    "delivery",
    "integration",
]
if EMBEDDED:
    INSTALLED_APPS.append("dev")  # its commands

MIDDLEWARE = [
    "config.middleware.RequestIdMiddleware",  # first, so that every response and log record has the id
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.ContentSecurityPolicyMiddleware",  # above WhiteNoise, so that static files have a policy too
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.NoStoreMiddleware",  # below WhiteNoise: only static files may be cached
    "config.middleware.PageSessionMiddleware",
    "config.middleware.PageLocaleMiddleware",
    "config.middleware.LimitMiddleware",  # below the locale, because it renders pages
    "config.middleware.RateLimitMiddleware",
    "config.refused_calls.RefusedCallMiddleware",
    "config.refused_calls.PlainHttpMiddleware",  # within the former, which records its refusals
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.middleware.PageUserMiddleware",
    "config.middleware.VersionMiddleware",
    "access.sessions.SessionLifetimeMiddleware",
    "config.middleware.PageMessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "access.middleware.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Length and a list of guessable passwords, no rules of composition (NIST SP 800-63B).
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "access.passwords.GuessablePasswordValidator"},
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"  # fallback language
LANGUAGES = [("pt-br", "Português"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
USE_I18N = True
USE_TZ = True
TIME_ZONE = _installation.TIME_ZONE

STATIC_URL = "/static/"
# Empty files in place of scripts that Unfold has on each page and nothing here uses, 239 kB.
STATICFILES_DIRS = [BASE_DIR / "config" / "unused"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.npm_files.NpmFinder",
]
# Serves files from the packages, so that collectstatic is not needed.
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False  # other sites do not need them

# --- Log-in and second factor -----------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "panel:work"
ACCOUNT_ADAPTER = "access.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = False
# `access.throttle` limits attempts instead: allauth counts by Host header, in a cache that evicts counters.
ACCOUNT_RATE_LIMITS = False
ACCOUNT_FORMS = {
    "login": "access.forms.LoginForm",
    "change_password": "access.forms.ChangePasswordForm",  # nosec B105  # pragma: allowlist secret  # a class
    "user_token": "access.forms.UserTokenForm",  # nosec B105  # a class
    "reset_password": "access.forms.ResetPasswordForm",  # nosec B105  # pragma: allowlist secret  # a class
    "reset_password_from_key": "access.forms.ResetPasswordKeyForm",  # nosec B105  # pragma: allowlist secret  # a class
}
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # strangers could have messages sent to anybody
PASSWORD_RESET_TIMEOUT = 60 * 60
TRUSTED_PROXIES = _web.TRUSTED_PROXIES
MFA_ADAPTER = "access.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Rota"
MFA_FORMS = {
    "authenticate": "access.forms.AuthenticateForm",
    "reauthenticate": "access.forms.ReauthenticateForm",
    "activate_totp": "access.forms.ActivateTOTPForm",
}
# Privileged users have to set up a second factor first, with an enrolment code, and to change a password that somebody
# else has set.
REQUIRE_TWO_FACTOR = _web.REQUIRE_TWO_FACTOR

SESSION_COOKIE_AGE = 12 * 60 * 60  # a working day, counted from the log-in
SESSION_IDLE_SECONDS = 60 * 60
# With this prefix browsers accept the cookies only over TLS and only from this host.
_COOKIE_PREFIX = "" if EMBEDDED else "__Host-"
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = not EMBEDDED
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrftoken"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = not EMBEDDED
CSRF_COOKIE_SAMESITE = "Lax"
DRIVER_COOKIE_NAME = f"{_COOKIE_PREFIX}driver"
PERSON_CHANGED_COOKIE_NAME = f"{_COOKIE_PREFIX}person_changed"
LANGUAGE_COOKIE_NAME = f"{_COOKIE_PREFIX}language"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = not EMBEDDED
LANGUAGE_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # cookies are truncated at 4 KiB

# Holds the one-time codes of the last 30 s, so that none is accepted twice. In PostgreSQL, so that all processes share
# it and an outage of Redis does not matter. The default of 300 entries could evict a code too early.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
}

# --- Servers ---------------------------------------------------------------------------------------------------------

_URLS = {"default": _servers.DATABASE_URL or _defaults["DATABASE_URL"], "replica": _servers.DATABASE_REPLICA_URL}
DATABASES: dict[str, dict[str, Any]] = {
    alias: with_deadlines(
        from_url(url),
        # Its default for the web server is set in `config.server.rsgi`.
        statement_seconds=_servers.DATABASE_STATEMENT_SECONDS,
        connect_seconds=2 if alias == "replica" else 5,
    )
    for alias, url in _URLS.items()
    if url
}
for _database in DATABASES.values():
    # Statements are prepared where `common.postgresql.prepared` asks for it, not after so many executions of a text.
    _database["OPTIONS"]["prepare_threshold"] = sys.maxsize if _servers.DATABASE_PREPARE else None
    # Such a cursor outlives its transaction, after which a pooler gives the connection to others. Lists are bounded.
    _database["DISABLE_SERVER_SIDE_CURSORS"] = True
    # Web processes keep theirs (`for_web_process`).
    _database["CONN_MAX_AGE"] = 60
    _database["CONN_HEALTH_CHECKS"] = True  # a restarted PostgreSQL costs no request

# A standby is not connected to, whichever address leads to it. With several hosts the one that can write is found.
DATABASES["default"]["OPTIONS"].setdefault("target_session_attrs", "read-write")

# Apps whose tables may be read from a replica, in answers that may be some seconds old (`common.postgresql.replica`).
REPLICA_APPS = {"delivery", "integration", "mail"}
CHANGED_COOKIE_NAME = f"{_COOKIE_PREFIX}changed"
if "replica" in DATABASES:
    DATABASES["replica"]["TEST"] = {"MIRROR": "default"}
    # A promoted replica, or another server than a replica, is not connected to.
    DATABASES["replica"]["OPTIONS"].setdefault("target_session_attrs", "standby")
    DATABASE_ROUTERS = ["common.postgresql.replica.Router"]
    MIDDLEWARE.append("config.middleware.ChangedCookieMiddleware")

REDIS_URL = _servers.REDIS_URL or _defaults["REDIS_URL"]

# --- HTTP ------------------------------------------------------------------------------------------------------------

# Behind a proxy that ends TLS, which is how production runs.
SECURE_PROXY_SSL_HEADER = None if EMBEDDED else ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = not EMBEDDED and _web.SECURE_SSL_REDIRECT
# Pages redirect to https. API calls over plain HTTP are refused (`PlainHttpMiddleware`): a redirect would hide that the
# token was sent in clear text. Probes come from within, without the proxy that ends TLS.
SECURE_REDIRECT_EXEMPT = [r"(?i)^api", r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 0 if EMBEDDED else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SILENCED_SYSTEM_CHECKS = [
    "security.W021",  # preloading is for the owner of the domain to decide: it holds for all of it, for months
]
SECURE_REFERRER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS = [_web.SITE_URL.rstrip("/")] if _web.SITE_URL else []
X_FRAME_OPTIONS = "DENY"

# Where weaknesses are reported, as URIs; served as security.txt (RFC 9116). Empty: there is no such file.
SECURITY_CONTACT = _web.SECURITY_CONTACT

# Vector tiles (PMTiles) that browsers draw maps with, see *Maps* in docs/operations.md; without the file maps have no
# background. A tile server, such as https://tile.example.com/{z}/{x}/{y}.png, takes precedence.
MAP_FILE = data_dir() / "map.pmtiles"
MAP_TILE_URL = _geography.MAP_TILE_URL
MAP_ATTRIBUTION = _geography.MAP_ATTRIBUTION
# Where the map file is copied from (`delivery.streets`): the map of the world that Protomaps makes of each day.
MAP_SOURCE_URL = "https://build.protomaps.com/{day}.pmtiles"
# Used where there is neither, once the rules of dispatch say so (`DispatchRules.streets_from_openstreetmap`).
OPENSTREETMAP_TILE_URL = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"

# Of pages. `config.site` extends it for the admin; answers of the APIs have another (`config.middleware`).
_tiles = urlsplit(MAP_TILE_URL.replace("{s}", "*"))  # the subdomain, which Leaflet chooses
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "img-src": [SELF, "data:", *([f"{_tiles.scheme}://{_tiles.netloc}"] if MAP_TILE_URL else [])],
        "connect-src": [SELF],
        "manifest-src": [SELF],  # of the driver's app
        "object-src": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- Admin -----------------------------------------------------------------------------------------------------------


def _static(path: str, _request: HttpRequest) -> str:
    return static(path)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Rota",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": partial(_static, "panel/icon.svg")}],
    "SITE_HEADER": "Rota",
    # Unfold would write the colours as an inline style, which the policy forbids; they are in config/admin.css.
    "COLORS": lambda _request: {},
    "STYLES": [partial(_static, "config/admin.css")],
    "SCRIPTS": [partial(_static, "panel/theme.js"), partial(_static, "config/admin.js")],
    "DASHBOARD_CALLBACK": "config.start_page.context",
}

# --- E-mail ----------------------------------------------------------------------------------------------------------

# Where people reach this service, without a slash at the end: for links in messages, which workers write.
SITE_URL = (
    _web.SITE_URL or (f"http://127.0.0.1:{_web.PORT}" if EMBEDDED else f"https://{ALLOWED_HOSTS[0].lstrip('.')}")
).rstrip("/")
# The address of an error code's page, without the code. Relative unless SITE_URL is set: clients resolve it against the
# address that they called, which is right where an assumed one may be wrong.
PROBLEM_TYPES = f"{_web.SITE_URL}/docs/errors/"
# Empty: nothing is sent, and pages show the links that would have been.
EMAIL_URL = _messages.EMAIL_URL
_mail_server = urlsplit(EMAIL_URL)
EMAIL_HOST, EMAIL_PORT = _mail_server.hostname or "", _mail_server.port or MAIL_PORTS.get(_mail_server.scheme, 25)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_mail_server.username or ""), unquote(_mail_server.password or "")
# Both kinds of encryption check the server's certificate.
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail_server.scheme == "smtp+starttls", _mail_server.scheme == "smtps"
DEFAULT_FROM_EMAIL = _messages.DEFAULT_FROM_EMAIL
EMAIL_TIMEOUT = 10  # seconds for each operation of the socket; `common.mail.sending` limits the whole message

# --- Files -----------------------------------------------------------------------------------------------------------

# Photos that drivers take: in a folder, or in a bucket of S3 if one is named (needs requirements-s3.lock). boto3 reads
# the credentials of the bucket, and AWS_ENDPOINT_URL_S3, from the environment.
PROOF_S3_BUCKET = _retention.PROOF_S3_BUCKET
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # not used
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "proofs": proof_storage.setting(bucket=PROOF_S3_BUCKET, folder=data_dir() / "proofs"),
}
# Older photos are deleted, counted in whole days.
PROOF_PHOTOS_KEPT = timedelta(days=90)

# --- Personal data ---------------------------------------------------------------------------------------------------

# When they are anonymised or deleted, see docs/personal-data.md; 0: never.
# After the end of a delivery or of a shop's order, of an open one of a shop after its last change.
FORGET_DELIVERY_DAYS = _retention.FORGET_DELIVERY_DAYS
FORGET_ORDER_DAYS = 1825  # after the creation of an order
FORGET_INVOICE_YEARS = 5  # full years after the one in which an invoice arrived
FORGET_POSITION_DAYS = 30  # of drivers

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],  # each area sets its own; IsAdminUser below refuses views that set none
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "config.openapi.schema.ApiSchema",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

# The description of both APIs, which `manage.py openapi` writes.
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Rota",
    "VERSION": "1",
    # The file is the same for every installation, so it cannot have the name or address of who runs this one.
    "CONTACT": {"name": "Whoever runs this installation"},
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    "DESCRIPTION": (
        "Same-day deliveries (immediate delivery, Bearer token) and orders of sellers (order integration, API key). "
        "The guide is at /docs/, each error code at /docs/errors/{code}."
    ),
    "SERVERS": [
        {"url": "/", "description": "This service. A test token uses the sandbox, a live one the live environment."}
    ],
    "TAGS": [
        {"name": "Immediate delivery", "description": "Quote, request, follow and cancel same-day deliveries."},
        {
            "name": "Find and read",
            "description": "Find deliveries, read everything about one, and what webhooks carried.",
        },
        {"name": "Connected shops", "description": "Where the platforms of connected shops post their orders."},
        {"name": "Sandbox", "description": "Move the deliveries of test tokens."},
        # Of its own, because generators write a file for each tag, and one for the webhooks.
        {"name": "Webhooks", "description": "What this service sends to your endpoint."},
        {"name": "Order integration", "description": "Freight by postcode, orders, tracking and invoices of a seller."},
        # After the others in the alphabet, because generated documentation begins with the first one there.
        {"name": "Tracking by carriers", "description": "What the carrier of an order reports."},
    ],
    "WEBHOOKS": ["delivery.api.examples.WEBHOOK", "integration.api.webhook.WEBHOOK"],
    "PREPROCESSING_HOOKS": ["config.openapi.hooks.by_definition"],
    "POSTPROCESSING_HOOKS": ["config.openapi.hooks.share"],
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "CAMELIZE_NAMES": True,  # parameters of paths
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # it would repeat the values
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}

# --- Celery ----------------------------------------------------------------------------------------------------------

_sentinels = Sentinels.of(REDIS_URL)
# In the forms that kombu uses.
CELERY_BROKER_URL = _sentinels.broker_url if _sentinels else REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Tasks are only wake-ups, so publishing does not wait: beat sends the next within five seconds.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "max_retries": 0,
    # A worker leaves a server that is silent for so long beyond the second after which it says that there is no task.
    "health_check_interval": 1,
    # A message taken by a worker that died is redelivered after a minute; meanwhile beat sends others.
    "visibility_timeout": 60,
}
if _sentinels:
    _deadlines = {"socket_connect_timeout": 1, "socket_timeout": 1}
    CELERY_BROKER_TRANSPORT_OPTIONS |= {
        "master_name": _sentinels.master,
        "sentinel_kwargs": {**_deadlines, **_sentinels.sentinel_options},
    }
if REDIS_URL.startswith("rediss"):
    CELERY_BROKER_USE_SSL = {"ssl_cert_reqs": "required"}  # by kombu's default any certificate would do
# What Redis refuses, such as a write at a replica, is a connection that is lost, and does not end a worker.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
# Celery closes no connection to PostgreSQL before and after a task: `config.celery` does, when it is old.
CELERY_DB_REUSE_MAX = sys.maxsize
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- Delivery --------------------------------------------------------------------------------------------------------

ROUTING_URL = _geography.ROUTING_URL  # a routing engine, such as http://osrm:5000; empty: geodesic distance
ROUTING_ENGINE = _geography.ROUTING_ENGINE  # what is at ROUTING_URL: osrm or valhalla
# A server with the search of Nominatim or Photon, which locates addresses; empty: people give coordinates.
GEOCODER_URL = _geography.GEOCODER_URL
FAILURE_PHOTOS = _dispatch.FAILURE_PHOTOS
OFFER_LEAD = timedelta(minutes=_dispatch.OFFER_LEAD)  # between the offer of a scheduled delivery and its pickup
OFFER_TTL = timedelta(minutes=_dispatch.OFFER_TTL)  # minutes until an untaken offer expires
# A driver's phone stays logged in for so long; a dispatcher can end it earlier.
DRIVER_SESSION = timedelta(days=30)
# Positions that a driver could only have reached faster are dropped.
DRIVER_MAX_SPEED_KMH = 200
# The key of `manage.py vapid_key`, and whom push services may ask: a mailto: or https: URL. Empty: no Web Push.
VAPID_PRIVATE_KEY = _messages.VAPID_PRIVATE_KEY
VAPID_SUBJECT = f"mailto:{parseaddr(DEFAULT_FROM_EMAIL)[1]}" if DEFAULT_FROM_EMAIL else SITE_URL
SERVICE_AREA = service_area.parse(_geography.SERVICE_AREA)  # boxes of coordinates; empty: Brazil
MAX_BODY_BYTES = 256 * 1024
# Calls of each token and key, unless the admin says otherwise for an account; 0 is no limit.
# Services of orders by the operator's names for them.
SERVICE_ALIASES: dict[str, str] = dict(pair.split("=") for pair in _order_integration.SERVICE_ALIASES)
INVOICE_PATHS = _order_integration.INVOICE_PATHS
RATE_LIMIT_PER_SECOND = _limits.RATE_LIMIT_PER_SECOND
RATE_LIMIT_PER_HOUR = _limits.RATE_LIMIT_PER_HOUR
# Of each seller, unless the admin says otherwise for one; 0 is no limit.
INVOICE_QUOTA_MB = 2048  # of 1,048,576 bytes, kept
INVOICES_PER_DAY = 5000  # new ones in 24 hours

WEBHOOK_ALLOW_LOOPBACK = _installation.WEBHOOK_ALLOW_LOOPBACK

# --- Monitoring ------------------------------------------------------------------------------------------------------

# The Bearer token with which Prometheus reads /metrics; empty: nothing is counted for it and there is no such page.
METRICS_TOKEN = _observability.METRICS_TOKEN

# Where traces are sent, by OTLP over HTTP, and errors are reported (both need requirements-observability.lock); empty:
# nothing is.
OTEL_ENDPOINT = _observability.OTEL_EXPORTER_OTLP_ENDPOINT
SENTRY_DSN = _observability.SENTRY_DSN
if OTEL_ENDPOINT:
    MIDDLEWARE.insert(1, "config.monitoring.tracing.TraceMiddleware")  # within the request's id

# --- Logging ---------------------------------------------------------------------------------------------------------

logging.captureWarnings(True)
LOGGING = logs.configuration(level=_observability.LOG_LEVEL)
