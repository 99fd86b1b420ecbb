"""Subscriptions of phones to Web Push."""

from typing import Any

import pytest
from django.utils import timezone

from delivery.drivers import web_push
from delivery.models import PushSubscription
from tests.delivery.drivers.browsers import Browser
from tests.delivery.drivers.phones import phone

pytestmark = pytest.mark.django_db


class TestSubscription:
    def test_is_kept_once_for_each_phone(self):
        ana = phone()

        for number in range(2):
            PushSubscription.objects.update(silent_since=timezone.now())
            assert ana.post("push/", Browser(f"https://push.example/{number}").body).status_code == 204

        subscription = PushSubscription.objects.get()
        assert subscription.device.driver == ana.driver
        assert "push.example" not in subscription.ciphertext
        assert subscription.silent_since is None  # of the push service before

    def test_is_deleted_of_this_phone(self):
        ana, second = phone(), phone()
        for number, each in enumerate((ana, second)):
            each.post("push/", Browser(f"https://push.example/{number}").body)

        assert ana.client.delete("/driver/push/").status_code == 204
        assert PushSubscription.objects.get().device.driver == second.driver

    def test_of_another_form_is_refused(self):
        ana, body = phone(), Browser("https://push.example/1").body
        urls = ["http://push.example/1", "https://10.0.0.5/1", "https://push.example:22/1"]
        endpoints = [*urls, None, 5, "https://push.example/" + "x" * 2000]
        keys: list[Any] = [None, {}, {"p256dh": "x", "auth": "y"}, {"p256dh": "A" * 5000, "auth": "A" * 22}]

        for name, value in [*(("endpoint", url) for url in endpoints), *(("keys", pair) for pair in keys)]:
            response = ana.post("push/", {**body, name: value})

            assert (response.status_code, response.json()["code"]) == (422, "invalid_report")
        assert not PushSubscription.objects.exists()


class TestPublicKey:
    def test_is_told_where_it_is_set(self, settings):
        settings.VAPID_PRIVATE_KEY = web_push.new_key()

        key = phone().get("push/").json()["publicKey"]

        assert key == web_push.public_key(web_push.private_key(settings.VAPID_PRIVATE_KEY))

    def test_is_null_otherwise(self):
        assert phone().get("push/").json() == {"publicKey": None}
