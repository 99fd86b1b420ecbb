import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from integration.accounts import keys, sellers
from integration.freight.calculation import Parameters
from integration.freight.models import _RANGES, FreightParameters
from integration.invoices.models import Invoice
from integration.models import ApiKey, Assignment, Carrier, CarrierKey, CarrierRule, Company, Order, Seller, StatusLog
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    SellerFactory,
    access_key,
    create_order,
    key_of,
    make_carrier,
    nfe_xml,
    send_invoice,
)
from tests.previews import save


def url(name, *args):
    return reverse(f"admin:integration_{name}", args=args)


@pytest.fixture
def order(seller):
    return create_order(seller)


class TestInvoiceSearch:
    def test_finds_an_access_key_a_number_or_an_order_id_and_no_part_of_them(self, admin_client, seller):
        send_invoice(seller, nfe_xml().encode())

        send_invoice(seller, nfe_xml(key=access_key(2), items=["A-2"]).replace("<nNF>123<", "<nNF>9<").encode())
        fours = " ".join(ACCESS_KEY[start : start + 4] for start in range(0, len(ACCESS_KEY), 4))

        found = {
            term: len(admin_client.get(url("invoice_changelist"), {"q": term}).context["cl"].result_list)
            for term in (ACCESS_KEY, fours, "123", " A-1 ", ACCESS_KEY[:-1], "12", "A-", "0123")
        }

        assert [term for term, count in found.items() if count == 1] == [ACCESS_KEY, fours, "123", " A-1 "]
        assert sum(found.values()) == 4

    def test_reads_no_table_as_a_whole(self, admin_client, seller):
        send_invoice(seller, nfe_xml().encode())
        Invoice.objects.bulk_create(
            Invoice(seller=seller, access_key=f"{n:044}", number=n + 1000, raw=b"", received_at=timezone.now())
            for n in range(500)
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_invoice")
        with CaptureQueriesContext(connection) as captured:
            admin_client.get(url("invoice_changelist"), {"q": "123"})
        listed = next(row["sql"] for row in captured if "access_key" in row["sql"] and "ORDER BY" in row["sql"])

        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {listed}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert "Seq Scan" not in plan
        assert "Index Cond: ((number)::text = '123'::text)" in plan


class TestKeys:
    @pytest.mark.parametrize(("environment", "beginning"), [("live", "rota_key_"), ("sandbox", "rota_testkey_")])
    def test_are_shown_once(self, admin_client, seller, environment, beginning):
        sent = {"seller": seller.pk, "environment": environment, "name": "ERP"}
        response = admin_client.post(url("apikey_add"), sent)

        (text,) = set(re.findall(beginning + r"[\w-]{43}", response.content.decode()))
        key = ApiKey.objects.get(environment=environment)
        assert ApiKey.find(text) == key
        assert (key.seller, key.name, key.created_by) == (seller, "ERP", "user admin")
        assert text not in admin_client.get(url("apikey_change", key.pk)).content.decode()

    def test_are_revoked(self, admin_client, seller):
        admin_client.post(url("apikey_add"), {"seller": seller.pk, "environment": "live"})

        admin_client.post(
            url("apikey_changelist"),
            {"action": "revoke", "_selected_action": [ApiKey.objects.get().pk], "confirmed": "yes"},
        )

        revoked_at = ApiKey.objects.get().revoked_at
        admin_client.post(
            url("apikey_changelist"),
            {"action": "revoke", "_selected_action": [ApiKey.objects.get().pk], "confirmed": "yes"},
        )

        assert (ApiKey.objects.get().revoked_by, ApiKey.objects.get().revoked_at) == ("user admin", revoked_at)
        assert [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")].count("Revoked.") == 1

    @pytest.mark.parametrize("name", ["apikey", "carrierkey"])
    def test_show_whether_they_are_valid(self, admin_client, seller, name):
        key_of(seller)
        make_carrier()

        def shown():
            page = admin_client.get(url(f"{name}_changelist")).content.decode()
            return [word for word in ("Valid", "Suspended", "Revoked") if f">{word}</span>" in page]

        words = shown()
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())
        Carrier.objects.update(active=False)
        words += shown()
        for key in (ApiKey.objects.get(), CarrierKey.objects.get()):
            key.revoke(by=BY, at=timezone.now())

        assert [*words, *shown()] == ["Valid", "Suspended", "Revoked"]

    def test_are_neither_issued_to_a_suspended_seller_nor_without_limit(self, admin_client, seller):
        new_key = {"seller": seller.pk, "environment": "live"}
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())
        suspended = admin_client.post(url("apikey_add"), new_key, follow=True).content.decode()
        sellers.lift_suspension(seller=seller, by=BY)
        for _further in range(20):
            key_of(seller)
        full = admin_client.post(url("apikey_add"), new_key, follow=True).content.decode()

        assert "no key is issued to it" in suspended
        assert "The seller has 20 valid keys" in full
        assert ApiKey.objects.count() == 20


