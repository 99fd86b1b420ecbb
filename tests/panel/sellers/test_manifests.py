"""Labels and manifests on a seller's pages."""

import pytest
from django.utils import timezone

from integration.actions import orders
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import Manifest, Order
from panel.sellers.views import manifests as views
from tests.integration.factories import BY, OTHER_COMPANY, create_order
from tests.integration.papers.codes import misplaced, texts_of
from tests.panel.sellers.pages import said, url

PRINTED = {"size": "a6", "position": "1", "format": "pdf"}


@pytest.fixture
def order(seller):
    return create_order(seller)


@pytest.fixture
def foreign(foreign_seller):
    return create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")


def opened(seller, *chosen):
    return manifests.create(seller=seller, environment="live", orders=[*chosen], by=BY, at=timezone.now())


class TestLabels:
    def test_are_those_of_the_ticked_orders_in_their_sequence(self, member, seller, order, foreign):
        other = create_order(seller, orderId="A-2", volumes=2)
        ticked = [other.pk, order.pk, other.pk, foreign.pk, "x", "9" * 30, "\0"]

        response = member.post(url("seller_labels", seller), {**PRINTED, "order": ticked})

        assert response["Content-Type"] == "application/pdf"
        assert [text.split("Pedido ")[1][:3] for text in texts_of(response.content)] == ["A-2", "A-2", "A-1"]

    def test_are_refused_in_the_readers_language(self, member, seller, order):
        orders.cancel(order=order, by=BY, at=timezone.now())

        response = member.post(url("seller_labels", seller), {**PRINTED, "order": order.pk}, follow=True)

        assert said(response) == "Order A-1 is cancelled."

    def test_are_refused_with_what_is_wrong_with_each(self, member, seller, order):
        other = create_order(seller, orderId="A-2")
        for each in (order, other):
            orders.cancel(order=each, by=BY, at=timezone.now())

        ticked = {**PRINTED, "order": [order.pk, other.pk]}
        response = member.post(url("seller_labels", seller), ticked, follow=True)

        assert said(response) == "Order A-1 is cancelled. Order A-2 is cancelled."

    def test_need_a_paper_and_an_order_of_the_seller(self, member, seller, order, foreign):
        cases = [
            ("size", "a3"), ("position", "0"), ("position", "5"), ("format", ""), ("order", foreign.pk), ("order", ""),
        ]  # fmt: skip  # a list

        for name, value in cases:
            response = member.post(
                url("seller_labels", seller), {**PRINTED, "order": order.pk, name: value}, follow=True
            )

            assert said(response) == "Tick the orders, and choose the paper."

    def test_are_offered_for_orders_that_are_not_cancelled(self, member, seller, order):
        offered = f'name="order" value="{order.pk}"'

        for page in (url("seller_orders", seller), url("seller_order", seller, order.pk)):
            assert offered in _flat(member.get(page))
        orders.cancel(order=order, by=BY, at=timezone.now())
        for page in (url("seller_orders", seller), url("seller_order", seller, order.pk)):
            assert offered not in _flat(member.get(page))


def _flat(response):
    return " ".join(response.content.decode().split())


