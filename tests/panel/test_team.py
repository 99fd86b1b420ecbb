"""The page of the people of an account or seller."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import invitations
from access.models import Invitation
from common.accounts import Role
from common.mail.models import Message
from tests import smtp
from tests.factories import IntegratorFactory
from tests.integration.factories import SellerFactory

ANA = "ana@example.com"


@pytest.fixture(params=["integrator", "seller"])
def account(request, shop):
    return getattr(shop, request.param)


@pytest.fixture
def page(account, shop):
    if account is shop.integrator:
        return reverse("panel:team", args=[account.pk, "live"])
    return reverse("panel:seller_team", args=[account.pk, "live"])


@pytest.fixture
def browser_of(account):
    """A browser of a new person with this role, or of account staff."""

    def make(role):
        user = User.objects.create_user(f"a-{role}")
        if role == "staff":
            User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
        else:
            account.memberships.create(user=user, role=role)
        browser = Client()
        browser.force_login(User.objects.get(pk=user.pk))
        return browser

    return make


@pytest.fixture
def invitation(account, mailbox, db):
    root = User.objects.create_superuser("root")
    made = invitations.invite(account=account, email=ANA, role=Role.MEMBER, by=root, language="en", at=timezone.now())
    return made.invitation


class TestTeam:
    @pytest.mark.parametrize("role", ["owner", "staff"])
    def test_invites(self, account, page, browser_of, mailbox, role):
        browser = browser_of(role)

        answer = browser.post(page, {"email": f" {ANA.upper()} ", "role": "owner"}, follow=True)

        text = answer.content.decode()
        assert f"The invitation is on its way to {ANA}." in text
        assert "Not accepted yet" in text
        assert (Invitation.objects.get().account, Message.objects.get().recipient) == (account, ANA)

    def test_does_not_wait_for_the_mail_server(self, account, page, browser_of, settings):
        with smtp.hanging_server() as (url, connections):
            smtp.use(settings, url)

            answer = browser_of("owner").post(page, {"email": ANA, "role": "member"})

            assert (answer.status_code, connections) == (302, [])
        assert Message.objects.get().state == "waiting"

    def test_shows_the_link_where_there_is_no_mail_server(self, account, page, browser_of, settings):
        settings.EMAIL_URL = ""
        browser = browser_of("owner")

        text = browser.post(page, {"email": ANA, "role": "member"}).content.decode()

        (link,) = re.findall(r'id="invitation-link"[^>]*>([^<]+)<', text)
        assert "nothing was sent" in text
        assert Client().get(link).status_code == 200
        assert link not in browser.get(page).content.decode()

    @pytest.mark.parametrize(
        "form", [{}, {"email": ANA}, {"email": "ana", "role": "member"}, {"email": ANA, "role": "root"}]
    )
    def test_refuses_a_bad_form(self, page, browser_of, mailbox, form):
        answer = browser_of("owner").post(page, form)

        assert answer.status_code == 422
        assert Invitation.objects.count() == 0

    def test_sends_again_and_revokes(self, account, page, browser_of, invitation):
        browser, row = browser_of("owner"), f"{page}invitations/{invitation.pk}/"
        before = bytes(invitation.digest)

        browser.post(f"{row}resend/")
        renewed = bytes(Invitation.objects.get().digest)
        text = browser.post(f"{row}revoke/", follow=True).content.decode()

        assert renewed != before
        assert Message.objects.count() == 2
        assert f"The invitation of {ANA} is revoked." in text
        assert Invitation.objects.get().ended == "revoked"
        assert "changed meanwhile" in browser.post(f"{row}resend/", follow=True).content.decode()

    def test_changes_roles_and_removes(self, account, page, browser_of):
        browser = browser_of("owner")
        paulo = account.memberships.create(user=User.objects.create_user("paulo"), role=Role.MEMBER)
        row = f"{page}members/{paulo.pk}/"

        texts = [
            browser.post(f"{row}{change}/", follow=True).content.decode()
            for change in ("make-owner", "remove", "remove")
        ]

        assert "paulo is now: Owner." in texts[0]
        assert "paulo is removed" in texts[1]
        assert "changed meanwhile" in texts[2]
        assert account.memberships.count() == 1

    def test_gives_and_takes_the_right_to_request_deliveries(self, account, page, browser_of, shop):
        """Of an account, whose members may have it."""
        browser = browser_of("owner")
        paulo, maria = (account.memberships.create(user=User.objects.create_user(name)) for name in ("paulo", "maria"))
        found = []
        for change in ("end-requests", "allow-requests"):
            answer = browser.post(f"{page}members/{paulo.pk}/{change}/")
            rows = account.memberships.filter(pk__in=[paulo.pk, maria.pk]).order_by("pk")
            found.append((answer.status_code, [getattr(row, "may_request", None) for row in rows]))

        is_integrator = account is shop.integrator
        expected = [(302, [False, True]), (302, [True, True])] if is_integrator else [(404, [None, None])] * 2
        assert found == expected

    def test_says_why_the_last_owner_stays(self, account, page, browser_of):
        browser = browser_of("owner")
        own = account.memberships.get()

        text = browser.post(f"{page}members/{own.pk}/remove/", follow=True).content.decode()

        assert "This is the last owner." in text
        assert account.memberships.count() == 1

    def test_leads_home_after_removing_oneself(self, account, page, browser_of):
        account.members.add(User.objects.create_user("maria"))
        browser = browser_of("owner")
        own = account.memberships.get(user__username="a-owner")

        answer = browser.post(f"{page}members/{own.pk}/remove/")

        assert answer["Location"] == "/panel/"
        assert browser.get(page).status_code == 404

    def test_lets_members_look_only(self, account, page, browser_of, invitation):
        account.members.add(User.objects.create_user("maria"))
        browser = browser_of("member")
        rows = [f"{page}invitations/{invitation.pk}/{change}/" for change in ("resend", "revoke")]
        rows += [f"{page}members/{row.pk}/remove/" for row in account.memberships.all()]
        messages = Message.objects.count()

        text = browser.get(page).content.decode()
        answers = [browser.post(path, {"email": "b@example.com", "role": "owner"}) for path in (page, *rows)]

        assert "maria" in text
        assert ANA in text
        assert 'method="post"' not in text.partition('id="content"')[2]
        assert {answer.status_code for answer in answers} == {403}
        assert (account.memberships.count(), Invitation.objects.get().ended, Message.objects.count()) == (
            2,
            "",
            messages,
        )

    @pytest.mark.parametrize("path", ["members/{0}/revoke/", "invitations/{1}/remove/", "members/{0}/x/"])
    def test_knows_no_other_changes(self, account, page, browser_of, invitation, path):
        browser = browser_of("owner")

        answer = browser.post(page + path.format(account.memberships.get().pk, invitation.pk))

        assert answer.status_code == 404

    def test_does_not_reach_the_rows_of_other_accounts(self, account, shop, page, browser_of, invitation):
        is_integrator = account is shop.integrator
        other = IntegratorFactory.create() if is_integrator else SellerFactory.create(documents=())
        foreign = other.memberships.create(user=User.objects.create_user("foreign"))
        Invitation.objects.update(**{"integrator" if is_integrator else "seller": other})
        browser = browser_of("owner")

        texts = [
            browser.post(page + path, follow=True).content.decode()
            for path in (f"members/{foreign.pk}/remove/", f"invitations/{invitation.pk}/revoke/")
        ]

        assert all("changed meanwhile" in text for text in texts)
        assert (other.memberships.count(), Invitation.objects.get().ended) == (1, "")

    def test_has_a_bounded_number_of_queries(self, account, page, browser_of, django_assert_max_num_queries):
        browser = browser_of("owner")
        for number in range(20):
            account.members.add(User.objects.create_user(f"person-{number}"))

        with django_assert_max_num_queries(16):
            browser.get(page)


class TestAdmin:
    def test_leads_account_staff_to_the_team(self, as_role, shop):
        staff = as_role("account staff")
        pages = {
            reverse("admin:delivery_integrator_change", args=[shop.integrator.pk]): reverse(
                "panel:team", args=[shop.integrator.pk, "live"]
            ),
            reverse("admin:integration_seller_change", args=[shop.seller.pk]): reverse(
                "panel:seller_team", args=[shop.seller.pk, "live"]
            ),
        }

        for page, team in pages.items():
            assert f'href="{team}"' in staff.get(page).content.decode()
            assert "Invite somebody" in staff.get(team).content.decode()


class TestMailOfAnInvitation:
    @pytest.mark.parametrize(
        ("columns", "said"),
        [
            ({"state": "failed", "body_ciphertext": "", "error": "550 no such user"}, "Email not delivered"),
            ({"tries": 1, "error": "Connection refused"}, "Email is being tried again"),
            ({"tries": 0}, "Not accepted yet"),
        ],
    )
    def test_is_beside_the_invitation(self, page, browser_of, invitation, columns, said):
        ended = timezone.now() if columns.get("state") else None
        Message.objects.update(**columns, ended_at=ended)

        content = browser_of("owner").get(page).content.decode()

        assert said in content
        assert columns.get("error", "") in content


class TestLastOwner:
    def test_is_offered_no_way_out(self, page, browser_of):
        content = browser_of("owner").get(page).content.decode()

        assert "Only owner" in content
        assert "make-member/" not in content
        assert "/remove/" not in content

    def test_is_removed_by_staff_when_alone(self, account, page, browser_of):
        browser_of("owner")

        content = browser_of("staff").get(page).content.decode()

        assert "make-member/" not in content
        assert "/remove/" in content
