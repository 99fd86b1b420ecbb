"""People who log in, and where from."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import invitations
from common.accounts import Role
from tests.factories import IntegratorFactory
from tests.integration.factories import SellerFactory
from tests.panel.conftest import as_role, person, shop, with_url, world

__all__ = ["as_role", "person", "shop", "with_url", "world"]

LOG_IN = reverse("account_login")
ANA = "ana@example.com"
PASSWORD = "a-good-password-1"  # pragma: allowlist secret
WRONG = "wrong"
HERE = "203.0.113.9"
CHECKED, REFUSED, IN = "checked", "refused", "in"


@pytest.fixture(autouse=True)
def _no_proxy(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 0


@pytest.fixture
def maria(db: None) -> User:
    return User.objects.create_user("maria", password=PASSWORD)


def outcome(response: Any) -> str:
    """Whether a secret was looked at and found wrong, was not looked at, or was right."""
    if response.status_code == 302:
        return IN
    text = response.content.decode()
    if "Too many failed login attempts" in text:
        return REFUSED
    assert response.status_code == 200
    assert any(each in text for each in ("password is wrong", "ncorrect", "your current password", "code is wrong"))
    return CHECKED


def log_in(password: str = WRONG, *, name: str = "maria", address: str = HERE, browser: Any = None, **more: Any):
    """Try a password, in a browser of its own unless one is given."""
    data = {"login": name, "password": password}
    return outcome((browser or Client()).post(LOG_IN, data, REMOTE_ADDR=address, **more))


@pytest.fixture(name="log_in")
def log_in_as_maria(maria: User) -> Callable[..., Client]:
    """A browser in which Maria is logged in."""

    def make(browser: Any = None) -> Client:
        browser = browser or Client(headers={"User-Agent": "Firefox"})
        browser.post(LOG_IN, {"login": "maria", "password": PASSWORD})
        return browser

    return make


@pytest.fixture(params=["integrator", "seller"])
def account(request, db):
    return IntegratorFactory.create() if request.param == "integrator" else SellerFactory.create(documents=())


@pytest.fixture
def root(db):
    return User.objects.create_superuser("root")


@pytest.fixture
def owner(account):
    user = User.objects.create_user("maria", password=PASSWORD)
    account.members.add(user)
    return user


@pytest.fixture
def invite(account, owner, mailbox):
    """Invite an address, and return the path of the link."""

    def make(email=ANA, role=Role.MEMBER, **changes):
        arguments = {"by": owner, "language": "en", "at": timezone.now(), **changes}
        return invitations.invite(account=account, email=email, role=role, **arguments).path

    return make
