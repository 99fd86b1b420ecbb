"""Limits of failed log-ins: names, addresses, windows."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client, RequestFactory
from django.utils import timezone

from access import throttle
from access.throttle import Secret
from common.models import AttemptCount
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from tests.access.conftest import CHECKED, HERE, IN, LOG_IN, PASSWORD, REFUSED, log_in
from tests.cases import in_turn


def attempt(*, name, address):
    """A wrong password with the effect of `log_in`, without a request to the page."""
    throttle.begin(RequestFactory().post(LOG_IN, REMOTE_ADDR=address), secret=Secret.PASSWORD, name=name)


class TestNames:
    @in_turn(
        "spelling",
        ["MARIA", "Maria", " maria", "maria ", "maria\t", "\u3000maria\u00a0", "ｍaria", "maria\u2028"],
    )
    def test_are_one_name_in_every_spelling(self, maria, spelling):
        for _attempt in range(4):
            log_in()

        assert [log_in(name=spelling), log_in(name=spelling), log_in(PASSWORD)] == [CHECKED, REFUSED, REFUSED]

    def test_with_a_nul_are_refused_by_the_form_and_count_nothing(self, maria):
        response = Client().post(LOG_IN, {"login": "maria\0", "password": PASSWORD}, REMOTE_ADDR=HERE)

        assert "Null characters are not allowed" in response.content.decode()
        assert not AttemptCount.objects.exists()

    def test_of_unknown_people_are_limited_in_the_same_way(self, db):
        assert Counter(log_in(name="nobody") for _attempt in range(8)) == {CHECKED: 5, REFUSED: 3}


class TestAddresses:
    def test_are_limited_over_all_names(self, db):
        assert Counter(log_in(name=f"name-{n}") for n in range(25)) == {CHECKED: 20, REFUSED: 5}

    def test_fill_the_table_to_a_bound(self, db):
        for n in range(200):
            with suppress(TooManyAttempts):
                attempt(name=f"name-{n}", address=HERE)

        assert AttemptCount.objects.count() == 1 + 2 * 20

    def test_cannot_erase_the_counter_of_a_name(self, maria):
        """Django's own cache evicts at 300 entries."""
        for _attempt in range(5):
            log_in()

        for n in range(400):
            attempt(name=f"name-{n}", address=f"198.51.{n // 20}.1")

        assert AttemptCount.objects.count() > 800
        assert log_in(PASSWORD) == REFUSED

    def test_all_together_are_limited_for_one_name(self, maria):
        for n in range(98):
            attempt(name="maria", address=f"198.51.100.{n % 20}")

        outcomes = [log_in(address=f"198.51.101.{n}") for n in range(4)]

        assert outcomes == [CHECKED, CHECKED, REFUSED, REFUSED]


# Headers that a client controls, with other values for each attempt `n`.
HEADERS = {
    **dict.fromkeys(
        (
            "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "Fastly-Client-IP", "X-Cluster-Client-IP",
            "X-Forwarded",
        ),
        "198.51.100.{n}",
    ),
    "Forwarded": "for=198.51.100.{n}",
    "X-Forwarded-Host": "host-{n}.example",
    "X-Forwarded-Port": "{n}",
    "Via": "1.1 proxy-{n}",
    "Host": "localhost:{n}",
    "User-Agent": "browser {n}",
    "Accept-Language": "en-{n}, en",
    "Cookie": "sessionid=session-{n:032}; known_device_1=device-{n}",
    "Authorization": "Basic {n}",
    "X-Request-Id": "request-{n:08}",
}  # fmt: skip  # a table


class TestHeaders:
    @pytest.mark.parametrize(("proxies", "own"), [(0, ""), (1, f", {HERE}")])
    def test_that_a_client_sends_change_no_limit(self, maria, settings, proxies, own):
        """A proxy appends the address that it was called from to X-Forwarded-For."""
        settings.TRUSTED_PROXIES = proxies
        settings.ALLOWED_HOSTS = ["localhost"]

        def attempt(n, password):
            headers = {name: text.format(n=n) for name, text in HEADERS.items()}
            return log_in(password, headers={**headers, "X-Forwarded-For": f"198.51.100.{n}{own}"})

        outcomes = [attempt(n, f"wrong-{n}") for n in range(7)]

        assert outcomes == [CHECKED] * 5 + [REFUSED] * 2
        assert attempt(8, PASSWORD) == REFUSED


class TestWindows:
    def test_are_named_to_whoever_has_to_wait(self, maria):
        for _attempt in range(5):
            log_in()
        AttemptCount.objects.update(expires_at=timezone.now() + timedelta(minutes=3, seconds=30))

        refused = Client().post(LOG_IN, {"login": "maria", "password": PASSWORD}, REMOTE_ADDR=HERE)

        assert "Try again in 4 min." in refused.content.decode()

    @pytest.mark.parametrize(
        ("secret", "of_the_name"), [(Secret.PASSWORD, timedelta(hours=1)), (Secret.CODE, timedelta(days=1))]
    )
    def test_have_the_documented_lengths(self, maria, secret, of_the_name):
        throttle.begin(RequestFactory().post(LOG_IN, REMOTE_ADDR=HERE), secret=secret, name="maria")

        with connection.cursor() as cursor:  # now() is the beginning of the transaction, here and in `begin`
            cursor.execute("SELECT expires_at - now() FROM common_attemptcount ORDER BY 1")
            windows = [window for (window,) in cursor.fetchall()]
        assert windows == [timedelta(minutes=5), timedelta(minutes=10), of_the_name]

    def test_end(self, maria):
        for _attempt in range(5):
            log_in()
        AttemptCount.objects.update(expires_at=F("expires_at") - timedelta(minutes=5))

        assert log_in(PASSWORD) == IN

    def test_are_not_made_longer_by_further_attempts(self, maria):
        for _attempt in range(5):
            log_in()
        before = list(AttemptCount.objects.order_by("key").values("key", "count", "expires_at"))

        log_in()

        assert list(AttemptCount.objects.order_by("key").values("key", "count", "expires_at")) == before

    def test_that_are_over_are_pruned_and_others_are_not(self, maria):
        log_in()
        AttemptCount.objects.update(expires_at=F("expires_at") - timedelta(minutes=7))

        pruned = attempts.prune()

        assert (pruned, AttemptCount.objects.count()) == (1, 2)  # that of name and address


