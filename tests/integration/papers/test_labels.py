"""Labels: what scanners read of them, in every size, and where texts stand that are longer than their place."""

import re
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import combinations
from time import process_time

import pytest
import zxingcpp
from django.utils import timezone

from integration.actions import orders
from integration.errors import OrderCancelled, OrderForgotten, TooManyLabels
from integration.invoices import nfe
from integration.invoices.models import Invoice, with_labels
from integration.lifecycle import Status
from integration.models import Order
from integration.papers import label_pdf, label_zpl
from integration.papers.label import MOST_LABELS, Label, kilograms, marks, of_orders
from integration.papers.label_pdf import Size
from integration.papers.marks import Bars, Block, Text
from integration.papers.text import LINE, POINT, clean, width_of
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    access_key,
    assign,
    create_order,
    make_carrier,
    nfe_xml,
    order_body,
    send_invoice,
)
from tests.integration.papers.codes import DOTS_PER_INCH, codes_in, fields_of, pages_of, texts_of

ALPHANUMERIC_KEY = "35261112ABC34501DE35550010000001231000000018"
OTHER_KEY = "352611A1B2C3D4E5F635550010000001231000000017"  # pragma: allowlist secret  # an access key
LINK = f"https://rota.example/t/o/1000001.{'aBcDeFgHiJ' * 4}kLm"  # longer than a token
LONG = "Comércio de Equipamentos Anticonstitucionalíssimos " * 5
WORD = "Wolfeschlegelsteinhausenbergerdorff" * 7
PAPERS = {Size.CM_10X15: (100, 150), Size.A6: (105, 148), Size.A4: (105, 148)}
LABEL = Label(
    order="A-1001",
    tracking_code="AA123456785BR",
    service="BASE",
    number=1,
    of=2,
    weight=Decimal("1.5"),
    sender=("Cafeteiras São João", "11.222.333/0001-81", "CEP 01310-100"),
    receiver="Maria",
    address=("Rua Augusta, 900", "Consolação", "São Paulo/SP"),
    postcode="01304001",
    deadline="Prazo: 5 dias úteis após a coleta",
    carrier="Jadlog",
    invoice_key=ACCESS_KEY,
    tracking_url=LINK,
    is_test=True,
)
HOSTILE = replace(
    LABEL,
    order="P" * 255,
    tracking_code="M" * 255,
    service="TURBO",
    number=MOST_LABELS,
    of=MOST_LABELS,
    weight=Decimal("999999.999999"),
    sender=(LONG, "11.222.333/0001-81", "CEP 01310-100"),
    receiver=WORD,
    address=(LONG, WORD, LONG),
    postcode="9" * 255,
    carrier=LONG[:120],
)


