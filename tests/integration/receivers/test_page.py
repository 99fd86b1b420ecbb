"""The receiver's page of an order: its link, its end, what it says and what it does not."""

import base64
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.accounts import Environment
from common.pages import link_tokens
from common.postgresql.forgetting import forgetting
from integration.actions import orders
from integration.lifecycle import WITH_REASON, Reason, Status
from integration.models import Order
from integration.models.order import _SALT, _signer
from tests.cases import in_turn
from tests.delivery.receivers.links import text_of
from tests.integration.factories import BY, create_order, order_body
from tests.zones import IN_EACH_ZONE, NOON

ENDED, UNKNOWN = "This link has ended", "This link does not exist"
PERSONAL = ("Maria", "529.982.247-25", "52998224725", "Avenida Paulista", "1578", "Bela Vista", "01310", "A-1", "@")


def path_of(order):
    return "/" + order.tracking_url.split("/", 3)[3]


def get(client, order, language="en"):
    return client.get(path_of(order), HTTP_ACCEPT_LANGUAGE=language)


def move(order, status, *, at=None, **details):
    return orders.move(order=order, to=status, by=BY, at=at or timezone.now(), details=orders.Details(**details))


@pytest.fixture
def order(seller):
    return create_order(seller)


class TestTimes:
    @IN_EACH_ZONE
    def test_are_those_of_the_receivers_state(self, client, seller, city):
        address = {**order_body()["receiver"]["address"], "zipCode": city.postcode, "state": city.state}
        order = create_order(seller, receiver={**order_body()["receiver"], "address": address})

        move(order, Status.COLLECTED, at=NOON)

        assert f" {city.time} " in text_of(get(client, order))


class TestLink:
    def test_leads_to_its_order_and_no_other(self, client, seller, order):
        other = create_order(seller, orderId="A-2")

        texts = [text_of(get(client, each)) for each in (order, other)]

        assert [order.tracking_code in text for text in texts] == [True, False]
        assert [other.tracking_code in text for text in texts] == [False, True]

    def test_is_not_made_from_that_of_another_order(self, client, seller, order):
        other, path = create_order(seller, orderId="A-2"), path_of(order)
        signature = _signer.sign(str(order.pk)).rpartition(".")[2]
        paths = [
            f"/t/o/{other.pk}.{signature}", f"/t/o/0{order.pk}.{signature}", path[:-1], f"{path}x", path.lower(),
            f"/t/o/{order.pk}", f"/t/o/{order.pk}.", "/t/o/", f"/t/o/{_signer.sign('99999999')}",
            f"/t/o/{link_tokens.make(99999999, salt=_SALT)}", f"/t/o/{link_tokens.make(order.pk, salt='other')}",
            f"/t/{path.rpartition('/')[2]}", f"{path}/map/v.pmtiles", "/t/o/" + "1" * 5000, "/t/o/%00.x", "/t/o/é.x",
            f"/t/o/{'é' * 32}", f"/t/o/{'+' * 32}", f"/t/o/{path_of(other)[5:-16]}{path[-16:]}",
        ]  # fmt: skip  # a list

        answers = [client.get(each, HTTP_ACCEPT_LANGUAGE="en") for each in paths]

        assert {(answer.status_code, UNKNOWN in text_of(answer)) for answer in answers} == {(404, True)}

    def test_does_not_tell_how_many_orders_there_are(self, seller, order):
        tokens = [path_of(each).removeprefix("/t/o/") for each in (order, create_order(seller, orderId="A-2"))]
        read = [base64.urlsafe_b64decode(token) for token in tokens]

        assert [len(each) for each in read] == [24, 24]  # 128 bits that nobody can guess, and the id, encrypted
        for each, token in zip(read, tokens, strict=True):
            assert str(order.pk).encode() not in (each, token.encode())
        assert sum(one == other for one, other in zip(*read, strict=True)) < 6  # by chance one in 256

    def test_works_that_was_sent_before_and_under_the_former_key(self, client, settings, order):
        path, earlier = path_of(order), f"/t/o/{_signer.sign(str(order.pk))}"
        answers = [client.get(earlier).status_code]
        settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50

        answers += [client.get(each).status_code for each in (path, path_of(order))]
        settings.SECRET_KEY_FALLBACKS = []

        assert path != path_of(order)
        assert [*answers, client.get(path).status_code] == [200, 200, 200, 404]

    def test_works_with_a_slash_at_the_end_and_changes_nothing(self, client, order):
        path = path_of(order)

        assert client.get(f"{path}/").status_code == 200
        assert [getattr(client, name)(path).status_code for name in ("put", "delete", "patch")] == [405] * 3

    def test_costs_two_look_ups(self, client, order):
        with CaptureQueriesContext(connection) as queries:
            get(client, order)

        tables = [re.findall(r'FROM "(\w+)"', query["sql"])[0] for query in queries]
        assert tables == ["integration_order", "integration_statuslog"]
        assert f'WHERE "integration_order"."id" = {order.pk}' in queries[0]["sql"]

    def test_keeps_out_of_caches_search_engines_and_referrers(self, client, order):
        response = get(client, order)

        assert response["Cache-Control"] == "no-store, private"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert "default-src 'none'" in response["Content-Security-Policy"]
        assert not response.cookies


