"""Replacing a forgotten password by a link: who is sent one, and what the page reveals."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import throttle
from access.models import InitialPassword
from common.mail import sending
from common.mail.models import Message
from tests import smtp
from tests.access.conftest import HERE, LOG_IN, PASSWORD
from tests.cases import in_turn
from tests.one_time_codes import set_up

ANA, NEW = "ana@example.com", "quatro palavras em fila"
ASK = reverse("account_reset_password")


@pytest.fixture
def ana(db):
    user = User.objects.create_user(ANA, ANA, PASSWORD)
    EmailAddress.objects.create(user=user, email=ANA, verified=True, primary=True)
    return user


@pytest.fixture
def link(mailbox):
    """Ask for a link, and return the path of the one in the message."""

    def ask():
        assert request_link().status_code == 302
        sending.send_due()
        (path,) = re.findall(r"http://127\.0\.0\.1:\d+(\S+)", smtp.body_of(mailbox.messages[-1]))
        return path

    return ask


def request_link(email=ANA, address=HERE, language="en"):
    return Client(headers={"Accept-Language": language}).post(ASK, {"email": email}, REMOTE_ADDR=address)


def replace(path, password=NEW, browser=None):
    browser = browser or Client()
    form = browser.get(path, follow=True)
    return browser.post(form.request["PATH_INFO"], {"password1": password, "password2": password})


class TestLink:
    def test_replaces_the_password_once(self, ana, link):
        path = link()

        answer = replace(path)

        assert answer["Location"] == reverse("account_reset_password_from_key_done")
        ana.refresh_from_db()
        assert ana.check_password(NEW)
        assert "This link no longer works" in Client().get(path, follow=True).content.decode()
        assert "no longer works" in replace(path, "noch eins mit Worten").content.decode()
        ana.refresh_from_db()
        assert ana.check_password(NEW)

    def test_ends_after_an_hour(self, ana, link, monkeypatch):
        path = link()
        generator = "django.contrib.auth.tokens.PasswordResetTokenGenerator._now"
        later = timezone.now().replace(tzinfo=None) + timedelta(hours=1, minutes=5) + timedelta(hours=14)
        monkeypatch.setattr(generator, lambda _self: later)

        answer = replace(path)

        assert "no longer works" in answer.content.decode()
        ana.refresh_from_db()
        assert ana.check_password(PASSWORD)

    def test_ends_every_session_and_logs_nobody_in(self, ana, link):
        elsewhere, browser = Client(), Client()
        elsewhere.post(LOG_IN, {"login": ANA, "password": PASSWORD})

        replace(link(), browser=browser)

        for each in (elsewhere, browser):
            assert each.get("/panel/").status_code == 302

    def test_does_not_get_around_the_second_factor(self, ana, link):
        set_up(ana)

        replace(link())

        browser = Client()
        answer = browser.post(LOG_IN, {"login": ANA, "password": NEW})
        assert answer["Location"].startswith(reverse("mfa_authenticate"))
        assert browser.get("/panel/").status_code == 302

    @pytest.mark.parametrize("password", ["short", "entregas12345", ANA])
    def test_takes_no_guessable_password(self, ana, link, password):
        replace(link(), password)

        ana.refresh_from_db()
        assert ana.check_password(PASSWORD)

    def test_is_recorded_and_replaces_an_initial_password(self, ana, link, caplog):
        InitialPassword.objects.create(user=ana)

        replace(link())

        assert not InitialPassword.objects.exists()
        assert f"{ANA} replaced a forgotten password by a link" in caplog.text
        entry = LogEntry.objects.get()
        assert (entry.user, entry.object_id) == (ana, str(ana.pk))
        assert entry.get_change_message() == "Forgotten password replaced by a link, from address 127.0.0.1."

    @pytest.mark.parametrize("change", [{"is_superuser": True}, {"is_staff": True}, {"is_active": False}])
    def test_ends_when_the_person_gains_privileges_or_is_deactivated(self, ana, link, change):
        path = link()
        User.objects.filter(pk=ana.pk).update(**change)

        answer = replace(path)

        assert "no longer works" in answer.content.decode()
        ana.refresh_from_db()
        assert ana.check_password(PASSWORD)

    @in_turn("query", ["", "?uid=1", "?uid=../x&key=y", "?uid=1&key=", f"?uid={'z' * 50}&key=a-b"])
    def test_says_that_a_made_up_one_does_not_work(self, ana, query):
        answer = Client().get(reverse("reset_link") + query, follow=True)

        assert "This link no longer works" in answer.content.decode()

    def test_is_not_in_any_path(self, ana, link):
        key = link().partition("key=")[2]

        steps = Client().get(f"{reverse('reset_link')}?uid=1&key={key}", follow=True).redirect_chain

        assert [path for path, _status in steps if key in path] == []

    @pytest.mark.parametrize(("language", "subject"), [("en", "Your new password"), ("pt-br", "Sua nova senha")])
    def test_is_written_in_the_readers_language(self, ana, mailbox, language, subject):
        request_link(language=language)
        sending.send_due()

        assert mailbox.messages[0]["Subject"].startswith(subject)


class TestRequest:
    def test_has_one_answer_for_everybody(self, ana, mailbox):
        unverified = User.objects.create_user("unverified", "unverified@example.com", PASSWORD)
        EmailAddress.objects.create(user=unverified, email="unverified@example.com", verified=False, primary=True)
        staff = User.objects.create_user("staff", "staff@example.com", PASSWORD)
        EmailAddress.objects.create(user=staff, email="staff@example.com", verified=True, primary=True)
        former = User.objects.create_user("former", "former@example.com", PASSWORD, is_active=False)
        EmailAddress.objects.create(user=former, email="former@example.com", verified=True, primary=True)
        EmailAddress.objects.create(user=ana, email="another@example.com", verified=False)
        staff.groups.add(Group.objects.get(name="Dispatchers"))

        names = ("unknown", "unverified", "staff", "former", "another")
        emails = [ANA, *(f"{name}@example.com" for name in names)]
        answers = [request_link(email) for email in emails]
        pages = {(answer.status_code, answer["Location"], answer.content) for answer in answers}

        assert pages == {(302, reverse("account_reset_password_done"), b"")}
        assert list(Message.objects.values_list("recipient", flat=True)) == [ANA]

    def test_ignores_the_case_of_the_address(self, ana, mailbox):
        request_link(ANA.upper())

        assert Message.objects.get().recipient == ANA

    def test_is_limited_for_each_address_known_or_not(self, ana, mailbox):
        limit = throttle.PER_NAME[throttle.Secret.RESET].amount
        for email in (ANA, "unknown@example.com"):
            answers = [request_link(email, f"203.0.113.{number}").status_code for number in range(limit + 1)]
            assert answers == [302] * limit + [200]

        assert Message.objects.count() == limit

    def test_says_who_helps_without_a_mail_server(self, ana, settings):
        settings.EMAIL_URL = ""

        for answer in (Client().get(ASK), Client().post(ASK, {"email": ANA})):
            assert "no mail server" in answer.content.decode()
        assert Message.objects.count() == 0

    @pytest.mark.parametrize("email", ["", "x", f"{ANA}\nBcc: b@example.com", f'"a,{ANA}"@example.com', "a@b.com\0"])
    def test_refuses_what_is_no_address(self, mailbox, db, email):
        assert request_link(email).status_code == 200
        assert Message.objects.count() == 0
