"""Settings. What varies between installations comes from the environment."""

import logging
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
import drf_spectacular_sidecar
import leaflet

from common.replica import ALIAS as REPLICA
from config import admin_appearance, checks, content_security_policy, logs, mail_server, proof_storage
from config.database import with_deadlines
from config.env import BASE_DIR, data_dir, env, is_embedded
from config.version import VERSION as VERSION  # noqa: PLC0414  # a setting
from delivery import service_area

django_stubs_ext.monkeypatch()
checks.refuse_bad_environment()

EMBEDDED = is_embedded()
DEBUG = env.bool("DEBUG", False)

_defaults: dict[str, str] = {}
if EMBEDDED:
    from config.local import embedded  # its packages are absent in production

    _defaults = embedded.environment()


def _required(name: str) -> str:
    """Value of a variable that production has to set (`config.checks`) and that embedded mode has a default for."""
    return env.str(name, "") or _defaults[name]


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


SECRET_KEY = _required("SECRET_KEY")
CREDENTIALS_KEYS = _items(_required("CREDENTIALS_KEYS"))
ALLOWED_HOSTS = _items(_required("ALLOWED_HOSTS"))

# Former values of SECRET_KEY, which still verify what they signed.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [], subcast=str.strip)

# --- Application -----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # before the admin, whose templates it replaces
    "unfold.contrib.filters",
    "config.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "pgtrigger",
    "rest_framework",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "django_filters",
    "config",
    "documentation",
    "access",
    "privacy",
    "mail",
    "panel",
    "driver_app",
    "tracking",
    "delivery",
    "integration",
]