class TestEnd:
    @pytest.mark.parametrize("status", [Status.DELIVERED, Status.CANCELLED])
    @pytest.mark.parametrize(("ago", "works"), [(timedelta(days=29, hours=23), True), (timedelta(days=30), False)])
    def test_is_30_days_after_that_of_the_order(self, client, api, order, status, ago, works):
        move(order, status, at=timezone.now() - ago)

        page, detail = get(client, order), api.get(f"/api/integration/orders/{order.code}").json()["data"]

        assert page.status_code == (200 if works else 404)
        assert (ENDED in text_of(page)) is not works
        assert detail["trackingUrl"] == (order.tracking_url if works else None)

    @pytest.mark.parametrize(("ago", "works"), [(timedelta(days=119), True), (timedelta(days=120), False)])
    def test_is_120_days_after_the_last_news_of_an_order_that_never_ends(self, order, ago, works):
        now = timezone.now()
        move(order, Status.COLLECTED, at=now)

        assert Order.objects.get().link_works(at=now + ago) is works

    def test_comes_when_the_order_is_forgotten(self, client, order):
        with forgetting():
            Order.objects.update(
                receiver_name="", receiver_document="", receiver={"address": {}}, forgotten_at=timezone.now()
            )

        response = get(client, order)

        assert (response.status_code, ENDED in text_of(response)) == (404, True)