class TestSuspension:
    def run(self, client, seller, action, **data):
        chosen = {"action": action, "_selected_action": [seller.pk], "confirmed": "yes", **data}
        return client.post(url("seller_changelist"), chosen, follow=True).content.decode()

    def test_is_set_with_its_reason_and_lifted_from_the_list(self, admin_client, seller):
        self.run(admin_client, seller, "suspend", reason=" Bill 17 unpaid")
        suspended = Seller.objects.get()
        page = admin_client.get(url("seller_change", seller.pk)).content.decode()
        self.run(admin_client, seller, "suspend", reason="Bill 18 unpaid")  # which changes nothing
        assert Seller.objects.get().suspension_reason == "Bill 17 unpaid"
        for _twice in range(2):
            self.run(admin_client, seller, "lift_suspension")

        assert (suspended.suspended_by, suspended.suspension_reason) == ("user admin", "Bill 17 unpaid")
        assert "Bill 17 unpaid" in page
        assert Seller.objects.get().suspended_at is None
        assert [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")] == [
            "Suspended: Bill 17 unpaid",
            "Suspension lifted.",
        ]

    @pytest.mark.parametrize("reason", ["", " ", "x" * 501])
    def test_needs_a_reason_that_can_be_shown(self, admin_client, seller, reason):
        page = self.run(admin_client, seller, "suspend", reason=reason)

        assert f"Suspend {seller.name}?" in page
        assert (Seller.objects.get().suspended_at, LogEntry.objects.count()) == (None, 0)

    def test_asks_first_and_says_what_it_means(self, admin_client, seller):
        keys.issue(seller=seller, by=BY, at=timezone.now())
        keys.issue(seller=SellerFactory.create(documents=()), by=BY, at=timezone.now())
        keys.revoke(key=keys.issue(seller=seller, by=BY, at=timezone.now()).key, by=BY, at=timezone.now())

        page = self.run(admin_client, seller, "suspend", reason="unpaid", confirmed="")

        assert f"Suspend {seller.name}?" in page
        assert "1 valid key is refused" in page
        assert Seller.objects.get(pk=seller.pk).suspended_at is None


class TestSellers:
    def test_get_mails_to_receivers_and_limits_and_keep_what_changes_meanwhile(self, admin_client, seller, monkeypatch):
        empty = {f"{name}-{count}_FORMS": 0 for name in ("companies", "keys") for count in ("TOTAL", "INITIAL")}
        limits = {"rate_limit_per_second": 7, "rate_limit_per_hour": 0, "invoice_quota_mb": 5, "invoices_per_day": 9}
        before, clean = seller.mails_receivers, Seller.clean

        def suspended_after_it_was_read(row):
            Seller.objects.update(suspended_at=timezone.now(), suspended_by=BY, suspension_reason="unpaid")
            clean(row)

        monkeypatch.setattr(Seller, "clean", suspended_after_it_was_read)
        sent = {"name": "Loja Azul", "mails_receivers": "on", **limits, **empty}
        admin_client.post(url("seller_change", seller.pk), sent)

        seller.refresh_from_db()
        assert (before, seller.mails_receivers, seller.name) == (False, True, "Loja Azul")
        assert {name: getattr(seller, name) for name in limits} == limits
        assert seller.suspension_reason == "unpaid"

    def test_are_listed_with_each_person_once(self, admin_client, seller):
        seller.members.add(User.objects.create_user("maria"))
        for _key in range(2):
            key_of(seller)

        page = admin_client.get(url("seller_changelist")).content.decode()

        assert "1 person<" in page


