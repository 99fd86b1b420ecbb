"""How a person with rights gets a second factor, from the admin to the panel, at both widths and in both languages."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

from access.models import InitialPassword
from tests.one_time_codes import code_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_a_code_from_the_admin_lets_a_person_set_up_a_second_factor(tab, people, settings, locale):
    people("ana", superuser=True)
    dora = people("dora", group="Dispatchers")
    InitialPassword.objects.create(user=dora)
    problems = []

    def look(browser, name):
        browser.keep(f"{name}-{locale}")
        problems.extend(browser.findings(f"{name}-{locale}"))

    admin = tab(locale)
    admin.log_in("ana")  # before it is required, which spares her own
    settings.REQUIRE_TWO_FACTOR = True
    settings.MFA_TOTP_TOLERANCE = 1  # a code may end before the button is pressed
    session = admin.page.context.cookies()
    trust_session(next(each["value"] for each in session if each["name"] == "sessionid"))
    page = admin.go(f"/admin/auth/user/{dora.pk}/change/")
    look(admin, "person-without-second-factor")
    with page.expect_navigation():
        page.click("#content button.rota-button, main button.rota-button, button.rota-button")
    code = page.text_content("code.rota-code")
    look(admin, "enrolment-code")

    browser = tab(locale)
    page = browser.go("/account/login/")
    page.fill("#id_login", "dora")
    page.fill("#id_password", "a-good-password-1")
    page.click("main button.prime")
    page.wait_for_url("**/two-factor/app/**")
    page.fill("#id_enrolment_code", "wrong")
    page.fill("#id_code", code_of(page.text_content("#authenticator_secret")))
    with page.expect_navigation():
        page.click("main button.prime")
    look(browser, "enrolment-refused")
    page.fill("#id_enrolment_code", code)
    page.fill("#id_code", code_of(page.text_content("#authenticator_secret")))
    page.click("main button.prime")
    page.wait_for_url("**/two-factor/recovery/")
    browser.go("/account/two-factor/")
    look(browser, "second-factor-history")
    browser.go("/panel/")
    page.wait_for_url("**/account/password/**")
    look(browser, "initial-password")
    page.fill("#id_oldpassword", "a-good-password-1")
    page.fill("#id_password1", "another-password-2")
    page.fill("#id_password2", "another-password-2")
    page.click("main button.prime")
    page.wait_for_url("**/panel/**")

    assert problems == []
    assert admin.complaints + browser.complaints == []
    assert User.objects.get(username="dora").check_password("another-password-2")


def trust_session(key):
    """Note a second factor in Ana's session."""
    session = SessionStore(key)
    session["account_authentication_methods"] = [{"method": "mfa", "at": 0}]
    session.save()
