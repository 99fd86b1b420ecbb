"""kill -9 for the process that makes a delivery or an order of what a shop's platform has posted."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count

import psycopg
import pytest
import requests
from django.db import connection
from django.utils import timezone

from common.shops import platforms
from common.shops.platforms import Platform
from delivery.connections.models import Draft as DeliveryDraft
from delivery.models import Delivery
from dev import embedded
from integration.models import Order
from tests.common.shops import shopify_orders
from tests.delivery.connections import shops
from tests.delivery.connections.shops import NEAR, SECRET
from tests.faults.outages import held_commits
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.integration.connections import shops as seller_shops

_HERE = {
    "address1": "Rua Augusta, \u2060500", "address2": "Ap. 12, \u2060Consolação", "city": "São Paulo",
    "province_code": "SP", "zip": "01304-000", "latitude": NEAR.latitude, "longitude": NEAR.longitude,
}  # fmt: skip  # an address
_numbers = count(1)


def _new_body():
    """An order with a number of its own, which has a place."""
    number = next(_numbers)
    return json.dumps(shopify_orders.order(id=number, name=f"#{number}", shipping_address=_HERE)).encode()


class _Deliveries:
    """A worker requests the delivery of a draft that was received before."""

    def __init__(self, processes, _seller):
        self.processes, self.body = processes, _new_body()
        self.shop = shops.shop(platform=Platform.SHOPIFY, automatic=True)
        self.drafts = DeliveryDraft.objects.filter(connection=self.shop)
        shops.post(self.shop, self.body)

    def count(self):
        return Delivery.objects.filter(integrator=self.shop.integrator).count()

    @contextmanager
    def making(self):
        """Yields what kills the process that makes it."""
        self.processes.start("beat")
        self.worker = self.processes.start("worker")
        yield self.worker.kill

    def post_again(self):
        """The platform's last call, once it is made."""
        # It stays leased to the killed worker for a minute.
        self.drafts.filter(due_at__isnull=False).update(due_at=timezone.now())
        self.worker.start()
        until(self.drafts.filter(status="requested").exists, what="a request")
        return shops.post(self.shop, self.body).json()


class _Orders:
    """A web server makes the order while the platform waits for the answer."""

    def __init__(self, processes, seller):
        self.server, self.body = processes.start_web(), _new_body()
        self.shop = seller_shops.shop(platform=Platform.SHOPIFY, seller=seller)

    def count(self):
        return Order.objects.filter(code=json.loads(self.body)["name"], seller=self.shop.seller).count()

    @contextmanager
    def making(self):
        with ThreadPoolExecutor(1) as pool:
            posted = pool.submit(self._post)
            yield self.server.kill
            assert isinstance(posted.exception(), requests.ConnectionError)

    def post_again(self):
        self.server.start()
        self._post()
        return self._post().json()

    def _post(self):
        signature = platforms.sign(secret=SECRET, body=self.body)
        headers = {"Content-Type": "application/json", platforms.SIGNATURE_HEADERS[Platform.SHOPIFY]: signature}
        url = f"{self.server.base}{self.shop.path}"
        return requests.post(url, data=self.body, headers=headers, timeout=DEADLINE_SECONDS)


@contextmanager
def _locked(table):
    """Who writes into the table waits. Yields a function that says whether somebody does."""
    with psycopg.connect(embedded.postgres_url()) as holder:
        holder.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
        yield partial(_is_waiting, table)


def _is_waiting(table):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [table])
        return cursor.fetchone() != (0,)


@contextmanager
def _delivery_written():
    """A worker that has written a delivery waits to end its draft. It writes the draft before, too."""
    with ExitStack() as at_first, ExitStack() as then:
        is_written = at_first.enter_context(_locked("delivery_dropoffoptions"))

        def is_held():
            if is_written():
                then.enter_context(_locked("delivery_draft"))
                at_first.close()
            return _is_waiting("delivery_draft")

        yield is_held


# Fails if a delivery or an order is made in another transaction than the one that ends its draft (`request` in
# delivery/connections/drafts.py, `receive` in common/shops/receptions.py), or if a draft is not due any more while it
# is requested (`check` in delivery/connections/drafts.py).
@pytest.mark.ci
@pytest.mark.parametrize(
    ("area", "held", "made"),
    [
        (_Deliveries, _delivery_written, 0),
        (_Deliveries, partial(_locked, "delivery_reception"), 1),  # it is committed, and its reception not corrected
        (_Orders, partial(_locked, "integration_reception"), 0),  # the order is written, and not committed
        (_Orders, held_commits, 1),  # it is committed, and not answered
    ],
)
def test_an_order_of_a_shop_is_made_once(processes, seller, area, held, made):
    area = area(processes, seller)
    with held() as is_held, area.making() as kill:
        until(is_held, what="the process waits")
        kill()
    until(lambda: area.count() == made, what="PostgreSQL has ended what the process had begun")

    answer = area.post_again()

    assert (answer["result"], answer["reason"], area.count()) == ("ignored", "already_requested", 1)