class TestCompanies:
    def test_stay_with_their_seller(self, admin_client, seller, other_seller):
        company = seller.companies.get()
        sent = {"seller": other_seller.pk, "document": company.document, "name": "Nova", "postcode": "01.310-100"}

        admin_client.post(url("company_change", company.pk), sent)

        company.refresh_from_db()
        assert (company.seller, company.name, company.postcode) == (seller, "Nova", "01310100")
        assert 'value="01310-100"' in admin_client.get(url("company_change", company.pk)).content.decode()

    @pytest.mark.parametrize("text", ["11.222.333/0001-81", "11222333000181"])
    def test_are_found_by_their_document_with_and_without_its_mask(self, admin_client, seller, text):
        page = admin_client.get(url("company_changelist"), {"q": text}).content.decode()

        assert "11.222.333/0001-81" in page.partition('id="result_list"')[2]

    def test_are_kept_compact(self, admin_client, seller):
        admin_client.post(url("company_add"), {"seller": seller.pk, "document": "12.abc.345/01de-35", "name": ""})

        # pragma: allowlist nextline secret  # a company's number
        assert Company.objects.filter(document="12ABC34501DE35").exists()

    def test_need_right_check_digits(self, admin_client, seller):
        response = admin_client.post(url("company_add"), {"seller": seller.pk, "document": "12.abc.345/01de-36"})

        assert response.context["adminform"].form.errors.keys() == {"document"}
        assert Company.objects.count() == 1


