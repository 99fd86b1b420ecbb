"""Fixtures that every app's tests share."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import hypothesis
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import TransactionTestCase, override_settings
from django.test.client import ClientHandler
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.test import APIClient
from whitenoise.middleware import WhiteNoiseMiddleware

from common.api.rate_limit import limiter
from config.refused_calls import RECORDERS
from delivery.hours import models
from delivery.models import DispatchRules, Token, dispatch_rules
from tests import described_answers, empty_tables, programs, servers, smtp
from tests import service_hours as hours_of_tests
from tests.dispatch_rules import known
from tests.factories import TariffFactory, TokenFactory
from tests.smtp import Mailbox

# On a busy machine an example takes longer than the 200 ms of hypothesis; pytest limits the time of a whole test.
hypothesis.settings.register_profile("tests", deadline=None)
# Of mutants, where that a test fails is enough.
_unshrunk = [phase for phase in hypothesis.Phase if phase.name in {"explicit", "reuse", "generate"}]
hypothesis.settings.register_profile("unshrunk", deadline=None, phases=_unshrunk)
hypothesis.settings.load_profile("tests")


def pytest_sessionstart(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return
    from tests import derived  # with what collects texts, which workers do not load

    if reason := derived.stale():
        pytest.exit(reason, returncode=1)


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """A copy of the template for this process, in place of pytest-django's migrations."""
    connection.settings_dict["TEST"].update(servers.database())


@pytest.fixture(autouse=True, scope="session")
def _quick_password_hashes() -> Iterator[None]:
    """A hash of a real password takes a third of a second, longer than most tests of pages."""
    with override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher", *django_settings.PASSWORD_HASHERS]
    ):
        yield


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """The path of a program that a machine may lack. Without it the test is skipped, in CI it fails."""

    def find(name: str) -> str:
        if reason := programs.missing(name):
            (pytest.fail if programs.is_needed() else pytest.skip)(reason)
        return str(shutil.which(name))

    return find


@pytest.fixture
def token(db: None) -> Token:
    """A live token of a shop with a pickup point, and a motorcycle tariff for everybody."""
    TariffFactory.create()
    return TokenFactory.create()


@pytest.fixture
def client_of() -> Callable[[Token], APIClient]:
    """A client that calls with a token."""

    def make(token: Token) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}")
        return client

    return make


@pytest.fixture
def api(token: Token, client_of: Callable[[Token], APIClient]) -> APIClient:
    """A client that calls with `token`."""
    return client_of(token)


@pytest.fixture
def at_once() -> Callable[..., list[Any]]:
    """Run each call in its own thread, all started at a barrier. Returns their results or the exceptions raised."""

    def run(*calls: Callable[[], Any]) -> list[Any]:
        barrier = Barrier(len(calls))

        def one(call: Callable[[], Any]) -> Any:
            barrier.wait(timeout=10)
            try:
                return call()
            except Exception as error:  # noqa: BLE001  # returned to the caller
                return error
            finally:
                connection.close()

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(one, calls))

    return run


@pytest.fixture(autouse=True, scope="session")
def _static_files_listed_once() -> Iterator[None]:
    """Keep WhiteNoise's list of the static files, which do not change meanwhile.

    Every test client loads the middleware anew, and listing the files took half of the time of all tests.
    """
    list_files = WhiteNoiseMiddleware.add_files_from_finders
    listed: dict[str, Any] = {}

    def once(middleware: WhiteNoiseMiddleware) -> None:
        if not listed:
            list_files(middleware)
            listed.update(middleware.files)
        middleware.files = listed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", once)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A test that commits is followed by our way to empty the tables, which is much faster than Django's."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        empty_tables.rows()
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: empty_tables.empty())
        yield
        empty_tables.end_other_connections()


@pytest.fixture(autouse=True, scope="session")
def _answers_are_described() -> Iterator[None]:
    """Compare each answer of an API with the description."""
    handle = ClientHandler.__call__

    def handle_and_check(handler: ClientHandler, environ: dict[str, Any]) -> Any:
        response: Any = handle(handler, environ)
        described_answers.check(response.wsgi_request, response)
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "__call__", handle_and_check)
        yield


@pytest.fixture(autouse=True)
def _no_limits_of_former_tests() -> None:
    """Forget what this process remembers of calls over a limit, whose accounts are gone."""
    limiter.cache_clear()
    for recorder in RECORDERS.values():
        recorder._over_limit.clear()


@pytest.fixture(autouse=True)
def _loopback(settings: Any) -> None:
    """Allow webhooks to loopback even if the environment sets DATABASE_URL and REDIS_URL, which implies production."""
    settings.WEBHOOK_ALLOW_LOOPBACK = True


@pytest.fixture(autouse=True)
def _rules_of_a_new_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_rules, "_CACHED", known())


@pytest.fixture(autouse=True)
def _no_hours_of_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_CACHED", hours_of_tests.known())


@pytest.fixture
def rules(db: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change the row of the rules of dispatch: `rules(road_factor=1)`."""

    def change(**values: Any) -> None:
        DispatchRules.objects.update_or_create(pk=1, defaults=values)
        monkeypatch.setattr(dispatch_rules, "_CACHED", known(DispatchRules.objects.get().rules))

    return change


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """What a mail server on loopback, which the settings name, has accepted."""
    with smtp.mail_server() as (url, box):
        smtp.use(settings, url)
        yield box


@pytest.fixture
def photo_folder(settings: Any, tmp_path: Path) -> Path:
    """A folder of this test for photos."""
    folder = tmp_path / "proofs"
    proofs = settings.STORAGES["proofs"]
    options = {**proofs["OPTIONS"], "location": folder}
    settings.STORAGES = {**settings.STORAGES, "proofs": {**proofs, "OPTIONS": options}}
    return folder
