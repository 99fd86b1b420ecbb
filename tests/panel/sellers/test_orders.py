"""A seller's orders in the panel: the list with its search, the page of one, the export."""

import re
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integration.accounts import sellers
from integration.actions import orders
from integration.invoices.models import Invoice
from integration.lifecycle import Reason, Status
from integration.models import Order
from panel import filters
from panel.sellers.views import orders as views
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    COMPANY,
    OTHER_COMPANY,
    access_key,
    create_order,
    load_tariff,
    nfe_xml,
    order_body,
    send_invoice,
)
from tests.panel.sellers.pages import plans_of, said, url
from tests.tables import renew


@pytest.fixture
def order(seller):
    return create_order(seller, trackingCode="AA123456785BR")


@pytest.fixture
def foreign(foreign_seller):
    return create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")


def listed(client, seller, **query):
    return [row.code for row in client.get(url("seller_orders", seller), query).context["rows"]]


def named(name):
    return {**order_body()["receiver"], "name": name, "document": None}


class TestList:
    def test_shows_the_sellers_orders_newest_first(self, member, seller, order, foreign):
        create_order(seller, orderId="A-2")

        assert listed(member, seller) == ["A-2", "A-1"]

    def test_says_that_it_is_filtered_where_rows_may_be_left_out(self, member, seller):
        queries: tuple[dict[str, str], ...] = (
            {},
            {"sort": "cost"},
            {"before": "x"},
            {"status": "pending"},
            {"q": "x", "sort": "cost"},
        )

        pages = [member.get(url("seller_orders", seller), query).context for query in queries]

        assert [page["is_filtered"] for page in pages] == [False, False, False, True, True]
        assert [[each.name for each in page["used"]] for page in pages] == [[], [], [], ["status"], ["q"]]

    def test_finds_id_tracking_code_document_and_parts_and_nothing_else(self, member, seller, order, foreign):
        create_order(seller, orderId="B-2", receiver=named("João Conceição"))
        terms = [
            "A-1",
            "a1",
            " AA123456785BR ",
            "aa 123.456-785 br",
            "529.982.247-25",
            "52998224725",
            "maria",
            "MÁRIA",
            "123456785",
            "a-",
        ]
        nothing = ["F-1", "%", "_", "nobody", "--"]

        assert [listed(member, seller, q=term) for term in terms] == [["A-1"]] * len(terms)
        assert listed(member, seller, q="joao conceicao") == ["B-2"]
        assert [listed(member, seller, q=term) for term in nothing] == [[]] * len(nothing)

    def test_looks_for_parts_among_the_newest_alone(self, member, seller, order, monkeypatch):
        monkeypatch.setattr(filters, "NEWEST", 1)
        create_order(seller, orderId="B-2")

        assert listed(member, seller, q="A-") == []
        assert listed(member, seller, q="A-1") == ["A-1"]

    def test_is_filtered_by_status_and_date(self, member, seller, order, monkeypatch):
        orders.move(order=order, to=Status.IN_TRANSIT, by=BY, at=timezone.now())
        create_order(seller, orderId="A-2")

        assert listed(member, seller, status="in_transit") == ["A-1"]
        assert listed(member, seller, until="2026-01-01T00:00") == []
        assert listed(member, seller, since="2026-01-01T00:00") == ["A-2", "A-1"]
        assert listed(member, seller, period="hour") == ["A-2", "A-1"]
        left_over = {"since": "2099-01-01T00:00", "until": "2026-01-01T00:00"}  # of a range that was chosen before
        assert listed(member, seller, period="hour", **left_over) == ["A-2", "A-1"]
        later = SimpleNamespace(now=lambda: order.created_at + timedelta(hours=2))
        monkeypatch.setattr("panel.filters.clock", later)
        assert listed(member, seller, period="hour") == []
        assert listed(member, seller, period="day") == ["A-2", "A-1"]

    def test_of_a_range_begins_with_its_first_moment_and_ends_before_its_last(self, member, seller):
        at = timezone.now().replace(second=0, microsecond=0)
        create_order(seller, orderId="B-1", at=at)
        moments = [f"{timezone.localtime(at + timedelta(minutes=number)):%Y-%m-%dT%H:%M}" for number in (-1, 0, 1)]

        found = [listed(member, seller, since=since, until=until) for since, until in pairwise(moments)]

        assert found == [[], ["B-1"]]

    def test_of_an_invalid_filter_is_empty_and_says_so(self, member, seller, order):
        for query in ({"status": "lost"}, {"since": "soon"}, {"q": "x" * 256}):
            page = member.get(url("seller_orders", seller), query)

            assert page.context["rows"] == [], query
            assert page.context["filters"].errors

    def test_takes_as_many_queries_for_many_orders_as_for_one(self, member, seller, order):
        counts = []
        for number in range(2):
            with CaptureQueriesContext(connection) as captured:
                listed(member, seller)
            counts.append(len(captured))
            for further in range(3):
                create_order(seller, orderId=f"B-{number}-{further}")

        assert counts[0] == counts[1]

    @in_turn("query", [{}, {"status": "pending"}, {"q": "A-1"}, {"q": "52998224725"}, {"q": "maria"}])
    def test_reads_no_table_as_a_whole(self, member, seller, query):
        renew(Order)
        create_order(seller)
        with CaptureQueriesContext(connection) as captured:
            assert listed(member, seller, **query) == ["A-1"]

        plans = plans_of(captured, "integration_order")

        assert plans
        assert not [plan for plan in plans if "Seq Scan" in plan]


