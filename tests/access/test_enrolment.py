"""The first second factor of a person with rights: a password alone does not set it up."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import enrolment
from access.models import EnrolmentCode
from tests.access.conftest import PASSWORD, log_in
from tests.cases import in_turn
from tests.one_time_codes import code_of
from tests.one_time_codes import set_up as second_factor

SET_UP = reverse("mfa_activate_totp")


@pytest.fixture(autouse=True)
def _required(settings):
    settings.REQUIRE_TWO_FACTOR = True


@pytest.fixture
def dora(db):
    """A privileged user without a second factor."""
    return User.objects.create_user("dora", password=PASSWORD, is_staff=True)


@pytest.fixture
def browser(dora):
    """Logged in with Dora's password."""
    client = Client()
    log_in(PASSWORD, name="dora", browser=client)
    return client


def issue(user, at=None):
    return enrolment.issue(user=user, by="ana", at=at or timezone.now())


def set_up(browser, **fields):
    secret = browser.get(SET_UP).context["form"].secret
    return browser.post(SET_UP, {"code": code_of(secret), **fields})


class TestSettingUp:
    def test_has_the_languages_for_who_is_held_and_tabs(self, browser, settings):
        held = browser.get(SET_UP).content.decode()
        settings.REQUIRE_TWO_FACTOR = False
        free = browser.get(SET_UP).content.decode()

        assert [reverse("set_language") in page for page in (held, free)] == [True, False]
        for page in (held, free):
            tabs = page.partition('id="tabs"')[2].partition("</nav>")[0]
            assert re.findall(r'aria-current="page">([^<]*)<', tabs) == ["Two-step verification"]

    def test_has_the_menu_only_for_who_is_not_held(self, browser, settings):
        places = [reverse(name) for name in ("admin:index", "panel:search")]

        held = browser.get(SET_UP).content.decode()
        settings.REQUIRE_TWO_FACTOR = False
        free = browser.get(SET_UP).content.decode()

        assert [[f'href="{place}"' in page for place in places] for page in (held, free)] == [
            [False, False],
            [True, True],
        ]
        assert reverse("account_logout") in held

    @pytest.mark.parametrize("fields", [{}, {"enrolment_code": ""}, {"enrolment_code": "ABCD-EFGH-JKMN-PQRS"}])
    def test_is_refused_with_the_password_alone(self, dora, browser, fields):
        issue(dora)

        response = set_up(browser, **fields)

        assert "enrolment_code" in response.context["form"].errors
        assert not Authenticator.objects.exists()

    @pytest.mark.django_db(transaction=True)  # the request notes in its session, after the commit, that it was used
    def test_takes_a_code_that_was_issued(self, dora, browser):
        response = set_up(browser, enrolment_code=issue(dora))

        assert response.url == reverse("mfa_view_recovery_codes")
        assert browser.get("/panel/").status_code == 200
        assert EnrolmentCode.objects.get().used_at is not None
        entry = LogEntry.objects.get()
        assert (entry.user, entry.object_id) == (dora, str(dora.pk))
        assert entry.get_change_message() == "Second factor set up, from address 127.0.0.1."
        assert "by ana" in browser.get(reverse("mfa_index")).content.decode()

    @pytest.mark.parametrize("spelled", [str.lower, lambda code: f" {code.replace('-', ' ')} "])
    def test_takes_a_code_in_another_spelling(self, dora, spelled):
        code = issue(dora)

        assert enrolment.is_valid(user=dora, code=spelled(code), at=timezone.now())

    def test_does_not_use_the_code_up_when_the_app_shows_another(self, dora, browser):
        code = issue(dora)

        response = set_up(browser, enrolment_code=code, code="wrong")

        assert "code" in response.context["form"].errors
        assert EnrolmentCode.objects.get().used_at is None

    def test_refuses_the_code_of_somebody_else_and_one_that_was_replaced(self, dora, browser):
        codes = [issue(User.objects.create_user("ana", is_staff=True)), issue(dora)]
        issue(dora)

        for code in codes:
            set_up(browser, enrolment_code=code)

        assert not Authenticator.objects.exists()

    def test_takes_a_code_until_the_end_of_its_24_hours(self, dora):
        issued = timezone.now()
        code = issue(dora, at=issued)
        end = issued + timedelta(hours=24)

        assert enrolment.is_valid(user=dora, code=code, at=end - timedelta(microseconds=1))
        assert not enrolment.is_valid(user=dora, code=code, at=end)
        assert not enrolment.use(user=dora, code=code, at=end)

    def test_takes_a_new_code_and_no_used_one_after_the_factor_was_deleted(self, dora, browser):
        used = issue(dora)
        set_up(browser, enrolment_code=used)
        Authenticator.objects.all().delete()  # as a superuser does

        set_up(browser, enrolment_code=used)
        assert not Authenticator.objects.exists()
        set_up(browser, enrolment_code=issue(dora))

        assert Authenticator.objects.filter(user=dora).exists()

    def test_needs_no_code_of_users_without_privileges(self, maria):
        client = Client()
        log_in(PASSWORD, browser=client)

        set_up(client)

        assert Authenticator.objects.filter(user=maria).exists()

    def test_needs_no_code_where_it_is_not_required(self, dora, browser, settings):
        settings.REQUIRE_TWO_FACTOR = False

        set_up(browser)

        assert Authenticator.objects.filter(user=dora).exists()


