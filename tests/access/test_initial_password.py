"""A password that somebody else has set is changed at the first log-in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from access.models import InitialPassword
from tests.access.conftest import PASSWORD, log_in

CHANGE = reverse("account_change_password")
NEW, THIRD = "another-password-2", "third-password-3"
USABLE = {"usable_password": "true"}  # pragma: allowlist secret  # a choice of the admin's form


@pytest.fixture(autouse=True)
def _required(settings):
    settings.REQUIRE_TWO_FACTOR = True


@pytest.fixture
def superuser(db, settings):
    """Adds users in the admin. REQUIRE_TWO_FACTOR is off, because this session has no second factor."""
    settings.REQUIRE_TWO_FACTOR = False
    browser = Client()
    browser.force_login(User.objects.create_superuser("ana"))
    return browser


@pytest.fixture
def member(superuser, settings):
    """A member made in the admin, logged in with the password that was set there."""
    form = {"username": "maria", **USABLE, "password1": PASSWORD, "password2": PASSWORD}
    superuser.post(reverse("admin:auth_user_add"), form)
    settings.REQUIRE_TWO_FACTOR = True
    browser = Client()
    log_in(PASSWORD, browser=browser)
    return browser


def change(browser, password):
    return browser.post(CHANGE, {"oldpassword": PASSWORD, "password1": password, "password2": password})


class TestInitialPassword:
    def test_leads_to_changing_it(self, member):
        response = member.get("/panel/")

        assert response.url == f"{CHANGE}?next=%2Fpanel%2F"
        page = member.get(CHANGE).content.decode()
        assert "set by somebody else" in page
        assert 'id="menu"' not in page  # whose entries would lead nowhere

    def test_is_changed_once(self, member):
        change(member, NEW)
        assert member.get("/panel/").status_code == 200
        assert 'id="menu"' in member.get(CHANGE).content.decode()

        log_in(NEW, browser=(browser := Client()))

        assert browser.get("/panel/").status_code == 200

    def test_is_not_changed_to_itself(self, member):
        response = change(member, PASSWORD)

        assert "must be different" in response.content.decode()
        assert member.get("/panel/").url.startswith(CHANGE)
        assert InitialPassword.objects.exists()

    def test_is_one_again_after_somebody_has_set_it_again(self, member, superuser, settings):
        change(member, NEW)
        settings.REQUIRE_TWO_FACTOR = False
        maria = User.objects.get(username="maria")
        form = {**USABLE, "password1": THIRD, "password2": THIRD}
        superuser.post(reverse("admin:auth_user_password_change", args=[maria.pk]), form)
        settings.REQUIRE_TWO_FACTOR = True

        log_in(THIRD, browser=(browser := Client()))

        assert browser.get("/panel/")["Location"].startswith(CHANGE)

    def test_does_not_stop_anybody_where_no_second_factor_is_required(self, member, settings):
        settings.REQUIRE_TWO_FACTOR = False

        assert member.get("/panel/").status_code == 200

    def test_is_none_that_one_has_set_oneself(self, maria):
        log_in(PASSWORD, browser=(browser := Client()))

        assert browser.get("/panel/").status_code == 200