class TestOrders:
    def move(self, client, order, status, **fields):
        data = {"action": f"move_to_{status}", "_selected_action": [order.pk], **fields}
        return client.post(url("order_changelist"), data, follow=True).content.decode()

    def test_are_moved_and_logged_as_not_by_the_seller(self, admin_client, order):
        self.move(admin_client, order, "collected", confirmed="yes")

        entry = StatusLog.objects.get(status="collected")
        assert (entry.via_api, entry.by) == (False, "user admin")

    @pytest.mark.parametrize("status", ["collected", "out_for_delivery", "cancelled"])
    def test_are_moved_when_that_is_confirmed(self, admin_client, order, status):
        asked = self.move(admin_client, order, status)
        before = StatusLog.objects.count()
        self.move(admin_client, order, status, confirmed="yes")

        assert "Waiting for collection</span> → <span" in asked
        assert before == 1
        assert StatusLog.objects.latest("pk").status == status

    def test_that_are_not_delivered_need_a_reason(self, admin_client, order):
        self.move(admin_client, order, "collected", confirmed="yes")

        asked = self.move(admin_client, order, "delivery_failed")
        missing = self.move(admin_client, order, "delivery_failed", confirmed="yes", place="Salvador/BA")
        before = StatusLog.objects.count()
        self.move(admin_client, order, "delivery_failed", confirmed="yes", place="Salvador/BA", code="ABSENT")

        assert '<option value="ABSENT">' in asked
        assert "Choose why." in missing
        assert 'value="Salvador/BA"' in missing
        assert before == 2
        entry = StatusLog.objects.latest("pk")
        assert (entry.status, entry.reason_code, entry.place) == ("delivery_failed", "ABSENT", "Salvador/BA")

    def test_stay_when_the_moment_of_a_move_does_not_fit(self, admin_client, order):
        page = self.move(admin_client, order, "collected", confirmed="yes", happened_at="2020-01-01T00:00")

        assert "The moment is more than 30 days ago" in page
        assert StatusLog.objects.count() == 1

    def test_stay_and_say_why_when_a_move_is_refused(self, admin_client, order):
        self.move(admin_client, order, "delivered", confirmed="yes")

        assert "cannot become &#x27;Cancelled&#x27;" in self.move(admin_client, order, "cancelled", confirmed="yes")
        assert StatusLog.objects.count() == 2

    def test_are_found_by_a_code_or_the_receivers_document_and_no_part_of_them(self, admin_client, order):
        found = {
            term: [*admin_client.get(url("order_changelist"), {"q": term}).context["cl"].result_list]
            for term in ("A-1", "a 1", "529.982.247-25", "A-", "529")
        }

        assert found == {"A-1": [order], "a 1": [order], "529.982.247-25": [order], "A-": [], "529": []}

    def test_are_filtered_by_environment(self, admin_client, seller, order):
        test = create_order(seller, "sandbox")

        found = {
            each: [*admin_client.get(url("order_changelist"), {"environment__exact": each}).context["cl"].result_list]
            for each in ("live", "sandbox")
        }

        assert found == {"live": [order], "sandbox": [test]}

    def test_of_the_sandbox_are_found_by_an_index(self, order):
        same = {field.attname: getattr(order, field.attname) for field in Order._meta.concrete_fields}
        Order.objects.bulk_create(  # with few rows other plans are as cheap
            Order(**{**same, "id": None, "code": f"C-{n}", "tracking_code": f"T-{n}"}) for n in range(1000)
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order")

        rows = Order.objects.filter(environment="sandbox").order_by("-pk")[:50]

        assert "order_of_sandbox" in rows.explain()

    def test_offer_on_their_page_what_is_allowed(self, admin_client, order):
        page = admin_client.get(url("order_change", order.pk)).content.decode()

        assert 'value="move_to_collected"' in page
        assert 'value="move_to_returned"' not in page

    def test_return_to_their_page_after_a_move_from_it(self, admin_client, order):
        data = {"action": "move_to_collected", "_selected_action": [order.pk], "from_page": "yes", "confirmed": "yes"}

        response = admin_client.post(url("order_changelist"), data)

        assert response.url == url("order_change", order.pk)

    def test_show_their_parcels_receiver_and_address(self, admin_client, order):
        page = admin_client.get(url("order_change", order.pk)).content.decode()

        assert "<td>10 × 20 × 30</td>" in page  # between lengths
        assert "(11) 97777-0001</a>" in page
        assert "Avenida Paulista, 1578, Loja 1" in page

    @pytest.mark.parametrize("environment", ["live", "sandbox"])
    def test_get_a_further_code_for_tracking(self, admin_client, seller, environment):
        order = create_order(seller, environment)
        forms = {
            f"{prefix}-{field}": 0 for prefix in ("status_log", "corrections", "assignments", "codes", "invoice_links")
            for field in ("TOTAL_FORMS", "INITIAL_FORMS")
        }  # fmt: skip  # a product reads as one
        code = {"codes-TOTAL_FORMS": 1, "codes-0-value": "BOX-7", "codes-0-order": order.pk}

        admin_client.post(url("order_change", order.pk), {**forms, **code, "_continue": ""})

        added = order.codes.get(value="BOX-7")
        assert (added.seller, added.environment) == (seller, environment)


class TestInvoices:
    def test_are_downloaded_and_never_shown_inline(self, admin_client, seller):
        raw = nfe_xml().encode()

        response = admin_client.get(url("invoice_file", send_invoice(seller, raw).pk))

        assert response.content == raw
        assert response["Content-Disposition"].startswith("attachment")


class TestParameters:
    FORM = {**{name: limits[0] for name, limits in _RANGES.items()}, "quote_service": "express"}

    def change(self, client, **changes):
        return client.post(url("freightparameters_change", 1), {**self.FORM, **changes})

    def test_are_changed_by_name(self, admin_client, tariff):
        fields = {**self.FORM, "remote_states": ["PA", "AC"], "handling_days": 2}

        assert save(admin_client, url("freightparameters_change", 1), fields).status_code == 302

        parameters = FreightParameters.current()
        assert (parameters.handling_days, parameters.quote_service) == (2, "express")
        assert parameters.remote_states == {"AC", "PA"}

    def test_need_no_remote_state(self, admin_client, tariff):
        save(admin_client, url("freightparameters_change", 1), self.FORM)

        assert FreightParameters.current().remote_states == frozenset()

    def test_name_the_field_that_is_refused(self, admin_client, tariff):
        cases: list[tuple[dict[str, Any], str]] = [
            ({"cubic_divisor_cm3_per_kg": 0}, "cubic_divisor_cm3_per_kg"), ({"gris_bp": 10_001}, "gris_bp"),
            ({"remote_states": ["XX"]}, "remote_states"), ({"quote_service": "turbo"}, "quote_service"),
            ({"default_weight_g": 2}, "__all__"), ({"max_weight_g": ""}, "max_weight_g"),
        ]  # fmt: skip  # a list of cases

        for changes, field in cases:
            response = self.change(admin_client, **changes)
            assert response.context["adminform"].form.errors.keys() == {field}
        assert FreightParameters.current() == Parameters()


class TestCarriers:
    def test_get_keys_that_are_shown_once_and_revoked(self, admin_client, db):
        admin_client.post(url("carrier_add"), {"name": "Jadlog", "active": "on"})
        carrier = Carrier.objects.get()

        response = admin_client.post(url("carrierkey_add"), {"carrier": carrier.pk})
        (text,) = set(re.findall(r"rota_carrierkey_[\w-]{43}", response.content.decode()))
        key = CarrierKey.objects.get()
        chosen = {"action": "revoke", "_selected_action": [key.pk], "confirmed": "yes"}
        admin_client.post(url("carrierkey_changelist"), chosen)

        assert CarrierKey.find(text) == key
        assert text not in admin_client.get(url("carrierkey_change", key.pk)).content.decode()
        assert CarrierKey.objects.get().revoked_by == "user admin"

    def test_get_no_keys_while_they_are_not_active_and_not_without_limit(self, admin_client, monkeypatch):
        carrier, _text = make_carrier()
        monkeypatch.setattr("integration.carriers.actions.MOST_VALID", 1)
        texts = []
        for is_active in (True, False):
            Carrier.objects.update(active=is_active)
            answer = admin_client.post(url("carrierkey_add"), {"carrier": carrier.pk}, follow=True)
            texts.append(answer.content.decode())

        assert ["20 valid keys" in text for text in texts] == [True, False]
        assert ["no key is issued to it" in text for text in texts] == [False, True]
        assert CarrierKey.objects.count() == 1

    def test_get_orders_that_are_selected(self, admin_client, order, seller):
        carrier, _text = make_carrier()
        former = Carrier.objects.create(name="Total", active=False)
        other = create_order(seller, orderId="A-2")
        chosen: dict[str, Any] = {"action": "assign", "_selected_action": [order.pk, other.pk]}

        asked = admin_client.post(url("order_changelist"), chosen).content.decode()
        admin_client.post(url("order_changelist"), {**chosen, "confirmed": "yes", "carrier": former.pk})
        unassigned = Order.objects.filter(carrier=None).count()
        admin_client.post(url("order_changelist"), {**chosen, "confirmed": "yes", "carrier": carrier.pk})

        assert f'<option value="{carrier.pk}">Jadlog</option>' in asked
        assert f'<option value="{former.pk}">' not in asked
        assert unassigned == 2
        assert [(row.carrier, row.assigned_by) for row in Assignment.objects.all()] == [(carrier, "user admin")] * 2
        logged = LogEntry.objects.filter(change_message="Carrier: Jadlog").values_list("object_id", flat=True)
        assert set(logged) == {str(order.pk), str(other.pk)}
        listed = admin_client.get(url("order_changelist"), {"carrier__id__exact": carrier.pk})
        assert len(listed.context["cl"].result_list) == 2

    def test_have_rules_of_which_no_two_are_the_same(self, admin_client, db):
        carrier, _text = make_carrier()
        sent = {"carrier": carrier.pk, "state": "SP", "region": "", "service": "base"}

        first, second = (admin_client.post(url("carrierrule_add"), sent).status_code for _time in range(2))

        assert (first, second, str(CarrierRule.objects.get())) == (302, 200, "SP · Base (economy)")
