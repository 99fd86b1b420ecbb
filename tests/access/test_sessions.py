"""Sessions: their keys, their end, and the list of one's own."""

import time
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import tasks
from common import clock
from tests.access.conftest import LOG_IN, PASSWORD
from tests.one_time_codes import code_of, set_up

PANEL = "/panel/"
SESSIONS, CONFIRM = reverse("usersessions_list"), reverse("account_reauthenticate")
HOUR = 60 * 60


@pytest.fixture(autouse=True)
def _fresh_codes(db):
    cache.clear()


@pytest.fixture
def hours_later(monkeypatch):
    """Advance the clock of this process by hours."""
    now, moment = time.time(), timezone.now()

    def wait(hours):
        monkeypatch.setattr(clock, "now", lambda: moment + timedelta(hours=hours))
        monkeypatch.setattr("time.time", lambda: now + hours * HOUR)

    return wait


def is_logged_in(browser):
    return browser.get(PANEL).status_code == 200


def browser_with(key, settings):
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = key
    return browser


class TestKey:
    def test_is_another_one_after_the_log_in(self, client, log_in, settings):
        session = client.session
        session["left"] = "by somebody else"
        session.save()
        before = session.session_key

        log_in(client)

        assert client.session.session_key != before
        assert not Session.objects.filter(pk=before).exists()
        assert not is_logged_in(browser_with(before, settings))

    def test_is_another_one_after_the_password_was_asked_for_again(self, log_in, settings):
        browser = log_in()
        before = browser.session.session_key

        browser.post(CONFIRM, {"password": PASSWORD})

        assert is_logged_in(browser)
        assert not is_logged_in(browser_with(before, settings))
        assert [kept.session_key for kept in UserSession.objects.all()] == [browser.session.session_key]

    def test_is_another_one_after_the_second_factor_was_asked_for_again(self, log_in, maria, settings):
        browser = log_in()
        secret = set_up(maria)
        before = browser.session.session_key

        browser.post(reverse("mfa_reauthenticate"), {"code": code_of(secret)})

        assert is_logged_in(browser)
        assert not is_logged_in(browser_with(before, settings))

    def test_has_128_random_bits(self, log_in):
        assert len(log_in().session.session_key) == 32  # of 36 characters: 165 bits


class TestEnd:
    def test_comes_an_hour_after_the_last_use(self, log_in, hours_later):
        browser = log_in()

        hours_later(0.9)
        assert is_logged_in(browser)
        hours_later(1.8)
        assert is_logged_in(browser)
        hours_later(2.9)

        assert not is_logged_in(browser)

    def test_comes_an_hour_after_the_last_use_when_the_clock_was_put_back(self, log_in, hours_later):
        hours_later(3)
        browser = log_in()
        hours_later(0)
        assert is_logged_in(browser)

        hours_later(1)

        assert not is_logged_in(browser)

    @pytest.mark.parametrize("headers", [{"Rota-Automatic": "yes"}, {"Accept": "text/event-stream"}])
    def test_is_not_put_off_by_an_open_page(self, log_in, hours_later, headers):
        browser = log_in()

        hours_later(0.9)
        assert browser.get(PANEL, headers=headers).status_code == 200
        hours_later(1.8)

        assert not is_logged_in(browser)

    def test_comes_twelve_hours_after_the_log_in(self, log_in, hours_later):
        browser = log_in()

        for half_hours in range(1, 24):
            hours_later(half_hours / 2)
            assert is_logged_in(browser)
        hours_later(12.1)

        assert not is_logged_in(browser)

    def test_is_kept_by_the_server(self, log_in, hours_later, settings):
        browser = log_in()
        key = browser.session.session_key
        hours_later(1.1)

        browser.get(PANEL)

        assert not Session.objects.filter(pk=key).exists()

    def test_comes_with_the_log_out(self, log_in, settings):
        browser = log_in()
        key = browser.session.session_key

        browser.post(reverse("account_logout"))

        assert not is_logged_in(browser_with(key, settings))
        assert not Session.objects.filter(pk=key).exists()

    def test_clears_the_browsers_cache(self, log_in):
        assert log_in().post(reverse("account_logout"))["Clear-Site-Data"] == '"cache"'

    def test_and_the_beginning_tell_pages_that_the_browser_keeps(self, log_in, settings):
        browser = log_in()
        began = browser.cookies.pop(settings.PERSON_CHANGED_COOKIE_NAME)

        browser.post(reverse("account_logout"))

        for cookie in (began, browser.cookies[settings.PERSON_CHANGED_COOKIE_NAME]):
            assert (cookie.value, cookie["httponly"], cookie["path"]) == ("1", "", "/")

    def test_comes_when_the_person_is_deactivated(self, log_in, maria):
        browser = log_in()

        User.objects.filter(pk=maria.pk).update(is_active=False)

        assert not is_logged_in(browser)

    def test_comes_for_the_others_when_the_password_changes(self, log_in):
        browser, other = log_in(), log_in()
        new = "another-good-2"

        browser.post("/account/password/", {"oldpassword": PASSWORD, "password1": new, "password2": new})

        assert is_logged_in(browser)
        assert not is_logged_in(other)


