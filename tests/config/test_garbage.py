"""What a call of the APIs leaves to garbage collection, which stops all threads of a process for milliseconds."""

import gc
import json

import pytest
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from delivery.models import WebhookEndpoint, WebhookQueueItem
from tests.cost.wsgi import ask
from tests.factories import payload
from tests.integration.factories import SellerFactory, key_of, order_body

pytestmark = pytest.mark.django_db

QUOTE, REQUEST, ORDERS = "/api/quotation-delivery", "/api/request-delivery", "/api/integration/orders"


@pytest.fixture
def garbage():
    """The objects that only garbage collection has freed since, in a list that it fills when it is called."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)

    def found():
        gc.collect()
        return list(gc.garbage)

    yield found
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def assert_freed(garbage):
    kinds = (HttpRequest, HttpResponse, Request, APIView, Model)
    assert [each for each in garbage if isinstance(each, kinds)] == []


def post(path, authorization, *bodies):
    """The status of the last answer. The first call of a process leaves something until the next."""
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    return [ask("POST", path, headers=headers, body=json.dumps(body).encode()).status for body in bodies][-1]


class TestACall:
    def test_that_is_answered_leaves_neither_request_nor_view(self, token, garbage):
        assert post(QUOTE, f"Bearer {token.clear_text}", payload(), payload()) == 200
        assert_freed(garbage())

    def test_that_is_refused_leaves_neither(self, token, garbage):
        assert post(QUOTE, f"Bearer {token.clear_text}", {}, {}) == 422
        assert_freed(garbage())

    def test_without_a_valid_credential_leaves_neither(self, garbage):
        assert post(QUOTE, "Bearer wrong", payload(), payload()) == 401
        assert_freed(garbage())

    def test_that_creates_rows_leaves_none_of_them(self, token, garbage):
        WebhookEndpoint.objects.update(url="http://127.0.0.1:9/hook")

        assert post(REQUEST, f"Bearer {token.clear_text}", payload(), payload()) == 201
        assert WebhookQueueItem.objects.count() == 2
        assert_freed(garbage())

    def test_of_a_seller_leaves_neither(self, garbage):
        key = key_of(SellerFactory.create())

        assert post(ORDERS, f"Basic {key}", order_body(), order_body(orderId="O-2", trackingCode="T-2")) == 201
        assert_freed(garbage())
