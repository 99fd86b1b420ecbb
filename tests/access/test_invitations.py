"""Invitations: who gets in by a link, and what every other use of it is answered with."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from access import invitations
from access.models import Invitation
from access.throttle import PER_NAME_AND_ADDRESS
from common.accounts import Role
from common.mail import sending
from common.mail.models import Message
from delivery.models import AuditEntry, Integrator
from integration.models import Company
from tests import smtp
from tests.access.conftest import ANA, LOG_IN, PASSWORD
from tests.factories import DeliveryFactory, TokenFactory
from tests.integration.factories import COMPANY, create_order

WORDS = "quatro palavras em fila"
FORM = {"name": "Ana Lima", **dict.fromkeys(("password1", "password2"), WORDS)}


def user_after(name, password):
    """Who is logged in after a log-in."""
    browser = Client()
    browser.post(LOG_IN, {"login": name, "password": password})
    key = browser.session.get("_auth_user_id")
    return User.objects.get(pk=key) if key else None


def people_of(account):
    return {(each.user.get_username(), each.role) for each in account.memberships.all()}


def audit_of(account):
    """What is recorded of an account, the oldest first, once for each environment."""
    entries = AuditEntry.objects.order_by("pk").filter(environment="live")
    if entries.exists():
        return [f"{entry.get_action_display()}: {entry.subject}" for entry in entries]
    return list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))


def use(account, environment):
    """Request a delivery of an account, or create an order of a seller."""
    if isinstance(account, Integrator):
        DeliveryFactory.create(token=TokenFactory.create(integrator=account, environment=environment))
    else:
        Company.objects.get_or_create(seller=account, document=COMPANY)
        create_order(account, environment, orderId=f"A-{environment}")


class TestLink:
    def test_is_mailed_and_lets_a_new_person_in(self, account, owner, invite, mailbox):
        invite(role=Role.OWNER)
        sending.send_due()
        (message,) = mailbox.messages
        (link,) = re.findall(r"http://127\.0\.0\.1:\d+(\S+)", smtp.body_of(message))
        browser = Client()

        page = browser.get(link)
        done = browser.post(link, FORM)

        assert message["To"] == ANA
        assert (page.status_code, done.status_code) == (200, 302)
        assert people_of(account) == {("maria", "owner"), (ANA, "owner")}
        ana = User.objects.get(username=ANA)
        assert (ana.first_name, ana.email, ana.check_password(WORDS)) == ("Ana Lima", ANA, True)
        assert (ana.is_staff, ana.is_superuser) == (False, False)
        assert EmailAddress.objects.filter(user=ana, email=ANA, verified=True, primary=True).count() == 1
        assert browser.get(done["Location"]).status_code == 200  # logged in
        assert audit_of(account) == [f"Person invited: {ANA}: owner", f"Person joined: {ANA}: owner"]

    @pytest.mark.parametrize(
        ("used", "of_account", "of_seller"),
        [([], "sandbox", "live"), (["sandbox"], "sandbox", "sandbox"), (["sandbox", "live"], "live", "live")],
    )
    def test_leads_to_the_environment_that_is_used(self, account, invite, used, of_account, of_seller):
        for environment in used:
            use(account, environment)

        address = Client().post(invite(), FORM)["Location"]

        expected = of_account if isinstance(account, Integrator) else of_seller
        assert address.endswith(f"/{account.pk}/{expected}/")

    def test_lets_the_existing_log_in_of_the_address_in(self, account, invite):
        ana = User.objects.create_user("ana", ANA, PASSWORD)
        link, browser = invite(), Client()
        assert "Do you have a log-in of this address already?" in browser.get(link).content.decode()
        browser.post("/account/login/", {"login": "ana", "password": PASSWORD})

        browser.post(link)

        assert people_of(account) == {("maria", "owner"), ("ana", "member")}
        assert User.objects.filter(email=ANA).count() == 1
        assert EmailAddress.objects.get(user=ana).verified

    @pytest.mark.parametrize("own", ["", "ana@home.example"])
    def test_leaves_the_address_that_a_log_in_has(self, account, invite, own):
        ana, browser = User.objects.create_user(ANA, own, PASSWORD), Client()
        if own:
            EmailAddress.objects.create(user=ana, email=own, verified=True, primary=True)
        browser.force_login(ana)

        browser.post(invite())

        ana.refresh_from_db()
        assert ana.email == (own or ANA)
        assert EmailAddress.objects.get(user=ana, primary=True).email == (own or ANA)
        assert EmailAddress.objects.get(user=ana, email=ANA).verified

    @pytest.mark.parametrize("name", [ANA, ANA.upper()])
    def test_leads_to_a_new_log_in_beside_one_that_nobody_has_verified(self, account, invite, name):
        squatter = User.objects.create_user(name, ANA, PASSWORD)
        EmailAddress.objects.create(user=squatter, email=ANA, verified=False)

        Client().post(invite(), FORM)

        assert people_of(account) == {("maria", "owner"), (f"{ANA}_2", "member")}
        assert EmailAddress.objects.get(email=ANA, verified=True).user.check_password(WORDS)
        assert not EmailAddress.objects.get(user=squatter).verified
        assert Client().login(username=f"{ANA}_2", password=WORDS)

    def test_leads_to_a_log_in_by_the_address_also_where_it_is_somebody_elses_name(self, account, invite):
        squatter = User.objects.create_user(ANA, "", PASSWORD)
        Client().post(invite(), FORM)

        found = {
            password: [user_after(ANA, password), user_after(ANA.upper(), password)] for password in (WORDS, PASSWORD)
        }

        invited = EmailAddress.objects.get(email=ANA).user
        assert found == {WORDS: [invited, invited], PASSWORD: [squatter, squatter]}
        assert user_after(ANA, "neither of the two") is None

    def test_leads_to_a_log_in_by_the_address_that_failures_of_that_name_do_not_stop(self, account, invite):
        User.objects.create_user(ANA, "", PASSWORD)
        Client().post(invite(), FORM)
        invited = EmailAddress.objects.get(email=ANA).user

        found = [user_after(ANA, WORDS) for _time in range(PER_NAME_AND_ADDRESS.amount + 1)]

        assert found == [invited] * (PER_NAME_AND_ADDRESS.amount + 1)

    def test_makes_no_second_log_in_for_a_verified_address(self, account, invite):
        ana = User.objects.create_user("ana", ANA.upper(), PASSWORD)
        EmailAddress.objects.create(user=ana, email=ANA, verified=True)
        link = invite()

        answer = Client().post(link, FORM)

        assert "Log in to accept" in answer.content.decode()
        assert people_of(account) == {("maria", "owner")}

    # The last two fold to the invited address where case is ignored.
    @pytest.mark.parametrize("other", ["bia@example.com", "joſe@example.com", "JOſE@example.com"])
    def test_does_not_let_another_address_in(self, account, invite, other):
        user = User.objects.create(username=other, email=other)  # `create_user` would normalise the name
        link, browser = invite("jose@example.com"), Client()
        browser.force_login(user)

        page, answer = browser.get(link), browser.post(link, FORM)

        for each in (page, answer):
            assert f"You are logged in as {other}, which is not the invited address" in each.content.decode()
        assert people_of(account) == {("maria", "owner")}
        assert Invitation.objects.get().ended == ""

    def test_creates_no_log_in_but_that_of_the_invited_address(self, account, invite):
        Client().post(invite(), {**FORM, "email": "bia@example.com", "username": "bia@example.com"})

        assert people_of(account) == {("maria", "owner"), (ANA, "member")}
        assert not User.objects.filter(username__startswith="bia").exists()

    @pytest.mark.parametrize("who", ["stranger", "new", "invited"])
    @pytest.mark.parametrize(
        ("misuse", "status", "text"),
        [
            ("used", 410, "This invitation was used"),
            ("expired", 410, "This invitation has expired"),
            ("revoked", 410, "This invitation was revoked"),
            ("sent again", 404, "only the link of the latest message works"),
            ("cut off", 404, "It may be incomplete"),
        ],
    )
    def test_says_why_it_does_not_work(self, account, owner, invite, who, misuse, status, text):
        link, browser = invite(), Client()
        found = Invitation.objects.get()
        by = {"account": account, "invitation": found.pk, "by": owner, "at": timezone.now()}
        if misuse == "used":
            Client().post(link, FORM)
        elif misuse == "expired":
            Invitation.objects.update(expires_at=timezone.now())
        elif misuse == "revoked":
            invitations.revoke(**by)
        elif misuse == "sent again":
            invitations.resend(**by, language="en")
        elif misuse == "cut off":
            link = link[:-1]
        if who != "new":
            name = ANA if who == "invited" else "bia@example.com"
            browser.force_login(User.objects.get_or_create(username=name, email=name)[0])
        before = people_of(account)

        page, answer = browser.get(link), browser.post(link, FORM)

        for each in (page, answer):
            assert each.status_code == status
            assert text in each.content.decode()
        assert people_of(account) == before

    @pytest.mark.parametrize("use", ["sign_up", "accept"])
    def test_that_is_replaced_after_it_was_read_lets_nobody_in(self, account, owner, invite, use):
        invite()
        read = Invitation.objects.get()
        now = timezone.now()
        invitations.resend(account=account, invitation=read.pk, by=owner, language="en", at=now)
        if use == "accept":
            person: dict[str, Any] = {"user": User.objects.create_user("ana", ANA)}
        else:
            person = {"name": "Ana", "password": WORDS}

        with pytest.raises(invitations.NotOpen):
            getattr(invitations, use)(invitation=read, at=now, **person)

        assert people_of(account) == {("maria", "owner")}
        assert User.objects.count() == (2 if use == "accept" else 1)
        assert Invitation.objects.get().ended == ""

    @pytest.mark.parametrize(
        "changes",
        [
            dict.fromkeys(("password2",), "another"),
            dict.fromkeys(("password1", "password2"), "short"),
            dict.fromkeys(("password1", "password2"), "entregas12345"),
            dict.fromkeys(("password1", "password2"), ANA),
            {"name": ""},
            {"name": "x" * 151},
            {"name": "A\0na"},
        ],
    )
    def test_refuses_a_bad_form(self, account, invite, changes):
        answer = Client().post(invite(), {**FORM, **changes})

        assert answer.status_code == 422
        assert people_of(account) == {("maria", "owner")}
        assert not User.objects.filter(username=ANA).exists()

    def test_is_not_kept(self, invite):
        key = invite().partition("key=")[2]

        assert key not in str(Invitation.objects.values().get())
        assert key not in str(Message.objects.values().get())

    def test_verifies_no_address_that_it_was_not_sent_to(self, account, invite, settings):
        settings.EMAIL_URL = ""

        Client().post(invite(), FORM)

        assert (ANA, "member") in people_of(account)
        assert not EmailAddress.objects.exists()
        assert not Message.objects.exists()

    def test_makes_the_first_person_an_owner(self, account, mailbox):
        root = User.objects.create_superuser("root")
        links = [
            invitations.invite(
                account=account, email=email, role=Role.MEMBER, by=root, language="en", at=timezone.now()
            ).path
            for email in (ANA, "bia@example.com")
        ]

        answers = [Client().post(link, FORM).status_code for link in links]

        assert answers == [302, 302]
        assert people_of(account) == {(ANA, "owner"), ("bia@example.com", "member")}
        assert f"Person joined: {ANA}: owner" in audit_of(account)

    def test_keeps_the_role_of_somebody_who_belongs_to_the_account(self, account, invite):
        link = invite(role=Role.MEMBER)
        ana = User.objects.create_user("ana", ANA)
        account.memberships.create(user=ana, role=Role.OWNER)
        browser = Client()
        browser.force_login(ana)

        browser.post(link)

        assert people_of(account) == {("maria", "owner"), ("ana", "owner")}