MIDDLEWARE = [
    "config.middleware.RequestIdMiddleware",  # first, so that every response and log record has the id
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.ContentSecurityPolicyMiddleware",  # above WhiteNoise, so that static files have a policy too
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.NoStoreMiddleware",  # below WhiteNoise: only static files may be cached
    "config.page_middleware.PageSessionMiddleware",
    "config.middleware.PageLocaleMiddleware",
    "config.middleware.UnreadBodyMiddleware",  # below the locale, because it renders pages
    "config.middleware.LimitMiddleware",  # likewise
    "config.middleware.RateLimitMiddleware",
    "config.refused_calls.RefusedCallMiddleware",
    "config.refused_calls.PlainHttpMiddleware",  # within the former, which records its refusals
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.page_middleware.PageUserMiddleware",
    "config.page_middleware.VersionMiddleware",
    "access.sessions.SessionLifetimeMiddleware",
    "config.page_middleware.PageMessageMiddleware",
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
TIME_ZONE = env.str("TIME_ZONE", "America/Sao_Paulo")

STATIC_URL = "/static/"
# The packages' files only: as an app Leaflet requires GDAL, and the other brings a second viewer that is not used.
STATICFILES_DIRS = [
    ("leaflet", Path(leaflet.__file__).parent / "static" / "leaflet"),
    ("swagger-ui", Path(drf_spectacular_sidecar.__file__).parent / "static/drf_spectacular_sidecar/swagger-ui-dist"),
]
# Serves files from the packages, so that collectstatic is not needed.
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False  # other sites do not need them

# --- Log-in and second factor -----------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "panel:home"
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
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", 0 if EMBEDDED else 1)
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
REQUIRE_TWO_FACTOR = env.bool("REQUIRE_TWO_FACTOR", not EMBEDDED)

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

_ENGINES = {"default": "common.postgresql", REPLICA: "common.replica"}
_URLS = {"default": _required("DATABASE_URL"), REPLICA: env.str("DATABASE_REPLICA_URL", "")}
DATABASES: dict[str, dict[str, Any]] = {
    alias: with_deadlines(
        dict(dj_database_url.parse(url, engine=_ENGINES[alias])),
        # Its default for the web server is set in `config.rsgi`.
        statement_seconds=env.float("DATABASE_STATEMENT_SECONDS", 0),
        connect_seconds=2 if alias == REPLICA else 5,
    )
    for alias, url in _URLS.items()
    if url
}
for _database in DATABASES.values():
    # Statements are prepared where `common.postgresql.prepared` asks for it, not after so many executions of a text.
    _database["OPTIONS"]["prepare_threshold"] = sys.maxsize if env.bool("DATABASE_PREPARE", True) else None
    # Such a cursor outlives its transaction, after which a pooler gives the connection to others. Lists are bounded.
    _database["DISABLE_SERVER_SIDE_CURSORS"] = True
    _database["CONN_HEALTH_CHECKS"] = True  # a restarted PostgreSQL costs no request

# Apps whose tables may be read from a replica, in answers that may be some seconds old (`common.replica`).
REPLICA_APPS = {"delivery", "integration", "mail"}
CHANGED_COOKIE_NAME = f"{_COOKIE_PREFIX}changed"
if REPLICA in DATABASES:
    DATABASES[REPLICA]["TEST"] = {"MIRROR": "default"}
    DATABASE_ROUTERS = ["common.replica.router.Router"]
    MIDDLEWARE.append("config.middleware.ChangedCookieMiddleware")

REDIS_URL = _required("REDIS_URL")

# --- HTTP ------------------------------------------------------------------------------------------------------------

# Behind a proxy that ends TLS, which is how production runs.
SECURE_PROXY_SSL_HEADER = None if EMBEDDED else ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = not EMBEDDED and env.bool("SECURE_SSL_REDIRECT", True)
# Pages redirect to https. API calls over plain HTTP are refused (`PlainHttpMiddleware`): a redirect would hide that the
# token was sent in clear text. Probes come from within, without the proxy that ends TLS.
SECURE_REDIRECT_EXEMPT = [r"(?i)^api", r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 0 if EMBEDDED else env.int("SECURE_HSTS_SECONDS", 31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SILENCED_SYSTEM_CHECKS = [
    "security.W021",  # preloading is for the owner of the domain to decide: it holds for all of it, for months
]
SECURE_REFERRER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [], subcast=str.strip)
X_FRAME_OPTIONS = "DENY"

# Where weaknesses are reported, as URIs; served as security.txt (RFC 9116). Empty: there is no such file.
SECURITY_CONTACT: list[str] = env.list("SECURITY_CONTACT", [], subcast=str.strip)

# Vector tiles (PMTiles) that maps are drawn with, written by `manage.py fetch_map`; without the file maps have no
# background. A tile server, such as https://tile.example.com/{z}/{x}/{y}.png, takes precedence.
MAP_FILE = Path(env.str("MAP_FILE", "") or data_dir() / "map.pmtiles")
MAP_TILE_URL = env.str("MAP_TILE_URL", "")
MAP_ATTRIBUTION = env.str("MAP_ATTRIBUTION", "")

CONTENT_SECURITY_POLICY = content_security_policy.policy(tiles=MAP_TILE_URL)

UNFOLD = admin_appearance.UNFOLD

# --- E-mail ----------------------------------------------------------------------------------------------------------

# Where people reach this service, without a slash at the end: for links in messages, which workers write.
SITE_URL = (
    env.str("SITE_URL", "")
    or (f"http://127.0.0.1:{env.int('PORT', 8000)}" if EMBEDDED else f"https://{ALLOWED_HOSTS[0].lstrip('.')}")
).rstrip("/")
# Empty: nothing is sent, and pages show the links that would have been.
EMAIL_URL = env.str("EMAIL_URL", "")
_mail_server = mail_server.parse(EMAIL_URL)
EMAIL_HOST, EMAIL_PORT = _mail_server.host, _mail_server.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail_server.user, _mail_server.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail_server.starttls, _mail_server.tls
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "")
EMAIL_TIMEOUT = 10  # seconds for each operation of the socket; `mail.sending` limits the whole message

# --- Files -----------------------------------------------------------------------------------------------------------

# Photos that drivers take: in a folder, or in a bucket of S3 if one is named (needs requirements-s3.lock). boto3 reads
# the credentials of the bucket from the environment.
PROOF_S3_BUCKET = env.str("PROOF_S3_BUCKET", "")
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # not used
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "proofs": proof_storage.setting(
        bucket=PROOF_S3_BUCKET,
        endpoint=env.str("PROOF_S3_URL", ""),
        folder=Path(env.str("PROOF_FOLDER", "") or data_dir() / "proofs"),
    ),
}
# Older photos are deleted, counted in whole days.
PROOF_PHOTOS_KEPT = timedelta(days=env.int("PROOF_PHOTO_DAYS", 90))

# --- Personal data ---------------------------------------------------------------------------------------------------

# When they are anonymised or deleted, see docs/personal-data.md; 0: never.
FORGET_DELIVERY_DAYS = env.int("FORGET_DELIVERY_DAYS", 180)  # after the end of a delivery
FORGET_ORDER_DAYS = env.int("FORGET_ORDER_DAYS", 1825)  # after the creation of an order
FORGET_INVOICE_YEARS = env.int("FORGET_INVOICE_YEARS", 5)  # full years after the one in which an invoice arrived
FORGET_POSITION_DAYS = env.int("FORGET_POSITION_DAYS", 30)  # of drivers

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],  # each area sets its own; IsAdminUser below refuses views that set none
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "documentation.schema.generator.DescribedSchema",  # imported by `manage.py openapi` only
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

# --- Celery ----------------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)  # the scheme that kombu uses
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Tasks are only wake-ups, so publishing does not wait: beat sends the next within two seconds.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "max_retries": 0,
    # A message taken by a worker that died is redelivered after a minute; meanwhile beat sends others.
    "visibility_timeout": 60,
}
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- Delivery --------------------------------------------------------------------------------------------------------

