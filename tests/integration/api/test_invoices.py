from datetime import timedelta
from itertools import permutations
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from common.accounts import Environment
from integration.actions import forgetting
from integration.errors import InvalidInvoice, InvoiceStorageFull, InvoiceUnreferenced, VoidInvoice
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink, InvoiceReference
from integration.models import Order, SearchCode
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    COMPANY,
    OTHER_COMPANY,
    access_key,
    cancellation,
    cancellation_file,
    create_order,
    nfe_xml,
    order_body,
    send_invoice,
    upload,
)

SAVED = {"success": True, "message": "Nota fiscal salva com sucesso"}
ORDERS = "/api/integration/orders"
NAMESPACE = "http://www.portalfiscal.inf.br/nfe"
LONG = "MARKETPLACE-0001-LONG"


@pytest.fixture(params=["order first", "invoice first"])
def whichever_first(request):
    """Make an order and an invoice, in both orders."""

    def make(order, invoice):
        for step in (order, invoice) if request.param == "order first" else (invoice, order):
            step()

    return make


def codes_of(response):
    """The codes of the warnings in an answer."""
    return [warning["code"] for warning in response.json().get("warnings", [])]


def linked(invoice=None):
    links = InvoiceLink.objects.all() if invoice is None else invoice.links.all()
    return sorted(links.values_list("order__code", flat=True))


def keys_of(code):
    """The access keys of the invoices that are linked to an order."""
    return {*InvoiceLink.objects.filter(order__code=code).values_list("invoice__access_key", flat=True)}


