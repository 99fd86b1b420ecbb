"""An owner invites a colleague, who joins by the link of the message, and forgets the password later."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.utils import timezone

from access import invitations
from common.membership import Role
from mail import sending
from tests import smtp
from tests.browser.waiting import copied

pytestmark = pytest.mark.django_db(transaction=True)

ANA, WORDS, OTHER_WORDS = "ana@example.com", "quatro palavras em fila", "cinco palavras bem diferentes"


@pytest.fixture
def owner(tab, people, shop, settings, live_server, locale):
    """Maria's browser, logged in. Links of messages lead to the live server."""
    settings.SITE_URL = live_server.url
    people("maria", account=shop.integrator)
    browser = tab(locale)
    browser.log_in("maria")
    return browser


@pytest.fixture
def link(mailbox, live_server):
    """The path of the link in the message that was sent last."""

    def newest():
        sending.send_due()
        return re.findall(rf"{live_server.url}(\S+)", smtp.body_of(mailbox.messages[-1]))[0]

    return newest


def look(browser, name, problems):
    browser.keep(name)
    problems += [f"{name}: {finding}" for finding in browser.findings(name)]


def test_a_colleague_is_invited_with_three_clicks_and_joins_with_two(owner, tab, shop, link, locale, say):
    problems: list[str] = []
    page = owner.go(f"/panel/accounts/{shop.integrator.pk}/live/")
    page.get_by_role("link", name=say("Team"), exact=True).click()  # 1
    page.fill("#id_email", ANA)
    page.get_by_role("button", name=say("Invite"), exact=True).click()  # 2, the field needs none
    page.get_by_text(say("Not accepted yet")).wait_for()
    look(owner, f"team-invited-{locale}", problems)

    colleague = tab(locale)
    path = link()  # 3, of the colleague, in the mailbox
    joined = colleague.go(path)
    look(colleague, f"invitation-{locale}", problems)
    joined.fill("#id_name", "Ana Lima")
    joined.fill("#id_password1", WORDS)
    joined.fill("#id_password2", WORDS)
    joined.get_by_role("button", name=say("Create the log-in")).click()  # 4
    joined.get_by_text(say("Welcome to %(account)s.") % {"account": shop.integrator.name}).wait_for()

    again = tab(locale)
    again.go(path)
    look(again, f"invitation-used-{locale}", problems)
    page.reload()
    assert page.get_by_text("Ana Lima").count() == 1
    look(owner, f"team-joined-{locale}", problems)
    assert shop.integrator.memberships.get(user__username=ANA).role == Role.MEMBER
    assert problems == []
    assert owner.complaints == colleague.complaints == []


def test_a_link_is_copied_where_there_is_no_mail_server(owner, shop, settings, locale, say):
    settings.EMAIL_URL = ""
    problems: list[str] = []
    page = owner.go(f"/panel/accounts/{shop.integrator.pk}/live/team/")
    look(owner, f"team-no-mail-{locale}", problems)
    page.fill("#id_email", ANA)
    with page.expect_navigation():
        page.get_by_role("button", name=say("Invite"), exact=True).click()
    link = page.locator("#invitation-link").inner_text()

    page.locator("[data-copy=invitation-link]").click()

    assert "/account/invitation/?key=" in link
    assert copied(page, link) == link
    look(owner, f"team-link-{locale}", problems)
    assert problems == []
    assert owner.complaints == []


def test_another_person_with_the_link_is_refused(owner, tab, people, shop, mailbox, locale, say):
    maria = User.objects.get(username="maria")
    path = invitations.invite(
        account=shop.integrator, email=ANA, role=Role.MEMBER, by=maria, language="en", at=timezone.now()
    ).path
    problems: list[str] = []
    people("bia")
    browser = tab(locale)
    browser.log_in("bia")

    browser.go(path)

    look(browser, f"invitation-forwarded-{locale}", problems)
    assert shop.integrator.memberships.count() == 1
    assert problems == []


def test_a_forgotten_password_is_replaced(tab, people, link, settings, live_server, locale, say):
    settings.SITE_URL = live_server.url
    ana = people("ana")
    EmailAddress.objects.create(user=ana, email=ANA, verified=True, primary=True)
    browser = tab(locale)
    problems: list[str] = []
    page = browser.go("/account/login/")

    page.get_by_role("link", name=say("Forgot your password?")).click()
    page.get_by_role("button", name=say("Send the link")).wait_for()
    look(browser, f"password-forgotten-{locale}", problems)
    page.fill("#id_email", ANA)
    page.get_by_role("button", name=say("Send the link")).click()
    page.get_by_text(say("Look into your mailbox")).wait_for()
    look(browser, f"password-sent-{locale}", problems)
    page = browser.go(link())
    look(browser, f"password-new-{locale}", problems)
    page.fill("#id_password1", OTHER_WORDS)
    page.fill("#id_password2", OTHER_WORDS)
    page.get_by_role("button", name=say("Save")).click()
    page.get_by_text(say("Your password is changed")).wait_for()
    look(browser, f"password-done-{locale}", problems)
    page.get_by_role("main").get_by_role("link", name=say("Log in")).click()
    page.fill("#id_login", "ana")
    page.fill("#id_password", OTHER_WORDS)
    page.get_by_role("button", name=say("Log in")).click()
    page.get_by_role("heading", name=say("Accounts")).wait_for()

    assert problems == []
    assert browser.complaints == []
