import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from integration.freight.models import FreightParameters
from integration.models import Order
from tests.cases import in_turn
from tests.integration.factories import order_body, order_with

ORDERS, QUOTE = "/api/integration/orders", "/api/integration/shipping/quote"
OF_ORDERS = "limit cursor orderId trackingCode company status createdFrom createdTo updatedFrom"
STRICT = {"HTTP_PREFER": "handling=strict"}


class TestAnOrder:
    @pytest.mark.parametrize("postcode", ["01310-100", "01310100"])
    def test_of_the_specification_has_no_warning(self, api, postcode):
        response = api.post(ORDERS, order_with("receiver.address.zipCode", postcode), **STRICT)

        assert response.status_code == 201
        assert "Rota-Warnings" not in response

    @in_turn(
        ("path", "value", "warning"),
        [
            ("receiver.address.zipcode", "01310100", '"#/receiver/address/zipcode";code=unknown_key;nearest="zipCode"'),
            ("receiver.address.zipCode", "abc", '"#/receiver/address/zipCode";code=unassigned_postcode'),
            ("receiver.address.zipCode", "00000000", '"#/receiver/address/zipCode";code=unassigned_postcode'),
            ("receiver.address.zipCode", "40020000", '"#/receiver/address/zipCode";code=postcode_of_another_state'),
            ("receiver.address.state", "Bahia", '"#/receiver/address/state";code=unknown_state'),
            ("items.0.dimensions", "0x20x30,1.5", '"#/items/0/dimensions";code=side_is_zero'),
            ("items.0.dimensions", "10x20x000,1.5", '"#/items/0/dimensions";code=side_is_zero'),
            ("items.0.dimensions", "10x20x30,5000", '"#/items/0/dimensions";code=weight_out_of_range'),
            ("items.0.dimensions", "10x20x30,0", '"#/items/0/dimensions";code=weight_out_of_range'),
            ("invoice.key", "123", '"#/invoice/key";code=invalid_access_key;about="123"'),
            ("receiver.document", "111.111.111-11", '"#/receiver/document";code=invalid_document'),
            ("receiver.document", "11.222.333/0001-82", '"#/receiver/document";code=invalid_document'),
            ("receiver.phone", "3", '"#/receiver/phone";code=doubtful_phone'),
            ("receiver.cellphone", "abc", '"#/receiver/cellphone";code=doubtful_phone'),
            ("receiver.email", "maria(at)x", '"#/receiver/email";code=invalid_email'),
            ("receiver.email", "m@" + "x" * 253, '"#/receiver/email";code=invalid_email'),
        ],
    )
    def test_with_a_doubtful_value_is_accepted_with_a_warning(self, api, path, value, warning):
        response = api.post(ORDERS, order_with(path, value))

        assert response.status_code == 201
        assert response["Rota-Warnings"] == warning

    # pragma: allowlist nextline secret
    @in_turn("document", ["", "529.982.247-25", "12ABC34501DE35", "AB123456", "1" * 10, "x" * 255])
    def test_with_a_right_document_or_one_of_another_kind_has_no_warning(self, api, document):
        response = api.post(ORDERS, order_with("receiver.document", document), **STRICT)

        assert response.status_code == 201

    def test_answers_warnings_about_values_in_its_body_too(self, api):
        body = order_with("receiver.email", "maria(at)x") | {"nfe": 1}

        response = api.post(ORDERS, body, HTTP_IDEMPOTENCY_KEY="1")

        assert response.json() == {
            "success": True,
            "tracking_code": "TRACK-1",
            "warnings": [
                {"code": "unknown_key", "message": "nfe: Chave desconhecida, sem efeito. Você quis dizer 'invoice'?"},
                {"code": "invalid_email", "message": "receiver.email: Não é um endereço de e-mail."},
            ],
        }
        assert response["Rota-Warnings"].startswith('"#/nfe";code=unknown_key;nearest="invoice", ')
        replayed = api.post(ORDERS, body, HTTP_IDEMPOTENCY_KEY="1")
        assert (replayed.content, replayed["Rota-Warnings"]) == (response.content, response["Rota-Warnings"])

    def test_that_is_refused_or_cancelled_names_unknown_keys_in_its_body_too(self, api):
        body = order_body()
        body["orderid"] = body.pop("orderId")
        unknown = {
            "code": "unknown_key",
            "message": "orderid: Chave desconhecida, sem efeito. Você quis dizer 'orderId'?",
        }

        refused = api.post(ORDERS, body)
        strictly = api.post(ORDERS, body, **STRICT)
        api.post(ORDERS, order_body())
        cancelled = api.post(f"{ORDERS}/cancel", {"orderId": "A-1", "orderid": 1})

        assert (refused.status_code, refused.json()["warnings"]) == (422, [unknown])
        assert [*strictly.json()["errors"]] == ["orderId", "orderid"]
        assert "warnings" not in strictly.json()
        assert cancelled.json() == {
            "success": True, "message": "Objeto cancelado com sucesso", "warnings": [unknown]
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("changes", "about"),
        [
            ({"orderCost": 15050}, "Difere muito da soma dos itens, 150.50"),
            ({"orderCost": 1, "invoice": None}, "Difere muito da soma dos itens, 150.50"),
            ({"orderCost": 150.51}, "Difere de invoice.value, 150.50"),
            ({"orderCost": 0}, "Difere de invoice.value, 150.50"),
        ],
    )
    def test_with_a_cost_in_another_unit_or_than_the_invoices_is_named(self, api, changes, about):
        strictly = api.post(ORDERS, order_body(**changes), **STRICT)
        response = api.post(ORDERS, order_body(**changes))

        assert (strictly.status_code, [*strictly.json()["errors"]]) == (422, ["orderCost"])
        assert response["Rota-Warnings"] == f'"#/orderCost";code=order_cost_differs;about="{about}"'
        text = f"orderCost: {about}. Os valores do pedido são em reais (150.5), declared_amount em centavos (15050)."
        assert response.json()["warnings"] == [{"code": "order_cost_differs", "message": text}]

    @in_turn(
        "changes",
        [
            {"orderCost": 120, "invoice": None},  # a discount
            {"orderCost": 0, "invoice": None},  # a gift
            {"orderCost": 150.504},
            {"orderCost": 3.02, "invoice": None},
            {"orderCost": 7524.9, "invoice": {"value": None}},
        ],
    )
    def test_with_another_cost_than_its_items_has_no_warning(self, api, changes):
        assert api.post(ORDERS, order_body(**changes), **STRICT).status_code == 201

    def test_names_at_most_twenty_warnings(self, api):
        items = [{**order_body()["items"][0], "dimensions": "0x20x30,1.5"}] * 30

        response = api.post(ORDERS, order_body(items=items))

        assert len(response.json()["warnings"]) == response["Rota-Warnings"].count("side_is_zero") == 20

    def test_reads_the_freight_parameters_once_for_all_its_items(self, api):
        items = [{**order_body()["items"][0], "dimensions": f"10x20x30,{weight}"} for weight in ("1.5", "29", "5000")]

        with CaptureQueriesContext(connection) as queries:
            response = api.post(ORDERS, order_body(items=items))

        assert response["Rota-Warnings"] == '"#/items/2/dimensions";code=weight_out_of_range'
        assert len([query for query in queries if FreightParameters._meta.db_table in query["sql"]]) == 1

    @pytest.mark.parametrize(
        ("path", "value", "code"),
        [
            ("receiver.address.zipcode", "01310100", "unknown_key"),
            ("receiver.address.zipCode", "abc", "invalid_payload"),
            ("invoice.key", "123", "invalid_payload"),
        ],
    )
    def test_with_a_doubtful_value_is_refused_strictly(self, api, path, value, code):
        response = api.post(ORDERS, order_with(path, value), **STRICT)

        body = response.json()
        assert (response.status_code, body["code"], list(body["errors"])) == (422, code, [path])
        assert response["Preference-Applied"] == "handling=strict"
        assert not Order.objects.exists()

    @pytest.mark.parametrize(("weight", "status"), [("1.5", 201), ("1.500001", 422)])
    def test_is_within_the_maximum_weight_of_the_tariff(self, api, tariff, weight, status):
        FreightParameters.objects.update(max_weight_g=1500)

        assert api.post(ORDERS, order_with("items.0.dimensions", f"10x20x30,{weight}"), **STRICT).status_code == status

    def test_with_two_doubts_about_one_value_is_told_both(self, api):
        response = api.post(ORDERS, order_with("items.0.dimensions", "0x20x30,31"), **STRICT)

        assert len(response.json()["errors"]["items.0.dimensions"]) == 2