class TestPage:
    def test_shows_history_parcels_receiver_and_invoices(self, member, seller, order):
        invoice = send_invoice(seller, nfe_xml().encode())
        orders.move(order=order, to=Status.OUT_FOR_DELIVERY, by="user ana", at=timezone.now())

        page = member.get(url("seller_order", seller, order.pk)).content.decode()

        for text in (
            "AA123456785BR", "Out for delivery", "Cafeteira", "10 × 20 × 30", "529.982.247-25",
            "Avenida Paulista", "01310-100", url("seller_invoice", seller, invoice.pk),
        ):  # fmt: skip  # a list
            assert text in page, text

    def test_has_one_timeline_which_begins_with_what_is_usually_next(self, member, seller, order):
        def begins():
            page = member.get(url("seller_order", seller, order.pk)).content.decode()
            (line,) = re.findall(r'<ol class="timeline">.*?</ol>', page, re.DOTALL)
            return [" ".join(re.sub("<[^>]+>", " ", item).split()) for item in line.split("<li")[1:3]]

        found = [begins()]
        for status in (Status.OUT_FOR_DELIVERY, Status.DELIVERY_FAILED, Status.DELIVERED):
            details = orders.Details(reason_code=Reason.ABSENT if status == Status.DELIVERY_FAILED else "")
            orders.move(order=order, to=status, by=BY, at=timezone.now(), details=details)
            found.append(begins())

        nexts = [first.rpartition("Next: ")[2] if "Next: " in first else "" for first, *_older in found]
        assert nexts == ["Collected", "Delivered", "", ""]
        assert ["Out for delivery" in lines[1] for lines in found[1:3]] == [True, True]

    def test_shows_reason_and_place_of_a_move_and_the_receivers_page_while_it_works(self, member, seller, order):
        details = orders.Details(reason_code=Reason.OTHER, reason="Portão fechado", place="CD Cajamar")
        for status in (Status.COLLECTED, Status.DELIVERY_FAILED):
            said = details if status is Status.DELIVERY_FAILED else orders.NOTHING_MORE
            orders.move(order=order, to=status, by=BY, at=timezone.now(), details=said)

        page = member.get(url("seller_order", seller, order.pk)).content.decode()
        orders.move(order=order, to=Status.RETURNED, by=BY, at=timezone.now() - timedelta(days=31), details=details)
        later = member.get(url("seller_order", seller, order.pk)).content.decode()

        assert [text in page for text in ("Another reason", "Portão fechado", "CD Cajamar")] == [True] * 3
        assert [text.count(order.tracking_url) for text in (page, later)] == [2, 0]

    def test_shows_what_was_sent_as_text(self, member, seller):
        order = create_order(seller, receiver=named("<script>alert(1)</script>"))

        page = member.get(url("seller_order", seller, order.pk)).content.decode()

        assert "&lt;script&gt;alert(1)" in page

    def test_of_another_seller_is_not_found(self, member, seller, foreign):
        answers = [member.get(url("seller_order", seller, key)) for key in (foreign.pk, 0, 10**18)]

        assert [answer.status_code for answer in answers] == [404, 404, 404]

    def test_is_shown_for_a_suspended_seller_without_what_it_may_not_do(self, member, seller, order):
        before = member.get(url("seller_order", seller, order.pk)).context["may_cancel"]
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())

        page = member.get(url("seller_order", seller, order.pk))

        assert (page.status_code, before, page.context["may_cancel"]) == (200, True, False)

    @pytest.mark.parametrize("volumes", [1, 3])
    def test_leads_to_the_simulator_with_what_its_freight_was_quoted_for(self, member, seller, volumes):
        load_tariff()
        seller.companies.update(postcode="01310100")
        receiver = order_body()["receiver"]
        receiver["address"] |= {"zipCode": "40020-000", "state": "BA"}
        item = {"description": "x", "dimensions": "60x50x40,7.25", "quantity": 1, "price": 1}
        order = create_order(seller, orderCost="1234.50", volumes=volumes, items=[item], receiver=receiver)

        query = member.get(url("seller_order", seller, order.pk)).context["simulator"]
        simulated = member.get(f"{url('seller_simulator', seller)}?{query}").context["services"]

        amounts = {service: charges.price.amount for service, charges, _rate in simulated}
        assert order.freight
        assert order.freight.amount == volumes * amounts["economy"]

    def test_leads_to_no_simulator_without_an_origin(self, member, seller, order):
        assert member.get(url("seller_order", seller, order.pk)).context["simulator"] == ""