class TestText:
    def test_has_no_personal_data_but_the_city(self, client, order):
        move(order, Status.COLLECTED, place="Rua do CD, 9")
        move(order, Status.DELIVERY_FAILED, reason_code=Reason.OTHER, reason="Dona Rita not there", place="Rua 7")

        content = get(client, order).content.decode()

        assert "São Paulo/SP" in content
        assert [text for text in (*PERSONAL, "Rua", "Rita", "150") if text in content] == []

    def test_of_a_preview_is_the_same_for_every_order(self, client, seller, order):
        other = create_order(seller, orderId="A-2")
        move(other, Status.DELIVERED)

        heads = [get(client, each).content.decode().partition("<body>")[0] for each in (order, other)]

        assert heads[0] == heads[1]
        assert '<meta property="og:title" content="Follow your order">' in heads[0]

    @in_turn(
        ("way", "done", "sentence", "next_step"),
        [
            ([], 1, "The shop is preparing your order.", "Next the carrier collects it."),
            (["collected"], 2, "Your order is on its way.", "Next it goes out for delivery."),
            (["in_transit"], 2, "Your order is on its way.", "Next it goes out for delivery."),
            (["out_for_delivery"], 3, "Your order is out for delivery.", "Somebody should be there"),
            (["delivered"], 4, "Your order was delivered.", "If you do not have it, ask {shop}."),
            (["collected", "delivery_failed"], 3, "could not be delivered.", "If the address is wrong, tell {shop}."),
            (["collected", "returned"], 3, "Your order was returned to the shop.", "Ask {shop} what happens next."),
            (["cancelled"], 2, "Your order was cancelled.", "Ask {shop} what happens next."),
        ],
    )
    def test_says_what_happens_now_and_next(self, client, order, way, done, sentence, next_step):
        for status in map(Status, way):
            move(order, status, reason_code=Reason.ABSENT if status in WITH_REASON else "")

        response = get(client, order)

        assert response.status_code == 200
        assert sentence in text_of(response)
        assert next_step.format(shop=order.seller.name) in text_of(response)
        steps = response.content.decode().partition('class="progress')[2].partition("</ol>")[0]
        assert [steps.count(mark) for mark in ('class="done"', 'aria-current="step"')] == [done, 1]

    @in_turn(
        ("way", "steps"),
        [
            (["cancelled"], ["Preparing", "Cancelled"]),
            (["out_for_delivery", "returned"], ["Preparing", "Out for delivery", "Returned"]),
            (
                ["collected", "delivery_failed", "returned"],
                ["Preparing", "On the way", "Out for delivery", "Returned"],
            ),
            (["collected", "delivery_failed"], ["Preparing", "On the way", "Delivery failed", "Delivered"]),
            (
                ["collected", "delivery_failed", "in_transit"],
                ["Preparing", "On the way", "Out for delivery", "Delivered"],
            ),
        ],
    )
    def test_has_no_steps_that_an_order_that_failed_did_not_have(self, client, order, way, steps):
        for status in map(Status, way):
            move(order, status, reason_code=Reason.ABSENT if status in WITH_REASON else "")

        content = get(client, order).content.decode()

        assert re.findall(r"<li[^>]*>\s*([^<]+?)\s*</li>", content) == steps

    def test_gives_the_reason_of_now_apart_from_the_history(self, client, order):
        shown = []
        for status in (Status.COLLECTED, Status.DELIVERY_FAILED, Status.OUT_FOR_DELIVERY):
            move(order, status, reason_code=Reason.ABSENT if status in WITH_REASON else "")
            shown.append(get(client, order).content.decode().count("Nobody there"))

        assert shown == [0, 2, 1]

    def test_shows_when_it_happened_and_why_in_the_readers_language(self, client, order):
        happened = timezone.now().replace(second=0, microsecond=0)
        move(order, Status.COLLECTED)
        move(order, Status.DELIVERY_FAILED, reason_code=Reason.ABSENT, happened_at=timezone.now())

        english, portuguese = (get(client, order, language) for language in ("en", "pt-BR"))

        assert "Nobody there" in text_of(english)
        assert "Nobody there" not in text_of(portuguese)
        assert "Não foi possível entregar o seu pedido." in text_of(portuguese)
        assert '<html lang="pt-br">' in portuguese.content.decode()
        moments = re.findall(r'datetime="([^"]+)"', english.content.decode())
        assert len(moments) == 3
        assert moments == sorted(moments, reverse=True)
        assert moments[0][:10] == timezone.localtime(happened).date().isoformat()

    def test_names_the_promised_day(self, client, tariff, seller):
        seller.companies.update(postcode="01310100")
        order = create_order(seller)
        before = text_of(get(client, order))
        move(order, Status.COLLECTED)
        order.refresh_from_db()

        after = text_of(get(client, order))

        assert order.promised_on is not None
        assert "after the collection" in before
        assert f"Expected by {order.promised_on.day} {order.promised_on:%b %Y}" in after
        assert "longer than promised" not in after

    def test_says_that_it_is_late(self, client, tariff, seller):
        seller.companies.update(postcode="01310100")
        order = create_order(seller)
        move(order, Status.COLLECTED, at=timezone.now() - timedelta(days=40))

        assert "It takes longer than promised." in text_of(get(client, order))

    def test_marks_an_order_of_the_sandbox(self, client, seller, order):
        test = create_order(seller, Environment.SANDBOX)

        assert ["Nothing is delivered" in text_of(get(client, each)) for each in (order, test)] == [False, True]