@pytest.mark.usefixtures("tariff")
class TestAQuote:
    def test_with_only_one_side_is_warned_that_it_has_no_effect(self, api):
        response = api.post(QUOTE, {"origin": "01310100", "destination": "40020000", "width": "10"})

        assert response.status_code == 200
        assert response["Rota-Warnings"] == '"#/width";code=incomplete_sides'
        assert response.json()["warnings"] == [
            {"code": "incomplete_sides", "message": "width: Sem as três medidas o peso cúbico não é calculado."}
        ]

    @pytest.mark.parametrize(("declared", "is_warned"), [("150.00", True), ("150.0", True), ("15000", False)])
    def test_with_a_declared_amount_in_reais_is_warned(self, api, declared, is_warned):
        body = f'{{"origin": "01310100", "destination": "40020000", "declared_amount": {declared}}}'

        response = api.post(QUOTE, body, content_type="application/json")

        codes = [warning["code"] for warning in response.json().get("warnings", [])]
        assert (response.status_code, codes) == (200, ["order_cost_differs"] * is_warned)
        assert ('"#/declared_amount";code=order_cost_differs' in response.get("Rota-Warnings", "")) == is_warned

    def test_with_an_unknown_key_is_refused_strictly(self, api):
        response = api.post(QUOTE, {"origin": "01310100", "destination": "40020000", "wight": 1}, **STRICT)

        assert response.status_code == 422
        assert response.json()["errors"] == {"wight": ["Chave desconhecida, sem efeito. Você quis dizer 'weight'?"]}


