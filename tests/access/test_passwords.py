"""Passwords that people choose: long, not guessable, of any characters, kept letter for letter."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.cases import in_turn

OLD = "a-good-password-1"
LOG_IN, CHANGE = "/account/login/", "/account/password/"


@pytest.fixture
def maria(db):
    return User.objects.create_user("maria.oliveira", password=OLD)


@pytest.fixture
def change(client, maria):
    """Change Maria's password on the page for it. Returns the answer."""
    client.force_login(maria)

    def post(new):
        return client.post(CHANGE, {"oldpassword": OLD, "password1": new, "password2": new})

    return post


def can_log_in(password):
    response = Client().post(LOG_IN, {"login": "maria.oliveira", "password": password})
    return response.status_code == 302


@in_turn(
    ("password", "why"),
    [
        ("eleven-char", "at least 12 characters"),
        ("qwertyuiop123", "common password"),  # in the list as it is
        ("Sunshine-2026!", "common password with something around it"),
        ("123dragon456789", "common password with something around it"),
        ("love-7391-2846", "common password with something around it"),  # the shortest word that counts
        ("dragondragon", "common password with something around it"),
        ("rota-entregas-2026", "words are those of this service"),
        ("Senha-Admin-2026", "words are those of this service"),
        ("maria.oliveira1", "too similar to the username"),
        ("aaaaaaaaaaaa", "repeats or continues the same few characters"),
        ("AaAaAaAaAaAa", "repeats or continues the same few characters"),
        ("123456789012", "repeats or continues the same few characters"),
        ("987654321098", "repeats or continues the same few characters"),
        ("abcabcabcabc", "repeats or continues the same few characters"),
        ("abcabcabcabcab", "repeats or continues the same few characters"),
        ("abcdefg1234567", "repeats or continues the same few characters"),
        ("111222333444", "repeats or continues the same few characters"),
        ("qwertyuiopasdf", "repeats or continues the same few characters"),
        ("x9" * 64, "repeats or continues the same few characters"),
        ("............", "repeats or continues the same few characters"),
    ],
)
def test_is_refused(change, maria, password, why):
    response = change(password)

    assert why in response.content.decode()
    maria.refresh_from_db()
    assert maria.check_password(OLD)


@pytest.mark.parametrize(
    "password",
    [
        "plum canoe ladder frost",
        "correct-horse-battery-staple",
        "839201746528",  # digits alone
        "abc-7391-2846",  # a common password of three letters
        "kgvxwqzjtnbm",  # small letters alone
        "ção 東京 🚚 Ünïcode",
        "plum canoe ladder frost " * 6,
        "k7$Qz9!mk7$Qz9!m",
    ],
)
def test_of_any_characters_is_taken_up_to_any_length(change, password):
    response = change(password)

    assert response.status_code == 302
    assert can_log_in(password)


def test_is_taken_letter_for_letter(change):
    password = "  Plum canoe Ladder frost " * 4  # pragma: allowlist secret

    change(password)

    assert can_log_in(password)
    for other in (password.strip(), password.lower(), password + "x" * 100, password[:64]):
        assert not can_log_in(other)


@pytest.mark.parametrize("path", [LOG_IN, CHANGE])
def test_is_masked_and_left_to_password_managers(client, maria, path):
    if path == CHANGE:
        client.force_login(maria)

    page = client.get(path).content.decode()

    fields = re.findall(r'<input[^>]*name="[a-z]*password[^>]*>', page)
    assert fields
    assert all('type="password"' in tag and "onpaste" not in tag for tag in fields)
    assert not any('autocomplete="off"' in tag for tag in fields)
