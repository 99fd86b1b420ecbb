"""How many refused calls are stored and counted, and when the counts are written."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import ProgrammingError, connection
from django.test.utils import CaptureQueriesContext

from common.api import refused_calls
from config.env import BASE_DIR
from delivery.models import Integrator, RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.models.call import RECORDER as OF_TOKENS
from integration.models import RefusedSellerCall, RefusedSellerCallCount, Seller
from integration.models.call import RECORDER as OF_KEYS
from tests.delivery.api.calls import UNKNOWN
from tests.factories import TokenFactory, payload

REQUEST = "/api/request-delivery"
TRACKING = "/api/integration/orders/tracking"


class TestBounds:
    def test_leave_calls_out_over_the_number_of_an_hour(self, api, token, client_of, monkeypatch):
        monkeypatch.setattr(refused_calls, "MOST_STORED", 3)

        now = datetime(2026, 11, 20, 12, 59, 59, tzinfo=UTC)
        monkeypatch.setattr("config.refused_calls.clock", SimpleNamespace(now=lambda: now))
        others = [TokenFactory.create(), TokenFactory.create(integrator=token.integrator, sandbox=True)]

        for client in (api, *map(client_of, others)):
            for _call in range(4):
                client.get(f"/api/info-delivery/{UNKNOWN}")
        now += timedelta(seconds=1)
        api.get(f"/api/info-delivery/{UNKNOWN}")

        assert RefusedDeliveryCall.objects.count() == 3 * 3 + 1
        own, other, hour = token.integrator_id, others[0].integrator_id, now - timedelta(hours=1)
        counted = RefusedDeliveryCallCount.objects.values_list("hour", "integrator", "environment", "refused")
        assert set(counted) == {
            (hour, own, "live", 4), (hour, own, "sandbox", 4), (hour, other, "live", 4), (now, own, "live", 1),
        }  # fmt: skip  # a table
        assert OF_TOKENS.totals(integrator=own, environment="live", at=now).left_out == 1

    def test_count_calls_over_a_limit_and_store_none(self, api, token, buyer):
        Integrator.objects.update(rate_limit_per_hour=1)
        Seller.objects.update(rate_limit_per_hour=1)

        statuses = [client.get(TRACKING if client is buyer else f"/api/info-delivery/{UNKNOWN}").status_code
                    for client in (api, api, buyer, buyer)]  # fmt: skip

        assert statuses == [404, 429, 403, 429]
        assert OF_TOKENS.write_counts() is OF_KEYS.write_counts() is True
        assert RefusedDeliveryCallCount.objects.get().over_limit == 1
        assert RefusedSellerCallCount.objects.get().over_limit == 1
        assert (RefusedDeliveryCall.objects.count(), RefusedSellerCall.objects.count()) == (1, 1)

    def test_count_calls_over_a_limit_without_a_query_until_they_are_written(
        self, api, token, django_assert_num_queries
    ):
        Integrator.objects.update(rate_limit_per_hour=1)
        api.get(f"/api/info-delivery/{UNKNOWN}")

        with django_assert_num_queries(1):  # the token; later ones are refused without it
            statuses = [api.get(f"/api/info-delivery/{UNKNOWN}").status_code for _call in range(3)]
        written = [OF_TOKENS.write_counts(), OF_TOKENS.write_counts()]

        assert statuses == [429, 429, 429]
        assert written == [True, False]
        assert RefusedDeliveryCallCount.objects.get().over_limit == 3

    def test_keep_the_count_of_calls_over_a_limit_that_cannot_be_written(self, api, token, monkeypatch):
        """And that of calls which come meanwhile."""
        Integrator.objects.update(rate_limit_per_hour=1)
        statuses = [api.get(f"/api/info-delivery/{UNKNOWN}").status_code for _call in range(3)]
        name, add = RefusedDeliveryCallCount._meta.db_table, OF_TOKENS._add

        def add_after_a_call(*columns, **counts):
            statuses.append(api.get(f"/api/info-delivery/{UNKNOWN}").status_code)
            return add(*columns, **counts)

        with connection.cursor() as cursor, monkeypatch.context() as patch:
            patch.setattr(OF_TOKENS, "_add", add_after_a_call)
            cursor.execute(f"ALTER TABLE {name} RENAME TO gone")
            with pytest.raises(ProgrammingError):
                OF_TOKENS.write_counts()
            cursor.execute(f"ALTER TABLE gone RENAME TO {name}")
        OF_TOKENS.write_counts()

        assert statuses == [404, 429, 429, 429]
        assert RefusedDeliveryCallCount.objects.get().over_limit == 3

    def test_add_no_query_to_a_successful_call(self, api):
        created = api.post(REQUEST, payload(), format="json").json()["deliveryId"]

        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"/api/info-delivery/{created}").status_code == 200

        assert not [query for query in queries.captured_queries if "refused" in query["sql"]]


# Counts a call over the limit, and ends: at once, or without its exit handlers when the count is written.
PROCESS = """
import os, sys, threading, time
import django
django.setup()
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone
from types import SimpleNamespace
from common.api.authentication import CALL
from config.refused_calls import write_counts_until_exit
from delivery.models import RefusedDeliveryCallCount, Token
from delivery.models.call import RECORDER

connection.settings_dict["NAME"] = sys.argv[1]
threading.Thread(target=write_counts_until_exit).start()
request = SimpleNamespace(META={CALL: SimpleNamespace(auth=Token.objects.get())})
RECORDER.record(request, HttpResponse(status=429), request_id="", at=timezone.now())
if sys.argv[2] == "stay":
    while not RefusedDeliveryCallCount.objects.exists():
        time.sleep(0.05)
    os._exit(0)
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("then", ["stay", "exit"])
def test_a_process_writes_its_last_count_without_a_further_call(then):
    TokenFactory.create()

    subprocess.run(
        [sys.executable, "-c", PROCESS, connection.settings_dict["NAME"], then], cwd=BASE_DIR, check=True, timeout=60
    )

    assert RefusedDeliveryCallCount.objects.get().over_limit == 1
