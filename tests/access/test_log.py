"""What the log says of log-ins: who, from where, with what, and no secret."""

import logging

import pytest
from django.urls import reverse

from tests.access.conftest import LOG_IN, PASSWORD
from tests.one_time_codes import set_up

WRONG = "typed-by-mistake-2"


@pytest.fixture
def messages(caplog):
    """The messages of the package's loggers so far."""
    caplog.set_level(logging.INFO, logger="access")
    return lambda: [record.getMessage() for record in caplog.records if record.name.startswith("access.")]


def log_in(client, name="maria", password=PASSWORD):
    return client.post(LOG_IN, {"login": name, "password": password})


def test_a_log_in_and_its_end(client, maria, messages):
    log_in(client)
    client.post(reverse("account_logout"))

    assert messages() == [
        "maria logged in from 127.0.0.1 with password",
        "maria logged out or reached the end of the session",
    ]


def test_a_wrong_password(client, maria, messages):
    log_in(client, password=WRONG)

    assert messages() == ["A wrong password for maria from 127.0.0.1"]


def test_a_password_in_the_field_of_the_name(client, maria, messages):
    log_in(client, name=WRONG)

    assert messages() == ["A wrong password for an unknown name from 127.0.0.1"]


def test_a_password_given_again_and_changed(client, maria, messages):
    log_in(client)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    client.post("/account/password/", {"oldpassword": PASSWORD, "password1": WRONG, "password2": WRONG})

    assert messages()[1:] == [
        "maria authenticated again from 127.0.0.1 with password",
        "maria changed their password, from 127.0.0.1",
    ]


def test_no_password_and_no_session_key(client, maria, caplog):
    caplog.set_level(logging.DEBUG)

    log_in(client, password=WRONG)
    log_in(client)
    client.post("/account/password/", {"oldpassword": PASSWORD, "password1": WRONG, "password2": WRONG})

    assert caplog.text
    for secret in (PASSWORD, WRONG, client.session.session_key):
        assert secret not in caplog.text


def test_a_wrong_code(client, maria, messages):
    set_up(maria)
    log_in(client)

    client.post(reverse("mfa_authenticate"), {"code": "000000"})

    assert messages() == ["A wrong code of maria from 127.0.0.1"]