class TestValueOfAnInvoice:
    @in_turn(
        ("changes", "differs"),
        [
            ({"orderCost": "150.50"}, False),
            ({"orderCost": "150.505"}, True),  # is shown as 150.51
            ({"orderCost": "150.495", "invoice": {"value": "150.5049"}}, False),
            ({"orderCost": "1299.90"}, True),
            ({"orderCost": "1299.90", "invoice": {"value": "150.50"}}, False),
            ({"orderCost": "1299.90", "invoice": {"value": "150.50", "key": ACCESS_KEY[:-1] + "8"}}, True),
            ({"orderCost": "150.50", "invoice": {"value": "150.49"}}, True),
        ],
    )
    def test_is_compared_with_what_the_order_states_for_it(self, member, seller, changes, differs):
        order = create_order(seller, **changes)
        send_invoice(seller, nfe_xml().encode())

        pages = [member.get(url(*page)).content.decode() for page in _pages_of(seller, order)]

        assert ["Check that it is the right one" in pages[0], "Invoice differs" in pages[1]] == [differs, differs]

    def test_is_not_compared_where_an_order_has_several(self, member, seller):
        order = create_order(seller, orderCost="300")
        for key in (ACCESS_KEY, ACCESS_KEY[:-1] + "8"):
            send_invoice(seller, nfe_xml(key=key).encode())

        assert "Invoice differs" not in member.get(url("seller_orders", seller)).content.decode()
        assert "Check that" not in member.get(url("seller_order", seller, order.pk)).content.decode()


def _pages_of(seller, order):
    return [("seller_order", seller, order.pk), ("seller_orders", seller)]