class TestAdmin:
    @pytest.fixture
    def end_sessions(self, maria):
        """Choose Maria in the admin and end her sessions."""

        def choose(browser):
            data = {"action": "end_sessions", "_selected_action": [maria.pk], "confirmed": "yes"}
            return browser.post(reverse("admin:auth_user_changelist"), data, follow=True)

        return choose

    def test_ends_the_sessions_of_a_person(self, admin_client, log_in, end_sessions):
        browsers = [log_in(), log_in()]

        page = end_sessions(admin_client)

        assert "Sessions ended: 2" in page.content.decode()
        assert [is_logged_in(browser) for browser in browsers] == [False, False]
        assert is_logged_in(admin_client)

    def test_counts_those_that_have_not_ended_yet(self, admin_client, log_in, end_sessions):
        log_in().post(reverse("account_logout"))
        log_in()

        page = end_sessions(admin_client)

        assert "Sessions ended: 1" in page.content.decode()
        assert not UserSession.objects.filter(user__username="maria").exists()


class TestList:
    def test_begins_with_this_session_and_the_latest_of_the_others(self, log_in):
        this, *others = (log_in() for _number in range(3))

        shown = this.get(SESSIONS).context["sessions"]

        keys = [browser.session.session_key for browser in (this, *reversed(others))]
        assert [each.session_key for each in shown] == keys

    def test_shows_the_sessions_of_the_person(self, log_in):
        browser, _other = log_in(), log_in(Client(headers={"User-Agent": "Safari on a <b>telephone</b>"}))
        User.objects.create_user("ana", password=PASSWORD)
        Client(headers={"User-Agent": "Netscape"}).post(LOG_IN, {"login": "ana", "password": PASSWORD})

        page = browser.get(SESSIONS).content.decode()

        assert page.count("127.0.0.1") == 2
        assert "Firefox" in page
        assert "Safari on a &lt;b&gt;telephone" in page
        assert "Netscape" not in page

    @pytest.mark.parametrize(
        ("address", "shown"), [("2001:db8::1", "2001:db8::"), ("", "::")], ids=["an IPv6 address", "none that is known"]
    )
    def test_takes_any_address(self, log_in, address, shown):
        browser = log_in(Client(REMOTE_ADDR=address))

        assert f'<td class="fact">{shown}' in browser.get(SESSIONS).content.decode()

    def test_ends_the_others_once_the_password_was_given_again(self, log_in, hours_later):
        browser, other = log_in(), log_in()
        hours_later(0.5)

        refused = browser.post(SESSIONS)
        browser.post(f"{CONFIRM}?next={SESSIONS}", {"password": PASSWORD})
        browser.post(SESSIONS)

        assert refused.url.startswith(CONFIRM)
        assert is_logged_in(browser)
        assert not is_logged_in(other)

    def test_ends_one_of_them_but_none_of_somebody_else(self, log_in):
        browser, other, third = log_in(), log_in(), log_in()
        User.objects.create_user("ana", password=PASSWORD)
        ana = Client()
        ana.post(LOG_IN, {"login": "ana", "password": PASSWORD})
        rows = [UserSession.objects.get(session_key=each.session.session_key).pk for each in (other, ana)]

        for row in rows:
            browser.post(SESSIONS, {"session": row})

        assert [is_logged_in(each) for each in (browser, other, third, ana)] == [True, False, True, True]

    @pytest.mark.parametrize(("minutes", "asks"), [(4, False), (6, True)])
    def test_asks_for_the_password_five_minutes_after_the_log_in(self, log_in, hours_later, minutes, asks):
        browser = log_in()
        hours_later(minutes / 60)

        response = browser.post(SESSIONS)

        assert response.url.startswith(CONFIRM) == asks

    def test_is_for_who_is_logged_in(self, client, db):
        assert client.get(SESSIONS).url.startswith(LOG_IN)


class TestPrune:
    def test_deletes_sessions_that_have_expired(self):
        for number, age in enumerate([timedelta(seconds=1), timedelta(days=1), -timedelta(hours=1)]):
            Session.objects.create(session_key=f"{number}", session_data="", expire_date=timezone.now() - age)

        tasks.prune_sessions()

        assert list(Session.objects.values_list("session_key", flat=True)) == ["2"]

    @pytest.mark.parametrize(("age", "left"), [(timedelta(hours=11, minutes=59), 1), (timedelta(hours=12), 0)])
    def test_deletes_the_addresses_of_sessions_that_have_ended_and_logs_nobody_out(self, log_in, age, left):
        browser = log_in()
        UserSession.objects.update(created_at=timezone.now() - age)

        tasks.prune_sessions()

        assert UserSession.objects.count() == left
        assert is_logged_in(browser)
