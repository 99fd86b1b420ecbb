"""Web Push messages of new offers, to a push service on loopback that decrypts them."""

import threading
from collections import deque
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone
from redis import Redis

from common import credentials
from common.pages.page_updates import CHANNEL
from delivery import page_updates
from delivery.actions import deliveries
from delivery.drivers import devices as driver_devices
from delivery.drivers import offer_pushes, web_push
from delivery.models import Driver, DriverDevice, LatestPosition, PushSubscription
from tests.delivery.drivers.browsers import Browser, claims
from tests.delivery.drivers.phones import phone
from tests.delivery.push_service import PushService
from tests.factories import BY, PICKUP, DeliveryFactory
from tests.faults.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def service():
    made = PushService()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.VAPID_PRIVATE_KEY, settings.VAPID_SUBJECT = web_push.new_key(), "mailto:rota@example.com"


def subscribed(url, path="/1", **driver):
    """A browser on the phone of a new driver at PICKUP, who is on duty."""
    browser = Browser(f"{url}{path}")
    owner = phone(**driver)
    assert owner.post("push/", browser.body).status_code == 204
    return browser


def push(delivery):
    offer_pushes.push([delivery.pk], at=timezone.now())


class TestPush:
    def test_sends_what_only_the_phone_can_read(self, service):
        requested = timezone.now() - timedelta(minutes=30)
        browser, delivery = subscribed(service.url), DeliveryFactory.create(stops=2, accepted=True, at=requested)
        deliveries.release(delivery=delivery, by=BY, at=timezone.now())  # it is offered for an hour again

        push(delivery)

        ((path, headers, body),) = service.received
        assert path == "/1"
        assert browser.decrypt(body) == {
            "title": "New offer",
            "body": f"{delivery.distance_km:.1f} km, 2 stops",
            "deliveryId": str(delivery.pk),
        }
        assert headers["content-encoding"] == "aes128gcm"
        assert 3500 < int(headers["ttl"]) <= 3600
        assert claims(headers["authorization"])["aud"] == service.url
        assert claims(headers["authorization"])["sub"] == "mailto:rota@example.com"

    def test_speaks_the_language_of_the_phone(self, service):
        browser, delivery = subscribed(service.url), DeliveryFactory.create(stops=1)
        DriverDevice.objects.update(language="pt-br")

        push(delivery)

        km = f"{delivery.distance_km:.1f}".replace(".", ",")
        assert browser.decrypt(service.received[0][2])["body"] == f"{km} km, 1 parada"

    def test_reaches_only_those_who_may_accept(self, service):
        subscribed(service.url, vehicle_type="CAR")
        subscribed(service.url, environment="sandbox")

        push(DeliveryFactory.create())

        assert service.received == []

    def test_reaches_no_phone_that_is_logged_out(self, service):
        subscribed(service.url)
        driver_devices.end(device=DriverDevice.objects.get(), by=BY, at=timezone.now())
        Driver.objects.update(on_duty=True)

        push(DeliveryFactory.create())

        assert service.received == []

    def test_leaves_out_drivers_whose_page_is_open(self, service):
        subscribed(service.url)
        delivery = DeliveryFactory.create()
        with Redis.from_url(django_settings.REDIS_URL) as redis, redis.pubsub() as page:
            page.subscribe(CHANNEL + page_updates.driver(Driver.objects.get().pk))
            page.get_message(timeout=2)

            push(delivery)

        assert service.received == []
        push(delivery)
        assert len(service.received) == 1

    @pytest.mark.parametrize(("lasts", "seconds"), [(3600, 60), (30, 30)])
    def test_sends_nothing_of_an_offer_that_is_older_than_a_minute_or_over(self, service, settings, lasts, seconds):
        settings.OFFER_TTL = timedelta(seconds=lasts)
        subscribed(service.url)
        delivery = DeliveryFactory.create()

        offer_pushes.push([delivery.pk], at=delivery.created_at + timedelta(seconds=seconds))

        assert service.received == []
        offer_pushes.push([delivery.pk], at=delivery.created_at + timedelta(seconds=seconds - 1))
        assert len(service.received) == 1

    def test_sends_an_offer_that_a_dispatcher_took_back_from_a_driver(self, service):
        subscribed(service.url)
        at = timezone.now() - timedelta(minutes=5)
        delivery = DeliveryFactory.create(accepted=True, at=at)
        deliveries.release(delivery=delivery, by=BY, at=timezone.now())

        push(delivery)

        assert len(service.received) == 1

    def test_sends_nothing_of_an_offer_that_was_taken(self, service):
        delivery = DeliveryFactory.create(accepted=True)
        subscribed(service.url)

        push(delivery)

        assert service.received == []

    def test_is_for_the_nearest_fifty(self, service, monkeypatch):
        monkeypatch.setattr(offer_pushes, "MOST_DRIVERS", 2)
        for number, name in enumerate("ABC"):
            subscribed(service.url, path=f"/{number}", name=name)
        seen = LatestPosition.objects.exclude(driver__name="A")
        seen.update(recorded_at=timezone.now() - timedelta(hours=1))
        LatestPosition.objects.filter(driver__name="A").update(latitude=PICKUP.latitude + 0.05)

        push(DeliveryFactory.create())

        assert sorted(path for path, _headers, _body in service.received) == ["/1", "/2"]

    @pytest.mark.parametrize(("status", "left"), [(404, 0), (410, 0), (201, 1), (413, 1), (429, 1), (500, 1)])
    def test_forgets_a_subscription_that_is_gone(self, service, status, left):
        service.status = status
        subscribed(service.url)

        push(DeliveryFactory.create())

        assert len(service.received) == 1
        assert PushSubscription.objects.count() == left

    def test_keeps_the_subscription_with_which_the_phone_has_replaced_one_that_is_gone(self, service, monkeypatch):
        service.status = 410
        subscribed(service.url)
        device, settle = DriverDevice.objects.get(), offer_pushes._settle
        anew = Browser(f"{service.url}/2").subscription

        def settle_late(*arguments, **options):
            driver_devices.subscribe(device=device, **anew, at=timezone.now())
            settle(*arguments, **options)

        monkeypatch.setattr(offer_pushes, "_settle", settle_late)

        push(DeliveryFactory.create())

        assert [path for path, _headers, _body in service.received] == ["/1"]
        assert PushSubscription.objects.get().device == device

    def test_reaches_no_private_address(self, service, settings):
        subscribed(service.url)
        settings.WEBHOOK_ALLOW_LOOPBACK = False

        push(DeliveryFactory.create())

        assert service.received == []

    def test_takes_as_many_queries_for_three_phones_as_for_one(self, service, django_assert_num_queries):
        subscribed(service.url)
        delivery = DeliveryFactory.create()
        with django_assert_num_queries(7):
            push(delivery)
        for number in range(2):
            subscribed(service.url, path=f"/{number}")

        with django_assert_num_queries(7):
            push(delivery)

        assert len(service.received) == 4