class TestUpload:
    def test_keeps_the_bytes_and_links_the_order(self, api, seller):
        create_order(seller)
        raw = nfe_xml().encode()

        response = upload(api, raw)

        assert response.status_code == 200
        assert response.json() == SAVED
        assert bytes(Invoice.objects.get().raw) == raw
        assert linked() == ["A-1"]

    def test_of_the_same_file_again_keeps_one_copy(self, api, seller):
        create_order(seller)
        upload(api, nfe_xml().encode())

        response = upload(api, nfe_xml().encode(), prefer="handling=strict")

        assert (response.status_code, response.json()) == (200, SAVED)
        assert "Rota-Warnings" not in response
        assert (Invoice.objects.count(), linked()) == (1, ["A-1"])

    @pytest.mark.parametrize("fields", [[], ["xml"], ["nfe", "nfe"]])
    def test_needs_exactly_one_file_in_its_field(self, api, seller, fields):
        create_order(seller)
        files = [SimpleUploadedFile("nota.xml", nfe_xml().encode()) for _field in fields]

        response = api.post(
            "/api/integration/invoices/marketplace", {**dict.fromkeys(fields, files), "other": "x"}, format="multipart"
        )

        assert (response.status_code, response.json()["code"]) == (422, "invoice_missing")
        assert not Invoice.objects.exists()

    def test_of_a_file_that_another_seller_has_sent_keeps_a_copy_of_their_own(self, seller, other_seller):
        first, second = (send_invoice(each, nfe_xml().encode()) for each in (seller, other_seller))

        assert [invoice.seller for invoice in (first, second)] == [seller, other_seller]
        assert Invoice.objects.count() == 2

    def test_of_a_stored_note_with_a_corrected_reference_links_that_order_too(self, api, seller):
        for code in ("A-1", "B-1"):
            create_order(seller, orderId=code)
        upload(api, nfe_xml(items=("A-2",)).encode())

        response = upload(api, nfe_xml(items=("B-1",)).encode(), prefer="handling=strict")

        assert (response.status_code, response.json()) == (200, SAVED)
        assert linked() == ["B-1"]
        create_order(seller, orderId="A-2")
        assert linked() == ["A-2", "B-1"]

    @pytest.mark.parametrize(
        ("written", "sent"),
        [("150.50", "99.00"), ("<nNF>123", "<nNF>124"), ("<serie>1", "<serie>2"), ("2026-11-20T10", "2026-11-20T11")],
    )
    def test_of_a_stored_note_that_says_something_else_warns_that_the_first_counts(self, api, seller, written, sent):
        create_order(seller)
        upload(api, nfe_xml().encode())

        response = upload(api, nfe_xml().replace(written, sent).encode())

        assert (response.status_code, codes_of(response)) == (200, ["other_invoice_stored"])
        assert response["Rota-Warnings"] == '"#/nfe";code=other_invoice_stored'
        assert (bytes(Invoice.objects.get().raw), linked()) == (nfe_xml().encode(), ["A-1"])

    def test_of_a_stored_note_names_no_more_orders_than_a_bound(self, seller):
        send_invoice(seller, nfe_xml(items=[f"A-{number}" for number in range(1000)]).encode())
        send_invoice(seller, nfe_xml(items=[f"B-{number}" for number in range(1000)]).encode())

        with pytest.raises(InvalidInvoice, match="mais de 2000 pedidos"):
            send_invoice(seller, nfe_xml(items=("C-1",)).encode())

        assert InvoiceReference.objects.count() == 2000

    def test_of_two_notes_in_one_file_takes_both(self, api, seller):
        for code in ("A-1", "B-1"):
            create_order(seller, orderId=code)
        other = nfe_xml(key=access_key(2), items=("B-1",))
        inside = other[other.index("<NFe>") : other.index("</nfeProc>")]

        response = upload(api, nfe_xml().replace("</nfeProc>", f"{inside}</nfeProc>").encode())

        assert codes_of(response) == ["several_invoices"]
        links = InvoiceLink.objects.order_by("invoice_id").values_list("invoice__access_key", "order__code")
        assert [*links] == [(ACCESS_KEY, "A-1"), (access_key(2), "B-1")]

    def test_of_several_notes_names_each_that_is_wrong_and_takes_none(self, api):
        texts = [nfe_xml(key=access_key(number)) for number in (2, 3)]
        wrong = [text.replace("<serie>1<", f"<serie>{series}<") for text, series in zip(texts, "xy", strict=True)]
        inside = "".join(text[text.index("<NFe>") : text.index("</nfeProc>")] for text in wrong)

        response = upload(api, nfe_xml().replace("</nfeProc>", f"{inside}</nfeProc>").encode())

        assert (response.status_code, response.json()["code"]) == (422, "invalid_invoice")
        errors = response.json()["errors"]
        assert [*errors] == ["nfe.1", "nfe.2"]
        assert "'x'" in response.json()["message"] == errors["nfe.1"][0]
        assert "'y'" in errors["nfe.2"][0]
        assert not Invoice.objects.exists()

    def test_of_two_notes_that_do_not_fit_together_takes_none(self, seller, settings):
        settings.INVOICE_QUOTA_MB = 1
        other = nfe_xml(key=access_key(2))
        inside = other[other.index("<NFe>") : other.index("</nfeProc>")]
        raw = nfe_xml().replace("</nfeProc>", f"{inside}{' ' * 600_000}</nfeProc>").encode()

        with pytest.raises(InvoiceStorageFull):
            send_invoice(seller, raw)

        assert Invoice.objects.count() == 0