class TestManifests:
    def test_are_opened_with_the_ticked_orders(self, member, seller, order, foreign):
        response = member.post(url("seller_manifests", seller), {"order": [order.pk, foreign.pk]}, follow=True)

        manifest = Manifest.objects.get()
        assert response.redirect_chain == [(url("seller_manifest", seller, manifest.pk), 302)]
        assert [entry.order for entry in manifest.entries.all()] == [order]
        assert manifest.created_by == "user member"

    def test_leave_out_what_stands_in_another_one(self, member, seller, order):
        first = opened(seller, order)
        others = [create_order(seller, orderId=f"B-{number}") for number in range(2)]
        sent = {"order": [order.pk, *(each.pk for each in others)]}

        response = member.post(url("seller_manifests", seller), sent, follow=True)

        made = Manifest.objects.exclude(pk=first.pk).get()
        assert [str(each) for each in response.context["messages"]] == [
            f"Manifest {made} is open with 2 orders.",
            f"Left out: Order A-1 already stands in the open manifest {first.pk}.",
        ]
        assert [entry.order for entry in made.entries.all()] == others
        assert [entry.order for entry in first.entries.all()] == [order]

    def test_are_marked_in_the_list_of_orders_while_they_are_open(self, member, seller, order):
        manifest = opened(seller, order)
        create_order(seller, orderId="A-2")
        mark = f'href="{url("seller_manifest", seller, manifest.pk)}"> Manifest {manifest.pk} </a>'

        assert _flat(member.get(url("seller_orders", seller))).count(mark) == 1
        manifests.close(manifest=manifest, by=BY, at=timezone.now())
        assert mark not in _flat(member.get(url("seller_orders", seller)))

    def test_that_are_refused_lead_back_to_the_filtered_list(self, member, seller, order):
        opened(seller, order)
        sent = {"order": order.pk, "filters": "status=pending&q=A-1"}

        response = member.post(url("seller_manifests", seller), sent)

        assert response.url == f"{url('seller_orders', seller)}?status=pending&q=A-1"

    def test_are_not_opened_with_an_order_that_stands_in_one(self, member, seller, order):
        manifest = opened(seller, order)

        response = member.post(url("seller_manifests", seller), {"order": order.pk}, follow=True)

        assert said(response) == f"Order A-1 already stands in the open manifest {manifest.pk}."
        moved = create_order(seller, orderId="A-2")
        orders.move(order=moved, to=Status.IN_TRANSIT, by=BY, at=timezone.now())
        response = member.post(url("seller_manifests", seller), {"order": moved.pk}, follow=True)
        assert said(response) == "Order A-2 does not wait for collection any more: it is 'In transit'."
        assert Manifest.objects.count() == 1

    def test_are_listed_with_their_orders(self, member, seller, order):
        manifest = opened(seller, order)

        text = _flat(member.get(url("seller_manifests", seller)))

        assert url("seller_manifest", seller, manifest.pk) in text
        assert "A-1" in text

    def test_take_as_many_queries_for_any_number_of_orders(self, member, seller, order, django_assert_max_num_queries):
        manifest = opened(seller, order, *(create_order(seller, orderId=f"B-{number}") for number in range(5)))

        for page in (url("seller_manifest", seller, manifest.pk), url("seller_manifest_file", seller, manifest.pk)):
            with django_assert_max_num_queries(12):
                member.get(page)


