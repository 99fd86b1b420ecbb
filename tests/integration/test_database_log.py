"""Refusing an order is no error of the database's, so that no database logs what the order holds of people."""

import json
from threading import get_ident

import pytest
from django.db import connection
from rest_framework.test import APIClient

from config.env import data_dir, is_embedded
from integration.models import Order
from tests.integration.factories import SellerFactory, key_of, order_body

URL = "/api/integration/orders"


@pytest.fixture
def logged(transactional_db):
    """What the embedded PostgreSQL logs from here on, with its own defaults, which external servers may have."""
    if not is_embedded():
        pytest.fail("This test reads the log of the embedded PostgreSQL: run it without DATABASE_URL and REDIS_URL.")
    log = data_dir() / "postgres" / "log"
    with connection.cursor() as cursor:
        database = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {database} SET log_min_error_statement = 'error'")
        cursor.execute(f"ALTER DATABASE {database} SET log_error_verbosity = 'default'")
    connection.close()  # the settings are those of new connections
    start = log.stat().st_size
    # Without the server's own messages, such as checkpoints, and those of other databases.
    own = f" {connection.settings_dict['NAME']} "
    yield lambda: [
        line for line in log.read_bytes()[start:].decode().splitlines() if own in line and " LOG: " not in line
    ]
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {database} RESET ALL")
    connection.close()


def post(key, body):
    client = APIClient(headers={"Authorization": f"Basic {key}"})
    return client.generic("POST", URL, json.dumps(body), content_type="application/json").status_code


class TestDatabaseLog:
    def test_shows_an_error_with_its_statement_to_this_test(self, logged):
        with connection.cursor() as cursor, pytest.raises(Exception, match="division"):
            cursor.execute("SELECT 1 / 0, 'Maria'")

        error, statement = logged()
        assert "ERROR:  division by zero" in error
        assert "STATEMENT:  SELECT 1 / 0, 'Maria'" in statement

    @pytest.mark.parametrize("changes", [{"trackingCode": "TRACK-2"}, {"orderId": "A-2"}, {}])
    def test_is_empty_after_a_duplicate_order(self, logged, changes):
        key = key_of(SellerFactory.create())

        statuses = [post(key, order_body()), post(key, order_body(**changes))]

        assert statuses == [201, 400]
        assert logged() == []

    @pytest.mark.parametrize("same", ["orderId", "trackingCode"])
    def test_is_empty_after_a_race_of_duplicates(self, logged, at_once, same):
        key = key_of(SellerFactory.create())
        other = "trackingCode" if same == "orderId" else "orderId"

        statuses = at_once(*[lambda: post(key, order_body(**{other: f"one of {get_ident()}"}))] * 20)

        assert sorted(statuses) == [201] + [400] * 19
        assert Order.objects.count() == 1
        assert logged() == []