ROUTING_URL = env.str("ROUTING_URL", "")  # a routing engine, such as http://osrm:5000; empty: geodesic distance
ROUTING_ENGINE = env.str("ROUTING_ENGINE", "osrm")  # what is at ROUTING_URL: osrm or valhalla
# A server with the search of Nominatim, for finding pickup places by address; empty: people give coordinates.
GEOCODER_URL = env.str("GEOCODER_URL", "")
ROAD_FACTOR = env.float("ROAD_FACTOR", 1.3)  # road kilometres per kilometre of geodesic distance
# An engine without data of traffic gives the times of free streets. Motorcycles pass where cars wait.
ROUTING_TIME_FACTOR = {
    "MOTORCYCLE": env.float("ROUTING_TIME_FACTOR_MOTORCYCLE", 1.4),
    "CAR": env.float("ROUTING_TIME_FACTOR_CAR", 1.7),
}
# Arrival times: how fast a driver is on average where no routing engine says so, and minutes spent at each place.
SPEED_KMH = {
    "MOTORCYCLE": env.float("SPEED_KMH_MOTORCYCLE", 25),
    "CAR": env.float("SPEED_KMH_CAR", 20),
}
SERVICE_MINUTES_PICKUP = env.float("SERVICE_MINUTES_PICKUP", 4)
SERVICE_MINUTES_STOP = env.float("SERVICE_MINUTES_STOP", 3)
OFFER_TTL = timedelta(minutes=env.float("OFFER_TTL", 60))  # minutes until an untaken offer expires
DISPATCH_RADIUS_KM = env.float("DISPATCH_RADIUS_KM", 15)
# When a route counts as late, in minutes from the request.
LATE_WITHOUT_DRIVER = timedelta(minutes=env.float("LATE_WITHOUT_DRIVER_MINUTES", 10))
LATE_PICKUP = timedelta(minutes=env.float("LATE_PICKUP_MINUTES", 30))
LATE_PER_KM = timedelta(minutes=env.float("LATE_MINUTES_PER_KM", 4))  # after pickup, time at the doors included
POSITION_FRESH = timedelta(seconds=env.int("POSITION_FRESH_SECONDS", 120))
# A driver's phone stays logged in for so long; a dispatcher can end it earlier.
DRIVER_SESSION = timedelta(days=env.float("DRIVER_SESSION_DAYS", 30))
# Positions that a driver could only have reached faster are dropped.
DRIVER_MAX_SPEED_KMH = env.float("DRIVER_MAX_SPEED_KMH", 200)
# Share of a delivery's price that is the driver's, in percent; 0: drivers see no amounts.
DRIVER_SHARE_PERCENT = env.float("DRIVER_SHARE_PERCENT", 0)
# The key of `manage.py vapid_key`, and whom push services may ask: a mailto: or https: URL. Empty: no Web Push.
VAPID_PRIVATE_KEY, VAPID_SUBJECT = env.str("VAPID_PRIVATE_KEY", ""), env.str("VAPID_SUBJECT", "")
SERVICE_AREA = service_area.parse(env.str("SERVICE_AREA", ""))  # boxes of coordinates; empty: Brazil
MAX_BODY_BYTES = 256 * 1024
# Calls of each token and key, unless the admin says otherwise for an account; 0 is no limit.
RATE_LIMIT_PER_SECOND = env.int("RATE_LIMIT_PER_SECOND", 50)
RATE_LIMIT_PER_HOUR = env.int("RATE_LIMIT_PER_HOUR", 20_000)
# Of each seller, unless the admin says otherwise for one; 0 is no limit.
INVOICE_QUOTA_MB = env.int("INVOICE_QUOTA_MB", 2048)  # of 1,048,576 bytes, kept
INVOICES_PER_DAY = env.int("INVOICES_PER_DAY", 5000)  # new ones in 24 hours

WEBHOOK_ALLOW_LOOPBACK = env.bool("WEBHOOK_ALLOW_LOOPBACK", EMBEDDED)

# --- Monitoring ------------------------------------------------------------------------------------------------------

# The Bearer token with which Prometheus reads /metrics; empty: nothing is counted for it and there is no such page.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")

# Where traces are sent, by OTLP over HTTP, and errors are reported (both need requirements-observability.lock); empty:
# nothing is.
OTEL_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "")
SENTRY_DSN = env.str("SENTRY_DSN", "")
if OTEL_ENDPOINT:
    MIDDLEWARE.insert(1, "monitoring.tracing.TraceMiddleware")  # within the request's id

# --- Logging ---------------------------------------------------------------------------------------------------------

logging.captureWarnings(True)
LOGGING = logs.configuration(level=env.str("LOG_LEVEL", "INFO"), style=env.str("LOG_FORMAT", "line"))