class TestRightPasswords:
    def test_take_nothing_from_a_window_that_began_after_the_attempt(self, maria):
        request = RequestFactory().post(LOG_IN, REMOTE_ADDR=HERE)
        begun = throttle.begin(request, secret=Secret.PASSWORD, name="maria")
        # Another window with an attempt of its own; PostgreSQL's now() does not advance within the test's transaction.
        AttemptCount.objects.update(expires_at=F("expires_at") + timedelta(minutes=10))

        begun.forgive()

        assert set(AttemptCount.objects.values_list("count", flat=True)) == {1}

    def test_count_nothing(self, maria):
        for _attempt in range(6):
            assert log_in(PASSWORD) == IN

        assert set(AttemptCount.objects.values_list("count", flat=True)) == {0}

    def test_do_not_clear_what_failed_before(self, maria):
        for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong", PASSWORD, "wrong"):
            log_in(password)

        assert log_in(PASSWORD) == REFUSED


@pytest.mark.django_db(transaction=True)
def test_fifty_wrong_passwords_at_once_are_no_more_than_the_limit(at_once):
    User.objects.create_user("maria", password=PASSWORD)

    outcomes = Counter(at_once(*[log_in] * 50))

    assert outcomes == {CHECKED: 5, REFUSED: 45}


def test_a_refusal_is_logged_with_its_address_and_without_the_name(maria, caplog):
    for _attempt in range(6):
        log_in()

    (line,) = [record.getMessage() for record in caplog.records if record.name == "access.throttle"]
    assert line == f"An attempt at a password from {HERE} was refused: 5 attempts per name and address within 0:05:00"


def test_the_admins_own_page_for_passwords_is_that_of_the_log_in(admin_client):
    response = admin_client.post("/admin/password_change/", {"old_password": "wrong"})

    assert (response.status_code, response.url) == (302, "/account/password/")


@pytest.mark.django_db(transaction=True)
def test_pruning_does_not_wait_for_a_counter_in_use():
    """It could deadlock with an attempt, which locks several counters."""
    attempt(name="maria", address=HERE)
    AttemptCount.objects.update(expires_at=F("expires_at") - timedelta(hours=1))
    other = connection.copy()
    with other.cursor() as cursor, connection.cursor() as own:
        cursor.execute("BEGIN; SELECT FROM common_attemptcount FOR UPDATE")
        own.execute("SET lock_timeout = '5s'")

        pruned_meanwhile = attempts.prune()
        cursor.execute("ROLLBACK")
        pruned_then = attempts.prune()

        own.execute("RESET lock_timeout")
    other.close()
    assert (pruned_meanwhile, pruned_then) == (0, 3)


class TestCounters:
    @pytest.mark.parametrize(
        ("changes", "shared"),
        [
            ({}, ["address", "name and address", "name"]),
            ({"secret": Secret.CODE}, ["address"]),
            ({"name": "joao"}, ["address"]),
            ({"address": "198.51.100.1"}, ["name"]),
            ({"device": "phone"}, []),
        ],
    )
    def test_are_shared_with_attempts_that_have_in_common_what_is_counted(self, changes, shared):
        attempt: dict[str, Any] = {"secret": Secret.PASSWORD, "name": "maria", "address": HERE, "device": ""}

        first, second = throttle._counters(**attempt), throttle._counters(**{**attempt, **changes})

        keys = [(limit.name, *parts) for limit, parts in second]
        assert [limit.name for limit, parts in first if (limit.name, *parts) in keys] == shared

    def test_of_a_device_are_one_for_each_secret(self):
        found = [throttle._counters(secret, "maria", HERE, "phone") for secret in Secret]

        assert found == [[(throttle.PER_DEVICE, (secret, "phone"))] for secret in Secret]


class TestLimits:
    def test_are_those_of_the_table_in_the_operations_guide(self):
        hour, day = timedelta(hours=1), timedelta(days=1)

        assert Limit("device", 10, hour) == throttle.PER_DEVICE
        assert Limit("address", 20, timedelta(minutes=10)) == throttle.PER_ADDRESS
        assert Limit("name and address", 5, timedelta(minutes=5)) == throttle.PER_NAME_AND_ADDRESS
        assert {
            Secret.PASSWORD: Limit("name", 100, hour),
            Secret.CODE: Limit("name", 50, day),
            Secret.RESET: Limit("name", 5, hour),
        } == throttle.PER_NAME
