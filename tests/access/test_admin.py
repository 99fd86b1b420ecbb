"""The admin for each role, and who may grant rights."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import enrolment
from access.admin import permission_name
from access.models import EnrolmentCode, InitialPassword
from access.roles import ACCOUNT_STAFF, DISPATCHERS
from tests.access.rights_by_url import SCREENS
from tests.factories import IntegratorFactory
from tests.one_time_codes import set_up

CONFIRMED = {"confirmed": "yes"}


def person(name, *, role):
    user = User.objects.create_user(name, password="x", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


def page_of(user):
    return reverse("admin:auth_user_change", args=[user.pk])


RAW = {
    "delivery.transition", "delivery.driverposition", "delivery.webhookendpoint", "delivery.webhookevent",
    "integration.webhookendpoint",
}  # fmt: skip  # a list of names


class TestStart:
    def listed(self, client, path="/admin/"):
        page = client.get(path, headers={"HX-Request": "true"} if "?" in path else {}).content.decode()
        return {".".join(link) for link in re.findall(r'href="/admin/(\w+)/(\w+)/"', page)}

    @pytest.mark.parametrize(("column", "role"), [(0, ACCOUNT_STAFF), (1, DISPATCHERS)])
    def test_lists_the_screens_that_the_role_works_with(self, client, db, column, role):
        client.force_login(person("ana", role=role))

        screens = {label for label, (look, *_changes) in SCREENS.items() if look[column] == "+"}
        assert self.listed(client) == screens - RAW | {"pghistory.events"}  # changes of prices
        assert self.listed(client, f"{reverse('panel:search')}?q=webhook") == {"integration.webhookevent"}
        assert client.get(reverse("admin:delivery_transition_changelist")).status_code == 200  # of links to it

    def test_lists_raw_rows_for_superusers(self, admin_client):
        assert self.listed(admin_client) > RAW
        assert self.listed(admin_client, f"{reverse('panel:search')}?q=webhook") == {
            *(label for label in RAW if "webhook" in label), "integration.webhookevent",
        }  # fmt: skip


class TestEnrolmentCode:
    @pytest.fixture(autouse=True)
    def _required(self, settings):
        """Required of people with rights. These sessions have used a second factor."""
        settings.REQUIRE_TWO_FACTOR = True

    @pytest.fixture
    def superuser(self, client, admin_user):
        return with_second_factor(client, admin_user)

    def test_is_issued_by_a_superuser_and_shown_once(self, superuser):
        dora = person("dora", role=DISPATCHERS)
        assert "Issue an enrolment code" in superuser.get(page_of(dora)).content.decode()

        asked = superuser.post(reverse("admin:auth_user_enrolment_code", args=[dora.pk]))
        before = EnrolmentCode.objects.count()
        response = superuser.post(reverse("admin:auth_user_enrolment_code", args=[dora.pk]), CONFIRMED)

        assert (asked.status_code, before) == (200, 0)
        code = response.context["code"]
        assert code in response.content.decode()
        assert enrolment.is_valid(user=dora, code=code, at=timezone.now())
        assert EnrolmentCode.objects.get().issued_by == "admin"
        assert LogEntry.objects.get().get_change_message() == "Enrolment code issued."
        assert code not in superuser.get(page_of(dora)).content.decode()

    def test_is_not_issued_for_a_user_who_has_a_second_factor(self, superuser, admin_user):
        set_up(admin_user)

        page = superuser.post(reverse("admin:auth_user_enrolment_code", args=[admin_user.pk]), CONFIRMED, follow=True)

        assert "Delete it first" in page.content.decode()
        assert not EnrolmentCode.objects.exists()


def with_second_factor(client, user):
    """Log in, with a session that has used a second factor."""
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"] = [{"method": "mfa", "at": 0}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return client


@pytest.mark.parametrize("role", [ACCOUNT_STAFF, None], ids=["staff", "superuser"])
def test_a_persons_page_does_not_say_how_a_password_is_kept(client, admin_user, role):
    user = User.objects.create_user("rita", password="a-good-password-1")  # pragma: allowlist secret
    client.force_login(person("ana", role=role) if role else admin_user)

    page = client.get(page_of(user)).content.decode()

    assert user.password.split("$")[2] not in page
    assert ("Change the password" in page) is (role is None)


def test_pages_show_all_permissions_of_a_person_and_of_a_role(client, admin_client):
    user, role = User.objects.create_user("rita"), Group.objects.get(name=DISPATCHERS)
    for each in (user.user_permissions, role.permissions):
        each.set(Permission.objects.filter(codename__in=("view_driver", "view_delivery")))
    staff = Client()
    staff.force_login(person("ana", role=ACCOUNT_STAFF))

    answers = [staff.get(page_of(user)), admin_client.get(reverse("admin:auth_group_change", args=[role.pk]))]

    for shown in (answer.content.decode() for answer in answers):
        for permission in role.permissions.all():
            assert f"<div>{permission_name(permission)}</div>" in shown


def test_rights_are_given_by_a_superuser(admin_client):
    member = User.objects.create_user("member")
    dates = {"last_login_0": "", "last_login_1": ""}

    admin_client.post(page_of(member), {"username": "member", "is_active": "on", "is_staff": "on", **dates})

    member.refresh_from_db()
    assert member.is_staff
    assert not InitialPassword.objects.exists()  # which only a password that somebody else sets is


def test_the_list_of_people_shows_their_accounts_and_second_step(admin_client):
    user = User.objects.create_user("rita", password="x", email="rita@example.com")
    IntegratorFactory.create(name="Padaria Sol").members.add(user)
    set_up(user)
    User.objects.create_user("margarita", email="other@example.com")

    page = admin_client.get(reverse("admin:auth_user_changelist"), {"q": "rita"}).content.decode()

    assert "rita@example.com" in page
    assert "other@example.com" in page
    assert page.count(">Padaria Sol<") == 1
    assert page.count('class="rota-yes"') == 1