class TestStanding:
    """What the tax office says of a note may come in a later file of it."""

    @pytest.fixture(autouse=True)
    def order(self, seller):
        return create_order(seller)

    def files(self):
        return [nfe_xml(status=""), nfe_xml(status="539"), nfe_xml(), nfe_xml(beside=cancellation())]

    def test_grows_with_each_file_and_never_shrinks(self, api, seller):
        found = []
        for raw in [*self.files(), *reversed(self.files())]:
            response = upload(api, raw.encode())
            assert response.status_code == 200
            invoice = Invoice.objects.get()
            found.append((codes_of(response), invoice.status.value, invoice.protocol, linked()))

        assert found == [
            (["unconfirmed_invoice"], "unconfirmed", "", ["A-1"]),
            (["rejected_invoice"], "unconfirmed", "539", ["A-1"]),
            ([], "valid", "100", ["A-1"]),
            *[(["void_invoice"], "void", "100", [])] * 5,
        ]

    def test_brings_the_file_that_the_tax_office_has_authorised(self, seller):
        for status in ("", "100", ""):
            send_invoice(seller, nfe_xml(status=status, recipient="52998224725").encode())

        stored = Invoice.objects.get()
        assert bytes(stored.raw) == nfe_xml(recipient="52998224725").encode()
        seller.refresh_from_db()
        assert seller.invoice_bytes == len(stored.raw)

    def test_is_kept_of_a_note_whose_file_is_no_longer(self, seller):
        invoice = send_invoice(seller, nfe_xml(status="").encode(), at=timezone.now() - timedelta(days=3650))
        forgetting.forget_old_invoices(at=timezone.now())

        send_invoice(seller, nfe_xml().encode())

        invoice.refresh_from_db()
        assert (bytes(invoice.raw), invoice.recipient_document) == (b"", "")

    @pytest.mark.parametrize("raw", [cancellation_file(), nfe_xml(beside=cancellation()), nfe_xml(status="101")])
    def test_becomes_void_and_removes_the_links(self, api, seller, order, raw):
        upload(api, nfe_xml().encode())

        response = upload(api, raw.encode())

        assert (response.status_code, codes_of(response)) == (200, ["void_invoice"])
        assert linked() == []
        assert not SearchCode.objects.filter(kind__startswith="invoice").exists()
        changes = InvoiceChange.objects.values_list("kind", "reason", "order__code")
        assert [*changes] == [
            ("linked", "reference", "A-1"), ("unlinked", "void", "A-1"), ("marked_void", "void", None),
        ]  # fmt: skip  # a table

    def test_leaves_codes_that_are_the_orders_own_or_of_another_note(self, api, seller):
        own = create_order(seller, orderId="B-1", invoice={"key": ACCESS_KEY, "number": "123"})
        shared = create_order(seller, orderId="C-1")
        alone = create_order(seller, orderId="D-1")  # of which no other note has the number
        upload(api, nfe_xml(items=("B-1", "C-1", "D-1")).encode())
        upload(api, nfe_xml(key=access_key(2), items=("C-1",)).encode())

        upload(api, cancellation_file().encode())

        kept = SearchCode.objects.filter(kind__startswith="invoice", order__in=[own, shared, alone])
        assert sorted(kept.values_list("order__code", "value")) == [
            ("B-1", "123"), ("B-1", ACCESS_KEY), ("C-1", "123"), ("C-1", access_key(2)),
        ]  # fmt: skip  # a table

    def test_of_a_file_of_two_cancellations_is_changed_if_both_notes_are_known(self, api, seller):
        create_order(seller, orderId="B-1")
        raw = f'<retEnvEvento xmlns="{NAMESPACE}">{cancellation()}{cancellation(access_key(2))}</retEnvEvento>'
        upload(api, nfe_xml().encode())

        refused, before = upload(api, raw.encode()), linked()
        upload(api, nfe_xml(key=access_key(2), items=("B-1",)).encode())
        taken = upload(api, raw.encode())

        assert (refused.status_code, refused.json()["code"], before) == (422, "invalid_invoice", ["A-1"])
        assert f"O arquivo cancela a nota {access_key(2)}, que não foi enviada" in refused.json()["message"]
        assert (taken.status_code, codes_of(taken), linked()) == (200, ["void_invoice"], [])
        assert [*Invoice.objects.values_list("is_void", flat=True)] == [True, True]

    def test_of_a_cancellation_is_not_that_of_another_sellers_note(self, seller, other_seller):
        send_invoice(seller, nfe_xml().encode())

        with pytest.raises(InvalidInvoice, match="não foi enviada"):
            send_invoice(other_seller, cancellation_file().encode())

        assert linked() == ["A-1"]

    @pytest.mark.parametrize("before", ["", cancellation(access_key(2))])
    def test_of_a_test_cancellation_does_not_concern_a_live_note(self, seller, before):
        for key in (ACCESS_KEY, access_key(2)):
            send_invoice(seller, nfe_xml(key=key).encode())
        raw = cancellation_file(environment="2").replace("<retEvento>", f"{before}<retEvento>")

        with pytest.raises(InvalidInvoice, match="ambiente de testes"):
            send_invoice(seller, raw.encode())

        assert linked() == ["A-1", "A-1"]

    def test_of_a_test_cancellation_is_that_of_the_note_of_the_sandbox_alone(self, seller):
        create_order(seller, Environment.SANDBOX)
        for environment in Environment:
            send_invoice(seller, nfe_xml().encode(), environment=environment)

        send_invoice(seller, cancellation_file(environment="2").encode(), environment=Environment.SANDBOX)

        assert dict(Invoice.objects.values_list("environment", "is_void")) == {"live": False, "sandbox": True}

    @pytest.mark.parametrize(
        ("environment", "doubts"), [(Environment.LIVE, ["test_invoice"]), (Environment.SANDBOX, [])]
    )
    def test_of_a_test_note_is_said_with_a_live_key(self, seller, environment, doubts):
        create_order(seller, environment, orderId="T-1")
        found: list[invoices.Doubt] = []

        invoices.receive(
            seller=seller, environment=environment, raw=nfe_xml(items=("T-1",), ide="<tpAmb>2</tpAmb>").encode(),
            by="x", at=timezone.now(), on_doubts=found.extend,
        )  # fmt: skip  # arguments

        assert [doubt.code for doubt in found] == doubts