class TestAnUnknownParameter:
    @pytest.mark.parametrize(
        ("query", "warning"),
        [
            (
                "?order_id=A-1",
                f'"?order_id";code=unknown_key;nearest="orderId";known="{OF_ORDERS}"',
            ),
            (
                "/tracking?type=order_number&value=A-1&documnet=1",
                '"?documnet";code=unknown_key;nearest="document";known="value type document"',
            ),
        ],
    )
    def test_has_no_effect_and_is_named(self, api, query, warning):
        api.post(ORDERS, order_body(orderId="A-1"))

        response = api.get(ORDERS + query)

        assert (response.status_code, len(response.json()["data"])) == (200, 1)
        assert response["Rota-Warnings"] == warning
        assert [each["code"] for each in response.json()["warnings"]] == ["unknown_key"]

    def test_of_the_feed_is_named_in_its_body_too(self, api):
        body = api.get("/api/integration/events?afer=1").json()

        assert [*body] == ["success", "warnings", "data", "nextCursor"]
        assert body["warnings"] == [
            {
                "code": "unknown_key",
                "message": "?afer: Parâmetro desconhecido, sem efeito. Você quis dizer 'after'? "
                "Conhecidos: limit, after, orderId, from.",
            }
        ]

    @pytest.mark.parametrize("query", ["?documnet=1", "/tracking?type=order_number&value=A-1&documnet=1"])
    def test_is_refused_strictly(self, api, query):
        response = api.get(ORDERS + query, **STRICT)

        body = response.json()
        assert (response.status_code, body["code"], list(body["errors"])) == (422, "unknown_key", ["documnet"])
        assert body["errors"]["documnet"][0].startswith("Parâmetro desconhecido, sem efeito.")
        assert response["Preference-Applied"] == "handling=strict"