class TestCancel:
    def test_is_logged_as_done_by_the_person(self, member, seller, order):
        page = member.post(url("seller_order_cancel", seller, order.pk), follow=True)

        entry = order.status_log.last()
        assert (entry.status, entry.via_api, entry.by.startswith("user ")) == ("cancelled", False, True)
        assert "The order is cancelled." in said(page)
        assert not page.context["may_cancel"]

    def test_of_a_delivered_order_is_refused(self, member, seller, order):
        orders.move(order=order, to=Status.DELIVERED, by=BY, at=timezone.now())

        page = member.post(url("seller_order_cancel", seller, order.pk), follow=True)

        assert "cannot be cancelled any more" in said(page)
        assert order.status_log.count() == 2

    def test_is_for_own_orders_of_a_seller_that_is_not_suspended(
        self, member, seller, order, foreign, suspended_seller
    ):
        answers = [
            member.post(url(name, seller, pk))
            for name in ("seller_order_cancel", "seller_order_invoice")
            for pk in (foreign.pk, order.pk)
        ]

        assert [answer.status_code for answer in answers] == [404, 302, 404, 302]
        assert Order.objects.filter(status=Status.PENDING).count() == 2


class TestMove:
    @pytest.fixture
    def staff(self, as_role):
        return as_role("superuser")

    def move(self, client, order, **fields):
        return client.post(url("seller_order_move", order.seller, order.pk), {"code": "", "place": "", **fields})

    def test_has_what_is_reported_of_it(self, staff, seller, order):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now() - timedelta(days=2))
        happened = timezone.localtime() - timedelta(days=1)

        response = self.move(
            staff, order, target="delivery_failed", code="OTHER", reason="Chuva", place="Salvador/BA",
            happened_at=happened.strftime("%Y-%m-%dT%H:%M"),
        )  # fmt: skip  # a table

        entry = order.status_log.latest("pk")
        assert response.url == url("seller_order", seller, order.pk)
        assert (entry.status, entry.reason_code, entry.reason, entry.place, entry.by) == (
            "delivery_failed", "OTHER", "Chuva", "Salvador/BA", "user superuser",
        )  # fmt: skip
        assert (happened - entry.happened_at).total_seconds() < 60

    def test_may_be_of_the_same_status_at_another_place(self, staff, seller, order):
        orders.move(
            order=order, to=Status.IN_TRANSIT, by=BY, at=timezone.now(), details=orders.Details(place="Salvador/BA")
        )

        same = self.move(staff, order, target="in_transit", place="Salvador/BA")
        other = self.move(staff, order, target="in_transit", place="Camaçari/BA")

        assert (same.status_code, "Say another reason, place or moment" in same.content.decode()) == (422, True)
        assert other.url == url("seller_order", seller, order.pk)
        assert [entry.place for entry in order.status_log.all()] == ["", "Salvador/BA", "Camaçari/BA"]

    @in_turn(
        ("fields", "said"),
        [
            ({}, "This field is required"),
            ({"target": "pending"}, "Select a valid choice"),
            ({"target": "returned"}, "Choose why."),
            ({"target": "returned", "code": "OTHER"}, "Say the reason in words."),
            ({"target": "delivered", "code": "ABSENT"}, "Only an order that is not delivered or comes back"),
            ({"target": "delivered", "happened_at": "2020-01-01T00:00"}, "The moment is more than 30 days ago"),
            ({"target": "delivered", "happened_at": "soon"}, "Enter a valid date/time"),
        ],
    )
    def test_that_is_refused_says_why_and_keeps_what_was_typed(self, staff, order, fields, said):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        response = self.move(staff, order, place="Salvador/BA", **fields)

        content = response.content.decode()
        assert (response.status_code, said in content, 'value="Salvador/BA"' in content) == (422, True, True)
        assert order.status_log.count() == 2

    def test_is_for_staff_who_see_the_seller_and_move_orders(self, member, as_role, order):
        for client, status in [(member, 403), (as_role("dispatcher"), 404)]:
            assert self.move(client, order, target="collected").status_code == status
            assert 'id="move"' not in client.get(url("seller_order", order.seller, order.pk)).content.decode()
        assert order.status_log.count() == 1

        assert self.move(as_role("account staff"), order, target="collected").status_code == 302
        assert order.status_log.count() == 2