class TestWarnings:
    """What is accepted and probably a mistake: in the body, in the header, and refused under strict handling."""

    @pytest.fixture(autouse=True)
    def orders(self, seller):
        create_order(seller, orderId="K-1", invoice={"key": access_key(9)})
        return [create_order(seller), create_order(seller, orderId="B-1", invoice={"value": 200})]

    @in_turn(
        ("written", "sent", "code", "about"),
        [
            (f"<CNPJ>{COMPANY}", f"<CNPJ>{OTHER_COMPANY}", "foreign_issuer", OTHER_COMPANY),
            ("<mod>55", "<mod>65", "consumer_invoice", ""),
            ("<xPed>A-1", "<xPed>C/ç", "unmatched_reference", "C/ç"),
            ("<xPed>A-1", "<xPed>B-1", "different_value", "B-1"),
            ("<mod>55", "<mod>57", "other_model", "57"),
            (ACCESS_KEY, f"{ACCESS_KEY[:-1]}8", "invalid_access_key", f"{ACCESS_KEY[:-1]}8"),
            ("</ide>", "<finNFe>4</finNFe></ide>", "return_invoice", ""),
            ("<cStat>100", "<cStat>204", "rejected_invoice", "204"),
            ("<xPed>A-1", "<xPed>K-1", "different_invoice_key", "K-1"),
        ],
    )
    def test_are_named_in_body_and_header(self, api, other_seller, written, sent, code, about):
        raw = nfe_xml().replace(written, sent).encode()

        for _repeated in range(2):
            response = upload(api, raw)

            assert response.status_code == 200
            (warning,) = response.json().pop("warnings")
            assert (warning["code"], about in warning["message"]) == (code, True)
            assert response.json() | {"warnings": []} == {**SAVED, "warnings": []}
            assert response["Rota-Warnings"].startswith(f'"#/nfe";code={code}')
            assert (f';about="{quote(about, safe="/")}"' in response["Rota-Warnings"]) == bool(about)

    def test_are_none_for_an_invoice_without_a_doubt(self, api):
        response = upload(api, nfe_xml().encode(), prefer="handling=strict")

        assert (response.status_code, response.json()) == (200, SAVED)

    def test_refuse_a_new_invoice_strictly_and_write_nothing(self, api):
        response = upload(api, nfe_xml(items=("A-1", "C-1")).encode(), prefer="handling=strict")

        assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
        assert "'C-1'" in response.json()["errors"]["nfe"][0]
        assert (Invoice.objects.count(), linked()) == (0, [])

    @in_turn(
        ("invoice", "doubts"),
        [
            ({"value": "150.5000"}, []),
            ({"value": None}, []),
            ({"value": "150.51"}, ["different_value"]),
            ({"value": "150.51", "key": ACCESS_KEY}, ["different_value"]),
            ({"value": "150.51", "key": access_key(9)}, ["different_invoice_key"]),  # and the value is that one's
        ],
    )
    def test_compare_the_value_with_that_of_an_order_of_this_invoice(self, api, seller, invoice, doubts):
        create_order(seller, orderId="C-1", invoice=invoice)
        create_order(seller, orderId="D-1")

        assert codes_of(upload(api, nfe_xml(items=("A-1", "C-1", "D-1")).encode())) == doubts

    def test_of_a_return_say_nothing_of_the_key_that_its_order_names(self, api):
        response = upload(api, nfe_xml(items=("K-1",), ide="<finNFe>4</finNFe>").encode())

        assert (codes_of(response), linked()) == (["return_invoice"], ["K-1"])

    def test_find_the_order_of_a_cut_reference(self, api, seller):
        create_order(seller, orderId=LONG, orderCost="150.50", invoice={"value": 1})

        assert codes_of(upload(api, nfe_xml(items=(LONG[:15],)).encode())) == ["different_value"]

    def test_name_the_orders_that_a_cut_reference_may_mean(self, api, seller):
        for number in range(4):
            create_order(seller, orderId=f"{LONG}-{number}")

        (warning,) = upload(api, nfe_xml(items=(LONG[:15],)).encode()).json()["warnings"]

        assert warning["code"] == "uncertain_reference"
        assert f"se referir a: {LONG}-0, {LONG}-1, {LONG}-2." in warning["message"]

    def test_name_the_order_whose_number_sign_is_left_out_while_nothing_else_agrees(self, api, seller):
        create_order(seller, orderId="#1001")

        (warning,) = upload(api, nfe_xml(items=("1001",)).encode()).json()["warnings"]

        assert (warning["code"], linked()) == ("uncertain_reference", [])
        assert "'1001' (xPed) pode se referir a: #1001." in warning["message"]

    def test_of_an_order_say_that_another_note_is_linked_or_its_own_is_void(self, api, seller):
        upload(api, nfe_xml(items=("N-1",)).encode())
        upload(api, nfe_xml(key=access_key(2), items=("N-2",), status="101").encode())
        body = order_body(orderId="N-1", trackingCode="N-1", invoice={"key": access_key(2)})

        void = api.post(ORDERS, {**body, "orderId": "X-1"}, format="json")
        other = api.post(ORDERS, {**body, "trackingCode": "N-2", "invoice": {"key": access_key(3)}}, format="json")
        strictly = api.post(
            ORDERS, {**body, "orderId": "X-2", "trackingCode": "X-2"}, format="json", HTTP_PREFER="handling=strict"
        )

        assert (void.status_code, codes_of(void)) == (201, ["void_invoice"])
        assert (other.status_code, codes_of(other)) == (201, ["different_invoice_key"])
        assert ACCESS_KEY in other.json()["warnings"][0]["message"]
        assert (strictly.status_code, Order.objects.filter(code="X-2").exists()) == (422, False)

    @in_turn(
        ("key", "codes"),
        [
            (ACCESS_KEY, []), (f"{ACCESS_KEY[:-1]}8", ["invalid_access_key"]),
            (f"{ACCESS_KEY[:15]}{'0' * 29}", ["invalid_access_key"]),
            ("35261111222333000181650010000001231000000010", ["other_model"]),
 ("123", ["invalid_access_key"]),
        ],
    )  # fmt: skip  # a table
    def test_of_an_order_check_its_access_key(self, api, key, codes):
        body = order_body(orderId="N-1", trackingCode="N-1", invoice={"key": key})

        assert codes_of(api.post(ORDERS, body, format="json")) == codes

    def test_name_at_most_twenty_references_and_no_more_than_their_beginning(self, api):
        items = [f"{number:0255}" for number in range(30)]

        response = upload(api, nfe_xml(items=items).encode())

        assert codes_of(response) == ["unmatched_reference"] * 20
        assert len(response["Rota-Warnings"]) < 4000