def test_a_code_is_not_in_the_database(dora):
    code = issue(dora)

    stored = bytes(EnrolmentCode.objects.get().digest)
    assert code.encode() not in stored
    assert len(stored) == 32


class TestPasswordAlone:
    """With only the password of a privileged user, every page redirects to the enrolment."""

    @pytest.mark.parametrize("path", ["/panel/", "/admin/", "/account/password/", "/account/two-factor/"])
    def test_leads_to_the_enrolment(self, browser, path):
        assert all(answer.url.startswith(SET_UP) for answer in (browser.get(path), browser.post(path)))


@pytest.mark.parametrize("is_required", [True, False])
class TestSessionOlderThanTheSecondFactor:
    """Opened with the password alone, it must not change what the second factor protects."""

    @pytest.fixture(autouse=True)
    def _enrolled_elsewhere(self, settings, is_required, dora, browser):
        settings.REQUIRE_TWO_FACTOR = is_required
        second_factor(dora)
        RecoveryCodes.activate(dora)

    @in_turn(
        "name",
        ["mfa_generate_recovery_codes", "mfa_view_recovery_codes", "mfa_deactivate_totp", "account_change_password"],
    )
    def test_is_asked_for_it(self, browser, name):
        before = list(Authenticator.objects.order_by("pk").values("pk", "data"))

        responses = [browser.get(reverse(name)), browser.post(reverse(name))]

        assert [each.url.partition("?")[0] for each in responses] == [reverse("mfa_reauthenticate")] * 2
        assert list(Authenticator.objects.order_by("pk").values("pk", "data")) == before


class TestRemoval:
    """Of one's own second factor."""

    @pytest.mark.parametrize(("is_required", "left"), [(True, 1), (False, 0)])
    def test_is_refused_to_privileged_users_where_it_is_required(self, maria, settings, is_required, left):
        settings.REQUIRE_TWO_FACTOR = is_required
        maria.groups.add(Group.objects.create(name="Night shift"))  # privileged, and no member of staff
        secret = second_factor(maria)
        client = Client()
        log_in(PASSWORD, browser=client)
        client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})

        client.post(reverse("mfa_deactivate_totp"))

        assert Authenticator.objects.filter(user=maria).count() == left
        told = [] if left else ["Second factor removed, from address 127.0.0.1."]
        assert [entry.get_change_message() for entry in LogEntry.objects.filter(object_id=maria.pk)] == told


def test_the_renewal_of_recovery_codes_is_written_in_the_history(maria, django_capture_on_commit_callbacks):
    secret, client = second_factor(maria), Client()
    RecoveryCodes.activate(maria)
    log_in(PASSWORD, browser=client)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})

    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("mfa_generate_recovery_codes"))

    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (maria, str(maria.pk))
    assert entry.get_change_message() == "Recovery codes renewed, from address 127.0.0.1."


class TestCommand:
    def test_issues_a_code(self, dora):
        out = StringIO()

        call_command("enrol_second_factor", "dora", stdout=out)

        assert enrolment.is_valid(user=dora, code=out.getvalue().splitlines()[0], at=timezone.now())
        assert EnrolmentCode.objects.get().issued_by == "command enrol_second_factor"

    def test_refuses_an_unknown_name(self, db):
        with pytest.raises(CommandError, match="There is no user 'x'"):
            call_command("enrol_second_factor", "x")

    def test_refuses_a_user_who_has_a_second_factor(self, dora):
        second_factor(dora)

        with pytest.raises(CommandError, match="dora has a second factor"):
            call_command("enrol_second_factor", "dora")
        assert not EnrolmentCode.objects.exists()