class TestUploadOnThePageOfAnOrder:
    def upload(self, client, seller, order, raw):
        sent = {"nfe": File("nota.xml", raw.encode())}
        return client.post(url("seller_order_invoice", seller, order.pk), sent, follow=True)

    @pytest.mark.parametrize("items", [[""], ["unknown"]])
    def test_links_an_invoice_that_names_no_order(self, member, seller, order, items):
        page = self.upload(member, seller, order, nfe_xml(items=items))

        assert [link.invoice.access_key for link in order.invoice_links.all()] == [ACCESS_KEY]
        assert "The invoice is saved and linked." in said(page)

    def test_links_one_that_names_another_order_to_that_one(self, member, seller, order):
        other = create_order(seller, orderId="B-2")

        page = self.upload(member, seller, order, nfe_xml(items=["B-2"]))

        assert (order.invoice_links.count(), other.invoice_links.count()) == (0, 1)
        assert "not to this one" in said(page)
        both = self.upload(member, seller, order, nfe_xml(key=access_key(2), items=["A-1", "B-2"]))
        assert (order.invoice_links.count(), other.invoice_links.count()) == (1, 2)
        assert "not to this one" not in said(both)

    def test_links_one_that_was_kept_without_an_order(self, member, seller, order):
        raw = nfe_xml(items=["unknown"])
        send_invoice(seller, raw.encode())

        self.upload(member, seller, order, raw)

        assert order.invoice_links.count() == 1

    def test_says_what_is_doubtful(self, member, seller, order):
        page = self.upload(member, seller, order, nfe_xml(status="101").replace(COMPANY, "12345678000195"))

        assert "12.345.678/0001-95" in said(page)
        assert "denied or cancelled" in said(page)
        assert order.invoice_links.count() == 0

    def test_keeps_saying_that_the_issuer_is_another_company(self, member, seller, order):
        send_invoice(seller, nfe_xml(items=(order.code,)).encode())
        said = "none of this seller's companies"
        own = member.get(url("seller_order", seller, order.pk)).content.decode()
        Invoice.objects.update(issuer_document=OTHER_COMPANY)

        for name, row in [("seller_order", order), ("seller_invoice", Invoice.objects.get())]:
            assert said in member.get(url(name, seller, row.pk)).content.decode()
        assert said not in own

    def test_refuses_what_is_no_invoice(self, member, seller, order):
        page = self.upload(member, seller, order, "<a/>")

        assert (order.invoice_links.count(), Invoice.objects.count()) == (0, 0)
        assert page.status_code == 200

    def test_offers_those_without_an_order_and_links_by_hand(self, member, seller, order, monkeypatch):
        kept = send_invoice(seller, nfe_xml(items=["unknown"]).encode())
        send_invoice(seller, nfe_xml(key=access_key(2), items=["unknown"], status="101").encode())  # void
        newer = send_invoice(seller, nfe_xml(key=access_key(3), items=["unknown"]).encode())
        page = member.get(url("seller_order", seller, order.pk))
        found = member.get(url("seller_order", seller, order.pk), {"invoice": "123"})
        monkeypatch.setattr(views, "_MOST_INVOICES", 1)
        first = member.get(url("seller_order", seller, order.pk))

        sent = {"order": order.pk, "from_order": "1"}
        answer = member.post(url("seller_invoice", seller, kept.pk), sent)

        assert [list(each.context["linkable"]) for each in (page, found, first)] == [[newer, kept]] * 2 + [[newer]]
        assert answer.url == url("seller_order", seller, order.pk)
        assert order.invoice_links.count() == 1


class TestExport:
    def test_has_the_filtered_orders_without_formulas(self, member, seller, order, foreign):
        create_order(seller, orderId="A-2", receiver=named("=HYPERLINK(1)"))

        every = member.get(url("seller_orders_export", seller)).getvalue().decode("utf-8-sig").splitlines()
        one = member.get(url("seller_orders_export", seller), {"q": "A-1"}).getvalue().decode("utf-8-sig").splitlines()

        assert [line.split(",")[0] for line in every] == ['"orderId"', '"A-2"', '"A-1"']
        assert '"\'=HYPERLINK(1)"' in every[1]
        assert len(one) == 2
        assert '"AA123456785BR"' in one[1]

    def test_of_an_invalid_filter_is_empty(self, member, seller, order):
        export = member.get(url("seller_orders_export", seller), {"status": "lost"})

        assert len(export.getvalue().splitlines()) == 1