class TestPushWaiting:
    @pytest.fixture
    def offers(self, monkeypatch):
        """Three offers that wait."""
        made = [DeliveryFactory.create().pk for _number in range(3)]
        monkeypatch.setattr(offer_pushes, "_waiting", deque(made))
        return [str(key) for key in made]

    @pytest.mark.django_db(transaction=True)
    def test_sends_all_offers_while_a_push_service_is_silent(self, service, offers, monkeypatch):
        browser = subscribed(service.url, path="/heard")
        subscribed(service.url, path="/silent")
        service.silent = {"/silent"}
        monkeypatch.setattr(offer_pushes, "_SECONDS", 20)
        pushing = threading.Thread(target=_with_own_connection, args=(offer_pushes.push_waiting,))
        pushing.start()

        def heard():
            return [body for path, _headers, body in service.received if path == "/heard"]

        until(lambda: len(heard()) == 3, what="three messages")
        is_silent = not service.speaks.is_set() and pushing.is_alive()
        service.speaks.set()
        pushing.join(20)

        assert {browser.decrypt(body)["deliveryId"] for body in heard()} == set(offers)
        assert is_silent

    def test_goes_on_after_an_offer_that_cannot_be_pushed(self, service, offers, monkeypatch, caplog):
        subscribed(service.url)
        messages = offer_pushes._messages

        def fail_for_the_first(key, **moment):
            if str(key) == offers[0]:
                raise ZeroDivisionError
            return messages(key, **moment)

        monkeypatch.setattr(offer_pushes, "_messages", fail_for_the_first)

        offer_pushes.push_waiting()

        assert len(service.received) == 2
        assert offers[0] in caplog.text

    def test_goes_on_after_a_subscription_that_is_broken(self, service, offers):
        subscribed(service.url, path="/broken")
        PushSubscription.objects.update(ciphertext=credentials.encrypt("[]"))
        subscribed(service.url)

        offer_pushes.push_waiting()

        assert len(service.received) == 3


class TestSilentPushService:
    @pytest.fixture
    def silent(self, service, monkeypatch):
        """The subscription of a phone whose push service does not answer."""
        monkeypatch.setattr(offer_pushes, "_SECONDS", 0.2)
        subscribed(service.url)
        service.silent = {"/1"}
        return PushSubscription.objects.get()

    def test_is_given_up_after_an_hour(self, silent):
        began, left = timezone.now(), []
        for minutes in (0, 30, 59, 60):
            at = began + timedelta(minutes=minutes)
            offer_pushes.push([DeliveryFactory.create(at=at).pk], at=at)
            left.append(PushSubscription.objects.count())

        assert left == [1, 1, 1, 0]

    @pytest.mark.parametrize("status", [201, 500])
    def test_is_not_given_up_once_it_has_answered(self, silent, service, status):
        push(DeliveryFactory.create())
        service.silent, service.status = set(), status

        push(DeliveryFactory.create())

        silent.refresh_from_db()
        assert silent.silent_since is None


def _with_own_connection(work):
    try:
        work()
    finally:
        connection.close()
