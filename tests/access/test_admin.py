"""The admin for each role, and who may grant rights."""

import re

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.urls import reverse
from django.utils import timezone

from access import enrolment
from access.models import EnrolmentCode
from access.roles import ACCOUNT_STAFF, DISPATCHERS
from delivery.models import Delivery
from tests.factories import DeliveryFactory, IntegratorFactory

CHANGE_USER = ("view_user", "add_user", "change_user", "delete_user", "view_group", "change_group", "add_group")


def person(name, *, role=None, permissions=()):
    user = User.objects.create_user(name, password="x", is_staff=True)
    if role:
        user.groups.add(Group.objects.get(name=role))
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions, content_type__app_label="auth"))
    return user


def page_of(user):
    return reverse("admin:auth_user_change", args=[user.pk])


@pytest.fixture
def staff(client, db):
    client.force_login(person("ana", role=ACCOUNT_STAFF))
    return client


@pytest.fixture
def dispatcher(client, db):
    client.force_login(person("dora", role=DISPATCHERS))
    return client


@pytest.fixture
def clerk(client, db):
    """A member of staff with permissions on users and groups, who is no superuser."""
    client.force_login(person("clara", permissions=CHANGE_USER))
    return client


def sidebar(client):
    content = client.get("/admin/").content.decode()
    return set(re.findall(r'href="/admin/\w+/(\w+)/"', content))


class TestSidebar:
    def test_of_account_staff(self, staff):
        assert sidebar(staff) == {
            "integrator", "token", "auditentry", "webhookendpoint", "webhookevent", "delivery", "transition", "tariff",
            "seller", "company", "apikey", "order", "invoice", "freightrate", "freightparameters", "user",
            "message", "tariffchange", "freightpricechange", "freightparameterschange", "dispatchrules",
            "dispatchruleschange",
        }  # fmt: skip  # a list of names

    def test_of_dispatchers(self, dispatcher):
        shown = {
            "delivery", "transition", "dispatchrules", "dispatchruleschange", "driver", "driverposition",
            "webhookevent", "order", "invoice",
        }  # fmt: skip  # a list of names

        assert sidebar(dispatcher) == shown

    def test_lists_only_the_pages_that_the_person_may_open(self, dispatcher):
        for path in re.findall(r'href="(/admin/\w+/\w+/)"', dispatcher.get("/admin/").content.decode()):
            assert dispatcher.get(path, follow=True).status_code == 200  # a list of one leads to its row


class TestAccountStaff:
    def test_look_at_deliveries_and_move_none(self, staff):
        delivery = DeliveryFactory.create(accepted=True)

        assert staff.get(reverse("admin:delivery_delivery_change", args=[delivery.pk])).status_code == 200
        move = staff.post(reverse("admin:delivery_delivery_move", args=[delivery.pk, "collect"]))

        assert (move.status_code, Delivery.objects.get().status) == (403, "ACCEPT")

    def test_look_at_people_and_change_none(self, staff):
        page = staff.get(page_of(User.objects.get(username="ana")))
        staff.post(page_of(User.objects.get(username="ana")), {"username": "ana", "is_superuser": "on"})

        assert page.status_code == 200
        assert "pbkdf2" not in page.content.decode()
        assert not User.objects.get(username="ana").is_superuser


class TestRights:
    def test_are_not_given_by_somebody_without_them(self, clerk):
        member = User.objects.create_user("member")
        everything = {"is_staff": "on", "is_superuser": "on", "groups": [Group.objects.get(name=DISPATCHERS).pk]}

        clerk.post(page_of(member), {"username": "member", "is_active": "on", "first_name": "M", **everything})

        member.refresh_from_db()
        assert (member.first_name, member.is_staff, member.is_superuser, member.groups.count()) == (
            "M",
            False,
            False,
            0,
        )

    def test_are_not_given_to_oneself(self, clerk):
        clara = User.objects.get(username="clara")

        response = clerk.post(page_of(clara), {"username": "clara", "is_superuser": "on", "is_staff": "on"})

        clara.refresh_from_db()
        assert (response.status_code, clara.is_superuser) == (403, False)

    def test_of_a_group_are_changed_by_superusers_alone(self, clerk):
        group = Group.objects.get(name=DISPATCHERS)

        response = clerk.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "x"})

        assert response.status_code == 403
        assert Group.objects.filter(name=DISPATCHERS).exists()

    def test_are_given_by_a_superuser(self, admin_client):
        member = User.objects.create_user("member")
        dates = {"last_login_0": "", "last_login_1": ""}

        admin_client.post(page_of(member), {"username": "member", "is_active": "on", "is_staff": "on", **dates})

        member.refresh_from_db()
        assert member.is_staff


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

        response = superuser.post(reverse("admin:auth_user_enrolment_code", args=[dora.pk]))

        code = response.context["code"]
        assert code in response.content.decode()
        assert enrolment.is_valid(user=dora, code=code, at=timezone.now())
        assert EnrolmentCode.objects.get().issued_by == "admin"
        assert LogEntry.objects.get().get_change_message() == "Enrolment code issued."
        assert code not in superuser.get(page_of(dora)).content.decode()

    def test_is_not_issued_for_a_user_who_has_a_second_factor(self, superuser, admin_user):
        totp.TOTP.activate(admin_user, totp.generate_totp_secret())

        page = superuser.post(reverse("admin:auth_user_enrolment_code", args=[admin_user.pk]), follow=True)

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


def test_a_persons_page_says_that_there_is_a_password_and_not_how_it_is_kept(admin_client):
    user = User.objects.create_user("rita", password="a-good-password-1")  # pragma: allowlist secret

    page = admin_client.get(page_of(user)).content.decode()

    assert "pbkdf2" not in page
    assert user.password.split("$")[2] not in page
    assert "Change the password" in page


def test_the_list_of_people_shows_their_accounts_and_second_step(admin_client):
    user = User.objects.create_user("rita", password="x", email="rita@example.com")
    IntegratorFactory.create(name="Padaria Sol").members.add(user)
    totp.TOTP.activate(user, totp.generate_totp_secret())

    page = admin_client.get(reverse("admin:auth_user_changelist"), {"q": "rita"}).content.decode()

    assert "rita@example.com" in page
    assert ">Padaria Sol<" in page
    assert page.count('class="rota-yes"') == 1