_ITEMS = [
    {"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 2, "price": 75},
    {"description": "Xícara", "dimensions": "1x2x3,0.25", "quantity": 1, "price": 5},
]


def labels_of(*made):
    return of_orders(with_labels(Order.objects.filter(pk__in=[order.pk for order in made])).order_by("pk"))


def replace_volumes(order, volumes):
    """As `with_labels` reads it if it said another number; the database refuses to change it."""
    order.stated_volumes, order.names_unprintable = volumes, False
    return order


def invoiced(key):
    return {**order_body()["invoice"], "value": 150, "key": key}


def receiver(**address):
    sent = order_body()["receiver"]
    return {**sent, "address": {**sent["address"], **address}}


def of_model(model):
    start = f"{ACCESS_KEY[:20]}{model}{ACCESS_KEY[22:-1]}"
    return next(key for key in (f"{start}{digit}" for digit in range(10)) if nfe.is_access_key(key))


class TestContent:
    def test_is_one_label_for_each_volume_with_a_part_of_the_weight(self, seller):
        order = create_order(seller, items=_ITEMS, volumes=2)

        labels = labels_of(order)

        assert [(each.number, each.of, each.weight) for each in labels] == [
            (1, 2, Decimal("1.625")), (2, 2, Decimal("1.625")),
        ]  # fmt: skip

    def test_of_many_pieces_in_one_box_is_one_label(self, seller):
        order = create_order(seller, items=[{**_ITEMS[1], "quantity": 250}])

        assert [(each.number, each.of, each.weight) for each in labels_of(order)] == [(1, 1, Decimal("62.5"))]

    def test_of_an_order_from_before_volumes_stays_one_label_for_each_unit(self, seller):
        order = replace_volumes(create_order(seller, items=_ITEMS), None)

        labels = of_orders([order])

        assert [(each.number, each.of, each.weight) for each in labels] == [
            (1, 3, Decimal("1.5")), (2, 3, Decimal("1.5")), (3, 3, Decimal("0.25")),
        ]  # fmt: skip
        assert sum(each.weight for each in labels) == order.weight == Decimal("3.25")

    def test_writes_a_weight_up_to_the_gram(self):
        assert [kilograms(Decimal(each)) for each in ("1.50", "0.3333333", "30", "1E+25")] == [
            "1,5 kg", "0,334 kg", "30 kg", "10000000000000000000000000 kg",
        ]  # fmt: skip

    def test_names_sender_receiver_and_deadline(self, seller, tariff):
        company = seller.companies.get()
        company.name, company.postcode = "Cafeteiras São João", "01310100"
        company.save()
        order = create_order(seller)
        waiting = labels_of(order)[0]
        seller.companies.update(name="")

        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        assert waiting.sender == ("Cafeteiras São João", "11.222.333/0001-81", "CEP 01310-100")
        assert (waiting.receiver, waiting.postcode) == ("Maria", "01310-100")
        assert waiting.address == ("Avenida Paulista, 1578", "Loja 1 - Bela Vista", "São Paulo/SP")
        assert re.fullmatch(r"Prazo: \d+ dias úteis após a coleta", waiting.deadline)
        order.refresh_from_db()
        collected = labels_of(order)[0]
        assert collected.deadline == f"Entrega prevista até {order.promised_on:%d/%m/%Y}"
        assert collected.sender[0] == seller.name  # of a company without a name

    @pytest.mark.parametrize(
        ("days", "text"),
        [(None, ""), (1, "Prazo: 1 dia útil após a coleta"), (2, "Prazo: 2 dias úteis após a coleta")],
    )
    def test_leaves_out_what_is_not_known(self, seller, days, text):
        order = replace_volumes(create_order(seller, receiver=receiver(complement=None)), 1)
        order.freight_days = days

        (label,) = of_orders([order])

        assert (label.address[1], label.sender[2], label.carrier, label.deadline) == ("Bela Vista", "", "", text)

    def test_names_the_carrier(self, seller):
        order = create_order(seller)
        assign(make_carrier()[0], order)

        (label,) = of_orders(with_labels(Order.objects.all()))

        assert label.carrier == "Jadlog"
        assert "Jadlog" in texts_of(label_pdf.write([label], size=Size.CM_10X15))[0]
        assert "Jadlog" in label_zpl.write([label])

    def test_has_the_key_that_the_order_names_or_that_of_a_linked_invoice(self, seller):
        named = create_order(seller, orderId="A-1", invoice=invoiced(ALPHANUMERIC_KEY))
        linked = create_order(seller, orderId="A-2")
        send_invoice(seller, nfe_xml(items=["A-2"]).encode())
        without = create_order(seller, orderId="A-3")

        assert [each.invoice_key for each in labels_of(named, linked, without)] == [
            ALPHANUMERIC_KEY,
            ACCESS_KEY,
            "",
        ]

    @in_turn(
        ("names", "notes", "key"),
        [
            (None, [{}], ACCESS_KEY),
            (access_key(9), [{}], ACCESS_KEY),  # the linked note, and not the one that was never sent
            (access_key(9), [], access_key(9)),
            # The order's note was cancelled and issued again; or not yet.
            (access_key(9), [{"key": access_key(9), "status": "101"}, {}], ACCESS_KEY),
            (access_key(9), [{"key": access_key(9), "status": "101"}], ""),
            (access_key(9), [{"key": access_key(9), "status": "539"}], ""),
            (None, [{"status": "539"}], ""),
            (None, [{"status": ""}], ACCESS_KEY),
            (None, [{}, {"key": access_key(2), "status": ""}], ACCESS_KEY),  # a valid one before a newer one
            (None, [{}, {"key": access_key(2)}], access_key(2)),
            (ACCESS_KEY, [{}, {"key": access_key(2)}], ACCESS_KEY),
            (ACCESS_KEY, [{"status": ""}, {"key": access_key(2)}], access_key(2)),  # a valid one before the order's own
            (None, [{}, {"key": access_key(2), "ide": "<finNFe>4</finNFe>"}], ACCESS_KEY),
            (ACCESS_KEY, [{"ide": "<tpNF>0</tpNF>"}], ""),
            (f"{ACCESS_KEY[:-1]}8", [], ""),  # its check digit is wrong
            (None, [{"key": f"{ACCESS_KEY[:-1]}8"}], ""),
            (of_model("65"), [], ""),
            (None, [{"key": of_model("65")}], ""),
            (of_model("99"), [], of_model("99")),
        ],
    )
    def test_has_the_key_of_the_note_that_accompanies_the_goods(self, seller, names, notes, key):
        order = create_order(seller, invoice=invoiced(names) if names else None)
        for note in notes:
            send_invoice(seller, nfe_xml(**note).encode())

        assert labels_of(order)[0].invoice_key == key

    def test_has_its_key_whatever_became_of_the_note_of_another_seller_or_environment(self, seller, other_seller):
        order = create_order(seller, invoice=invoiced(ACCESS_KEY))
        void = nfe_xml(status="101").encode()
        send_invoice(other_seller, void)
        send_invoice(seller, void, environment="sandbox")

        assert labels_of(order)[0].invoice_key == ACCESS_KEY

    @pytest.mark.parametrize("wrong", [{"is_void": True}, {"is_return": True}, {"protocol": "539"}])
    def test_has_no_key_that_may_not_be_printed_although_its_note_is_linked_or_named(self, seller, wrong):
        other, own = access_key(2), access_key(3)
        orders_made = [create_order(seller), create_order(seller, orderId="A-2", invoice=invoiced(own))]
        for key in (ACCESS_KEY, other):
            send_invoice(seller, nfe_xml(key=key).encode())
        send_invoice(seller, nfe_xml(key=own, items=["A-2"]).encode())

        Invoice.objects.exclude(access_key=ACCESS_KEY).update(**wrong)

        assert [each.invoice_key for each in labels_of(*orders_made)] == [ACCESS_KEY, ""]

    @pytest.mark.parametrize(
        ("key", "caption"),
        [
            (ACCESS_KEY, "NF-e 3526"), (f"{ACCESS_KEY[:20]}99{ACCESS_KEY[22:]}", "DC-e 3526"),
            (f"{ACCESS_KEY[:20]}99{ACCESS_KEY[22:40]}", "DC-e 3526"),  # without bars
        ],
    )  # fmt: skip  # a table
    def test_calls_the_note_what_it_is(self, key, caption):
        assert caption in label_zpl.write([replace(LABEL, invoice_key=key)])

    def test_is_refused_for_a_cancelled_and_an_anonymised_order(self, seller):
        order, old = create_order(seller), create_order(seller, orderId="A-2")
        orders.cancel(order=order, by=BY, at=timezone.now())
        old.forgotten_at = timezone.now()

        with pytest.raises(OrderCancelled, match="'A-1' está cancelado"):
            labels_of(order)
        with pytest.raises(OrderForgotten, match="'A-2'"):
            of_orders([old])

    def test_is_refused_for_more_volumes_than_a_file_has_before_any_is_made(self, seller):
        item = {"description": "Grão", "dimensions": "1x1x1,1", "quantity": 2**62, "price": 1}
        old = replace_volumes(create_order(seller, items=[item]), None)
        three = [replace_volumes(create_order(seller, orderId=f"B-{number}"), 67) for number in range(3)]

        for chosen in ([old], three):
            with pytest.raises(TooManyLabels, match=str(MOST_LABELS)):
                of_orders(chosen)
        assert len(of_orders([*three[:2], replace_volumes(three[2], 66)])) == MOST_LABELS


class TestCodes:
    @in_turn("key", [ACCESS_KEY, ALPHANUMERIC_KEY])
    @in_turn("size", Size)
    def test_are_read_from_every_size_with_keys_of_both_alphabets(self, seller, size, key):
        order = create_order(seller, trackingCode="AA123456785BR", invoice=invoiced(key), volumes=2)
        expected = [("Code128", text) for text in ("01310100", "AA123456785BR", key)]
        expected += [("QRCode", order.tracking_url)]

        pages = pages_of(label_pdf.write(labels_of(order), size=size))

        on_each = [2] if size is Size.A4 else [1, 1]
        assert [codes_in(page) for page in pages] == [sorted(expected * labels) for labels in on_each]

    @pytest.mark.parametrize("key", [ACCESS_KEY, ALPHANUMERIC_KEY])
    @pytest.mark.parametrize("size", Size)
    def test_of_invoices_are_at_least_as_long_as_the_rules_for_the_danfe_ask(self, size, key):
        (page,) = pages_of(label_pdf.write([replace(LABEL, invoice_key=key)], size=size))

        (code,) = [each for each in _read(page) if each.text == key]

        corners = [
            code.position.top_left,
            code.position.top_right,
            code.position.bottom_left,
            code.position.bottom_right,
        ]
        length = max(abs(a.y - b.y) for a, b in combinations(corners, 2)) / DOTS_PER_INCH * 25.4
        assert 115 <= length <= PAPERS[size][1]

    @pytest.mark.parametrize("key", [ALPHANUMERIC_KEY, OTHER_KEY])
    @pytest.mark.parametrize("size", Size)
    def test_of_invoices_are_read_although_the_printer_leaves_five_millimetres_blank(self, size, key):
        (page,) = pages_of(label_pdf.write([replace(LABEL, invoice_key=key)], size=size))
        width, height = (round(side / 25.4 * DOTS_PER_INCH) for side in PAPERS[size])
        blank = round(5 / 25.4 * DOTS_PER_INCH)

        printed = page.crop((0, 0, width, height)).point(lambda grey: 255 if grey > 127 else 0)
        for edge in ((0, 0, width, blank), (0, height - blank, width, height)):
            printed.paste(255, edge)

        assert ("Code128", key) in codes_in(printed)

    def test_of_tracking_have_no_bars_where_these_cannot_be_read_and_say_so(self):
        for code in ("M" * 40, "código", "A>1"):
            (page,) = texts_of(pdf := label_pdf.write([replace(LABEL, tracking_code=code)], size=Size.CM_10X15))

            assert "Código de rastreio sem barras" in page
            assert code in page.replace(" ", "")
            assert len(codes_in(pages_of(pdf)[0])) == 3, code

    def test_of_something_that_is_no_access_key_are_text(self):
        (page,) = texts_of(pdf := label_pdf.write([replace(LABEL, invoice_key="NOTA 123")], size=Size.CM_10X15))

        assert "NF-e NOTA 123" in page
        assert len(codes_in(pages_of(pdf)[0])) == 3


def _read(page):
    return zxingcpp.read_barcodes(page)


class TestSheet:
    @pytest.mark.parametrize(
        ("position", "places"), [(1, [[0, 1, 2, 3], [0]]), (3, [[2, 3], [0, 1, 2]]), (4, [[3], [0, 1, 2, 3]])]
    )
    def test_begins_at_the_position_and_goes_on_to_the_next(self, position, places):
        labels = [replace(LABEL, number=number, of=5, invoice_key="") for number in range(1, 6)]

        pages = pages_of(label_pdf.write(labels, size=Size.A4, position=position))

        assert [_quarters(page) for page in pages] == places

    def test_of_one_size_is_a_page_for_each(self):
        pages = pages_of(label_pdf.write([LABEL] * 3, size=Size.A6, position=4))

        assert [round(side / DOTS_PER_INCH * 25.4) for side in pages[0].size] == [105, 148]
        assert len(pages) == 3


def _quarters(page):
    """In which quarters of the page QR codes are."""
    return sorted(
        int(code.position.top_left.x > page.width / 2) + 2 * int(code.position.top_left.y > page.height / 2)
        for code in _read(page)
        if code.format.name == "QRCode"
    )


def _box(mark):
    """Left, upper, right and lower edge."""
    if isinstance(mark, Text):
        height = mark.size * POINT * LINE
        if mark.turned:
            return mark.x, mark.y, mark.x + height, mark.y + mark.width
        return mark.x, mark.y, mark.x + width_of(mark.text, size=mark.size, bold=mark.bold), mark.y + height
    if isinstance(mark, Bars):
        width, height = (mark.height, mark.length) if mark.turned else (mark.length, mark.height)
        return mark.x, mark.y, mark.x + width, mark.y + height
    return mark.x, mark.y, mark.x + mark.side, mark.y + mark.side


class TestLayout:
    @in_turn("size", Size)
    @in_turn(
        "label",
        [
            LABEL, HOSTILE, replace(HOSTILE, invoice_key="x" * 255, tracking_code="9" * 20),
            replace(HOSTILE, invoice_key="", postcode="01304001", is_test=False),
            replace(HOSTILE, tracking_code="A" * 20, address=(WORD, LONG, WORD), postcode="01304001"),
        ],
    )  # fmt: skip  # a list
    def test_lets_nothing_overlap_or_leave_the_paper(self, label, size):
        width, height = PAPERS[size]
        found = list(marks(label, width=width, height=height))

        boxes = [(_box(mark), mark) for mark in found if not isinstance(mark, Block)]
        rules = [mark for mark in found if isinstance(mark, Block) and mark.height < 1]

        for (left, top, right, bottom), mark in boxes:
            assert left >= 0, mark
            assert right <= width - 1, mark
            assert top >= 0, mark
            assert bottom <= height, mark
            turned = getattr(mark, "turned", False)
            assert turned or not any(top < rule.y < bottom for rule in rules), mark
        for (one, first), (other, second) in combinations(boxes, 2):
            is_apart = (
                one[2] <= other[0] + 0.01
                or other[2] <= one[0] + 0.01
                or one[3] <= other[1] + 0.01
                or other[3] <= one[1] + 0.01
            )
            assert is_apart, (first, second)

    def test_shows_where_a_text_is_cut(self):
        label = replace(HOSTILE, address=(WORD, WORD, WORD), receiver=WORD)

        found = [mark.text for mark in marks(label, width=100, height=150) if isinstance(mark, Text)]

        assert sum(text.endswith("…") for text in found) == 5  # the longest texts of each section

    @pytest.mark.parametrize("key", ["", ALPHANUMERIC_KEY])
    @pytest.mark.parametrize("size", Size)
    def test_cuts_no_text_that_the_free_height_has_room_for(self, size, key):
        street = f"{'Avenida Presidente Juscelino Kubitschek de Oliveira, ' * 4}12345"
        labels = [
            replace(LABEL, invoice_key=key, address=(street, street, "Vila Bela da Santíssima Trindade/MT")),
            replace(LABEL, invoice_key=key, order="MARKETPLACE-" * 14),
            replace(LABEL, invoice_key=key, tracking_code="ção" * 85),
        ]

        for label in labels:
            width, height = PAPERS[size]
            texts = [mark.text for mark in marks(label, width=width, height=height) if isinstance(mark, Text)]

            assert not any("…" in text for text in texts)
            written = "".join(texts).replace(" ", "")
            for whole in (*label.address, label.order, label.tracking_code):
                assert whole.replace(" ", "") in written

    def test_says_of_a_test_order_that_it_is_one(self):
        for is_test in (True, False):
            (page,) = texts_of(label_pdf.write([replace(LABEL, is_test=is_test)], size=Size.A6))

            assert ("SANDBOX / TESTE" in page) is is_test


class TestLetters:
    def test_of_portuguese_are_printed_also_if_their_accents_are_sent_apart(self):
        assert clean("Sa\u0303o Joa\u0303o, ÀÉÎÕÜçñ ºª") == "São João, ÀÉÎÕÜçñ ºª"

    def test_that_the_font_lacks_lose_their_accents_or_stay_to_be_a_box(self):
        assert clean("Nguyễn 中") == "Nguyen 中"

    def test_that_are_not_seen_are_left_out(self):
        assert clean(" a\u202eb\u200bc\x07\n d\ue000 ") == "abc d"

    def test_are_read_up_to_a_bound(self):
        assert clean("x" * 10**6) == "x" * 299 + "…"
        assert clean("x" * 300) == "x" * 300


class TestZpl:
    def test_has_every_code_and_text(self, seller):
        order = create_order(
            seller, trackingCode="AA123456785BR", invoice=invoiced(ALPHANUMERIC_KEY), service="next", volumes=2
        )

        text = label_zpl.write(labels_of(order))

        one, other = re.findall(r"\^XA\n\^CI28\n\^PW800\n\^LL1200\n\^LH0,0\n(.*?)\n\^XZ\n", text, re.DOTALL)
        fields = fields_of(one)
        bars = [data for commands, data in fields if "^BC" in commands]
        assert sorted(bars) == sorted(["01310100", "AA123456785BR", ALPHANUMERIC_KEY])
        assert [data for commands, data in fields if "^BQ" in commands] == [f"MA,{order.tracking_url}"]
        texts = [data for commands, data in fields if "^A0" in commands]
        for expected in ("NEXT", "VOL 1/2", "Maria", "CEP 01310-100", "São Paulo/SP", "Pedido A-1"):
            assert expected in texts
        assert "VOL 2/2" in other

    def test_has_no_command_in_a_text(self):
        texts = ("^XZ", "~JR", "a_5Eb", "^FS^XA_^")
        label = replace(
            LABEL, receiver=texts[0], address=(texts[1], texts[2], "São/SP"), order=texts[3], tracking_code="A^1"
        )

        zpl = label_zpl.write([label])

        assert (zpl.count("^XA"), zpl.count("^XZ"), zpl.count("~")) == (1, 1, 0)
        written = [data for _commands, data in fields_of(zpl)]
        for text in (*texts[:3], f"Pedido {texts[3]}", "A^1"):
            assert text in written

    @pytest.mark.parametrize("key", [ACCESS_KEY, ALPHANUMERIC_KEY])
    def test_has_bars_of_whole_dots_within_the_label(self, key):
        zpl = label_zpl.write([replace(LABEL, invoice_key=key)])

        bars = re.findall(r"\^FO(\d+),(\d+)\^BY(\d)\^BC([NB]),\d+,N,N,N,A\^FH\^FD(.*?)\^FS", zpl)

        assert len(bars) == 3
        for x, y, module, turn, text in bars:
            modules = Bars(0, 0, 1, 1, text).modules
            start, most = (int(y), 1200) if turn == "B" else (int(x), 800)
            quiet = 10 * int(module)
            assert int(module) >= 2
            assert start >= quiet
            assert start + modules * int(module) + quiet <= most
            assert text != key or modules * int(module) / 8 >= 115


class TestSpeed:
    def test_a_hundred_orders_take_less_than_five_seconds(self):
        labels = [replace(LABEL, tracking_url=f"{LINK}{number}") for number in range(100)]
        start = process_time()

        pdf = label_pdf.write(labels, size=Size.CM_10X15)

        assert process_time() - start < 5
        assert len(texts_of(pdf)) == 100

    @pytest.mark.parametrize("write", [partial(label_pdf.write, size=Size.CM_10X15), label_zpl.write])
    def test_codes_and_texts_are_made_once_for_an_order(self, write):
        of_one = [replace(LABEL, number=number, of=99) for number in range(1, 100)]
        of_many = [replace(LABEL, tracking_url=f"{LINK}{number}", order=str(number)) for number in range(99)]

        times = []
        for labels in (of_one, of_many):
            start = process_time()
            write(labels)
            times.append(process_time() - start)

        assert times[0] * 5 < times[1]

    def test_texts_that_are_too_long_take_less_than_twice_as_much(self):
        start = process_time()

        label_pdf.write([HOSTILE] * 20, size=Size.A4)

        assert process_time() - start < 2