class TestVoidInvoices:
    """Denied or cancelled by the tax office: kept, and linked to nothing."""

    def test_are_kept_and_linked_to_no_order(self, api, seller):
        create_order(seller)
        create_order(seller, orderId="B-1", invoice={"key": ACCESS_KEY})

        response = upload(api, nfe_xml(status="101").encode())

        assert (response.status_code, codes_of(response)) == (200, ["void_invoice"])
        assert Invoice.objects.get().is_void
        assert linked() == []
        found = api.get("/api/integration/orders/tracking", {"type": "order_number", "value": "123"})
        assert found.json()["success"] is False

    def test_are_not_linked_to_orders_that_come_later(self, seller):
        send_invoice(seller, nfe_xml(items=("A-1", LONG[:15]), status="110").encode())

        for changes in (
            {},
            {"orderId": LONG, "orderCost": "150.5"},
            {"orderId": "A-3", "invoice": {"key": ACCESS_KEY}},
        ):
            create_order(seller, **changes)

        assert linked() == []

    def test_are_linked_by_nobody(self, seller):
        order, invoice = create_order(seller), send_invoice(seller, nfe_xml(items=("X",)).encode())
        send_invoice(seller, nfe_xml(items=("X",), status="301").encode())  # after it was read

        with pytest.raises(VoidInvoice):
            invoices.link_by_hand(invoice=invoice, order=order, by="maria", at=timezone.now())

        assert linked() == []