class TestManifest:
    def test_is_closed_and_final(self, member, seller, order):
        manifest = opened(seller, order)
        page = url("seller_manifest", seller, manifest.pk)
        assert "Close and collect" in member.get(page).content.decode()

        response = member.post(url("seller_manifest_close", seller, manifest.pk), follow=True)

        assert said(response) == "The manifest is closed and its orders are collected."
        assert "Close and collect" not in response.content.decode()
        assert Order.objects.get().status == "collected"
        for name in ("seller_manifest_remove", "seller_manifest_delete"):
            refused = member.post(url(name, seller, manifest.pk), {"order": order.pk}, follow=True)
            assert said(refused) == "The manifest is closed and cannot be changed any more."

    def test_loses_an_order_and_is_deleted(self, member, seller, order):
        manifest = opened(seller, order)

        response = member.post(url("seller_manifest_remove", seller, manifest.pk), {"order": order.pk}, follow=True)

        assert said(response) == "The order is removed. It can be put into another manifest."
        empty = member.post(url("seller_manifest_close", seller, manifest.pk), follow=True)
        assert said(empty) == "The manifest has no order. Delete it."
        member.post(url("seller_manifest_delete", seller, manifest.pk))
        assert not Manifest.objects.exists()

    def test_gets_further_orders_that_wait(self, member, seller, order, foreign, monkeypatch):
        manifest = opened(seller, order)
        waiting, moved, elsewhere, newest = (create_order(seller, orderId=f"B-{number}") for number in range(4))
        orders.move(order=moved, to=Status.COLLECTED, by=BY, at=timezone.now())
        opened(seller, elsewhere)
        page = url("seller_manifest", seller, manifest.pk)

        offered = {
            words: [each.pk for each in member.get(page, {"q": words}).context["waiting"]]
            for words in ("", "A-", "B-0")
        }
        monkeypatch.setattr(views, "_MOST_OFFERED", 1)
        (first,) = member.get(page).context["waiting"]
        response = member.post(
            url("seller_manifest_add", seller, manifest.pk), {"order": [waiting.pk, foreign.pk]}, follow=True
        )

        assert offered == {"": [newest.pk, waiting.pk], "A-": [], "B-0": [waiting.pk]}
        assert first == newest
        assert said(response) == "1 order is added."
        assert [entry.order for entry in manifest.entries.all()] == [order, waiting]
        for sent, text in [
            (elsewhere, "Order B-2 already stands in the open manifest"),
            (moved, "Order B-1 does not wait for collection any more"),
            (foreign, "Tick the orders"),
        ]:
            refused = member.post(url("seller_manifest_add", seller, manifest.pk), {"order": sent.pk}, follow=True)
            assert text in said(refused)
        assert manifest.entries.count() == 2

    def test_says_how_many_of_its_orders_were_moved_while_it_was_open(self, member, seller, order):
        moved = create_order(seller, orderId="A-2")
        page = url("seller_manifest", seller, (manifest := opened(seller, order, moved)).pk)
        shown = [member.get(page).content.decode()]
        orders.move(order=moved, to=Status.IN_TRANSIT, by=BY, at=timezone.now())
        shown.append(member.get(page).content.decode())

        member.post(url("seller_manifest_close", seller, manifest.pk))

        shown.append(member.get(page).content.decode())
        assert ["moved meanwhile" in each for each in shown] == [False, True, False]
        assert "1 order was moved meanwhile" in shown[1]
        assert [row.status for row in Order.objects.order_by("pk")] == ["collected", "in_transit"]

    def test_is_a_file_to_sign(self, member, seller, order):
        response = member.get(url("seller_manifest_file", seller, opened(seller, order).pk))

        (page,) = texts_of(response.content)
        for who in ("Entregue por (vendedor)", "Recebido por (transportadora)"):
            for line in ("assinatura", "nome e documento", "data e hora"):
                assert f"{who}: {line}" in page
        assert misplaced(response.content) == []

    def test_of_another_seller_is_not_found(self, member, seller, foreign, foreign_seller):
        manifest = opened(foreign_seller, foreign)

        for name in ("seller_manifest", "seller_manifest_file"):
            assert member.get(url(name, seller, manifest.pk)).status_code == 404
        for name in (
            "seller_manifest_close",
            "seller_manifest_add",
            "seller_manifest_remove",
            "seller_manifest_delete",
        ):
            assert member.post(url(name, seller, manifest.pk), {"order": foreign.pk}).status_code == 404
        assert Manifest.objects.get().entries.count() == 1

    @pytest.mark.usefixtures("suspended_seller")
    def test_is_not_changed_for_a_suspended_seller(self, member, seller, order):
        manifest, other = opened(seller, order), create_order(seller, orderId="A-2")
        changes = [
            (url("seller_manifests", seller), other),
            (url("seller_manifest_add", seller, manifest.pk), other),
            *((url(f"seller_manifest_{name}", seller, manifest.pk), order) for name in ("close", "remove", "delete")),
        ]

        answers = [member.post(address, {"order": sent.pk}, follow=True) for address, sent in changes]
        page = member.get(url("seller_manifest", seller, manifest.pk))

        assert ["suspended" in said(each) for each in answers] == [True] * len(changes)
        assert (page.context["may_change"], [*page.context["waiting"]]) == (False, [])
        assert [entry.order for entry in Manifest.objects.get(closed_at=None).entries.all()] == [order]