class TestLinks:
    def test_many_orders(self, seller):
        for code in ("A-1", "A-2", "A-3"):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=("A-1", "A-2", "A-1"), compra="A-3").encode())) == [
            "A-1", "A-2", "A-3",
        ]  # fmt: skip  # a list of codes

    @pytest.mark.parametrize(
        ("changes", "reference", "code"),
        [({"invoice": {"key": ACCESS_KEY}}, "X", "A-1"), ({"orderId": LONG, "orderCost": "150.5"}, LONG[:15], LONG)],
        ids=["by its invoice key", "by fifteen characters"],
    )
    def test_an_order_that_it_does_not_name_whole(self, seller, changes, reference, code, whichever_first):
        whichever_first(
            lambda: create_order(seller, **changes),
            lambda: send_invoice(seller, nfe_xml(items=(reference,)).encode()),
        )

        assert linked() == [code]

    @pytest.mark.parametrize("xped", [LONG[:14], LONG[:16], LONG[:15]])
    def test_no_order_by_another_or_an_ambiguous_prefix(self, seller, xped):
        create_order(seller, orderId=LONG)
        create_order(seller, orderId=LONG + "-2")

        assert linked(send_invoice(seller, nfe_xml(items=(xped,)).encode())) == []

    def test_no_order_of_another_seller(self, seller, other_seller, whichever_first):
        whichever_first(
            lambda: create_order(seller, invoice={"key": ACCESS_KEY}),
            lambda: send_invoice(other_seller, nfe_xml().encode()),
        )

        assert linked() == []

    def test_as_many_as_it_names_with_the_same_number_of_queries(self, seller, django_assert_num_queries):
        codes = [f"MARKETPLACE-{number:03}-LONG" for number in range(6)]
        for code in codes:
            create_order(seller, orderId=code, orderCost="150.5")

        for items in ([codes[0][:15]], [code[:15] for code in codes[1:]]):
            with django_assert_num_queries(13):
                send_invoice(seller, nfe_xml(items=items, key=access_key(len(items))).encode())

        assert linked() == codes

    def test_an_invoice_to_no_order_of_another_seller_with_its_key(self, seller, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY, invoice={"key": ACCESS_KEY})

        with pytest.raises(InvoiceUnreferenced):
            send_invoice(seller, nfe_xml(items=("",)).encode())

        assert not Invoice.objects.exists()

    def test_no_later_order_by_a_beginning_that_is_the_code_of_another_order(self, seller):
        create_order(seller, orderId=LONG[:15])
        invoice = send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())

        create_order(seller, orderId=LONG, orderCost="150.5")

        assert linked(invoice) == [LONG[:15]]

    def test_the_order_that_has_the_reference_as_its_whole_code(self, seller):
        for code in (LONG[:15], LONG):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode())) == [LONG[:15]]

    @in_turn("reference", ["enc-12czypx", "ENC12CZYP.X", "ENC 12CZYP.x"])
    def test_the_only_order_that_is_alike(self, seller, reference, whichever_first):
        whichever_first(
            lambda: create_order(seller, orderId="ENC 12CZYP.x"),
            lambda: send_invoice(seller, nfe_xml(items=(reference,)).encode()),
        )

        assert linked() == ["ENC 12CZYP.x"]

    @in_turn(("code", "reference"), [("#1001", "1001"), ("#1001", "#1001"), ("# 1.001", "1001"), ("#R-7", "r7")])
    def test_the_order_of_a_shop_whose_number_sign_it_leaves_out(self, seller, code, reference, whichever_first):
        whichever_first(
            lambda: create_order(seller, orderId=code),
            lambda: send_invoice(seller, nfe_xml(items=(reference,), value="150.00").encode()),
        )

        assert linked() == [code]

    @in_turn(
        ("code", "reference"), [("1001", "#1001"), ("##1001", "1001"), ("#1001", "001"), ("#", "-"), ("A#1", "A1")]
    )
    def test_no_order_by_another_sign(self, seller, code, reference, whichever_first):
        whichever_first(
            lambda: create_order(seller, orderId=code),
            lambda: send_invoice(seller, nfe_xml(items=(reference,), value="150.00").encode()),
        )

        assert linked() == []

    @pytest.mark.parametrize(
        ("note", "order", "is_linked"),
        [
            ({}, {}, False),
            ({"value": "150.00"}, {}, True),
            ({"value": "150.00", "recipient": "11144477735"}, {}, False),
            ({"recipient": "52998224725"}, {}, True),
            ({"recipient": "52998224725"}, {"invoice": {"key": access_key(2)}}, False),
            ({}, {"invoice": {"key": ACCESS_KEY}}, True),
            ({"items": ("# 1001",)}, {}, True),
        ],
    )
    def test_no_order_whose_number_sign_it_leaves_out_unless_something_agrees(
        self, seller, note, order, is_linked, whichever_first
    ):
        whichever_first(
            lambda: create_order(seller, orderId="#1001", **order),
            lambda: send_invoice(seller, nfe_xml(**{"items": ("1001",), **note}).encode()),
        )

        assert (linked() == ["#1001"]) == is_linked

    @in_turn("places", [*permutations(range(4))])
    def test_several_to_an_order_with_a_number_sign_each_for_its_own_reasons(self, seller, places):
        makes = [
            lambda: create_order(seller, orderId="#1001"),
            lambda: send_invoice(seller, nfe_xml(items=("1001",), value="150.00").encode()),
            lambda: send_invoice(seller, nfe_xml(items=("#1001",), key=access_key(2)).encode()),
            lambda: send_invoice(seller, nfe_xml(items=("1001",), key=access_key(3)).encode()),  # nothing else agrees
        ]
        for place in places:
            makes[place]()

        assert keys_of("#1001") == {ACCESS_KEY, access_key(2)}
        create_order(seller, orderId="1001")
        assert (keys_of("#1001"), keys_of("1001")) == ({access_key(2)}, {ACCESS_KEY, access_key(3)})

    def test_the_exact_order_rather_than_one_with_a_number_sign_whichever_comes_first(self, seller):
        create_order(seller, orderId="#1001")
        invoice = send_invoice(seller, nfe_xml(items=("1001",), value="150.00").encode())
        assert linked(invoice) == ["#1001"]

        create_order(seller, orderId="1001")

        assert linked(invoice) == ["1001"]
        assert linked(send_invoice(seller, nfe_xml(items=("1001",), key=access_key(2), value="150.00").encode())) == [
            "1001"
        ]

    def test_none_of_one_with_a_number_sign_and_another_that_is_alike(self, seller):
        for code in ("#1001", "10-01"):
            create_order(seller, orderId=code)

        assert linked(send_invoice(seller, nfe_xml(items=("1001",), value="150.00").encode())) == []

    def test_none_of_two_orders_that_are_alike_until_one_is_linked_by_hand_or_is_the_same(self, seller):
        alike = [create_order(seller, orderId=code) for code in ("1-23", "12-3")]
        invoice = send_invoice(seller, nfe_xml(items=("123",)).encode())
        assert linked(invoice) == []

        invoices.link_by_hand(invoice=invoice, order=alike[0], by="maria", at=timezone.now())
        create_order(seller, orderId="123")

        assert linked(invoice) == ["1-23", "123"]

    def test_the_exact_order_rather_than_one_that_is_alike_whichever_comes_first(self, seller):
        create_order(seller, orderId="1-23")
        invoice = send_invoice(seller, nfe_xml(items=("12-3",)).encode())
        assert linked(invoice) == ["1-23"]

        create_order(seller, orderId="123")
        assert linked(invoice) == ["1-23"]
        both = send_invoice(seller, nfe_xml(items=("1-23", "12-3"), key=access_key(3)).encode())
        create_order(seller, orderId="12-3")
        assert (linked(invoice), linked(both)) == (["12-3"], ["1-23", "12-3"])
        assert linked(send_invoice(seller, nfe_xml(items=("12-3", "1-23"), key=access_key(2)).encode())) == [
            "1-23", "12-3",
        ]  # fmt: skip  # a list of codes

    def test_no_order_that_is_alike_to_a_reference_that_may_be_cut(self, seller, whichever_first):
        create_order(seller, orderId=LONG)

        whichever_first(
            lambda: create_order(seller, orderId=LONG[:15].lower()),
            lambda: send_invoice(seller, nfe_xml(items=(LONG[:15],)).encode()),
        )

        assert linked() == []

    @pytest.mark.parametrize(
        "key", [f"NFe{ACCESS_KEY}", f" nfe{ACCESS_KEY} ", f"DCe{ACCESS_KEY}", " ".join(ACCESS_KEY)]
    )
    def test_an_order_that_writes_the_key_in_another_form(self, seller, key):
        create_order(seller, invoice={"key": key})

        assert linked(send_invoice(seller, nfe_xml(items=("X",)).encode())) == ["A-1"]

    def test_make_the_order_found_by_the_invoices_key_and_number(self, seller, whichever_first):
        whichever_first(lambda: create_order(seller), lambda: send_invoice(seller, nfe_xml().encode()))

        assert linked() == ["A-1"]
        codes = SearchCode.objects.filter(kind__startswith="invoice").order_by("kind")
        assert [*codes.values_list("seller", "kind", "value")] == [
            (seller.pk, "invoice_key", ACCESS_KEY),
            (seller.pk, "invoice_number", "123"),
        ]

    def test_of_a_stored_invoice_are_not_searched_again(self, seller, django_assert_num_queries):
        create_order(seller)
        raw = nfe_xml().encode()
        invoice = send_invoice(seller, raw)

        # Savepoint, lock, look-up, references, orders, links and changes, the issuer's company, release.
        with django_assert_num_queries(9):
            assert send_invoice(seller, raw) == invoice
