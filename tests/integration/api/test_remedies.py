"""What answers to mistakes say, so that their reader can mend them: which field, and what belongs there."""

import pytest

from tests.cases import in_turn
from tests.integration.factories import create_order, order_body, order_with

ORDERS, QUOTE = "/api/integration/orders", "/api/integration/shipping/quote"
FREIGHT = {"origin": "01310100", "destination": "40020000"}


@in_turn(
    ("changes", "says"),
    [
        ({"declared_amount": "150,50"}, "declared_amount: Deve ser um número inteiro de centavos"),
        ({"declared_amount": 150.5}, "declared_amount: Deve ser um número inteiro de centavos"),
        ({"weight": "2.5"}, "weight: Deve ser um número maior que zero, em quilogramas, com ponto e sem aspas"),
        ({"width": 40}, 'width: Deve ser um texto de 1 a 3 dígitos, em centímetros inteiros, como "40"'),
        ({"origin": 40020000}, 'origin: Deve ser um texto com 8 dígitos, como "01310100"'),
    ],
)
def test_a_quote_with_another_unit_or_type_is_told_the_right_one(api, changes, says):
    response = api.post(QUOTE, FREIGHT | changes)

    assert response.status_code == 400
    assert says in response.json()["message"]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("orderCost", "150,50", "em reais, a partir de 0, com ponto e sem vírgula"),
        ("items.0.price", "R$ 75.25", "em reais, a partir de 0, com ponto e sem vírgula"),
        ("items.0.dimensions", "0.1x0.2x0.3,1.5", "três lados em centímetros inteiros"),
        ("invoice.issueDate", "2026-11-20T10:00:00-03:00", "a hora local da nota, sem fuso"),
    ],
)
def test_an_order_with_another_unit_or_form_is_told_the_right_one(api, path, value, says):
    response = api.post(ORDERS, order_with(path, value))

    assert response.status_code == 422
    assert says in response.json()["errors"][path][0]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "O corpo está vazio"),
        ('{"orderId": "1",}', "linha 1, coluna"),
        (r'"{\"orderId\": \"1\"}"', "codifique-o uma vez só"),
    ],
)
def test_a_body_that_is_no_object_is_told_what_it_is(api, body, says):
    response = api.generic("POST", ORDERS, body, content_type="application/json")

    assert response.status_code == 422
    assert says in response.json()["errors"]["body"][0]


@pytest.mark.parametrize(
    ("method", "path", "says"),
    [
        ("delete", f"{ORDERS}/A-1", f"envie POST {ORDERS}/cancel"),
        ("post", f"{ORDERS}/A-1/cancel", f"envie POST {ORDERS}/cancel"),
        ("post", "/api/integration/invoices", "envie POST /api/integration/invoices/marketplace"),
        ("delete", ORDERS, "permitidos: GET, POST"),
    ],
)
def test_a_call_that_there_is_not_is_told_the_one_that_is_meant(api, seller, method, path, says):
    response = getattr(api, method)(path)

    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert says in response.json()["message"]


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("order", {}, ""),
        ("idempotencyKey", "1", " Você quis dizer 'cabeçalho Idempotency-Key'?"),
        ("recipient", {}, ""),
        ("order_id", "A-2", " Você quis dizer 'orderId'?"),
    ],
)
def test_an_unknown_key_is_compared_with_those_that_take_such_a_value(api, key, value, hint):
    [warning] = api.post(ORDERS, order_body(**{key: value})).json()["warnings"]

    assert warning["message"] == f"{key}: Chave desconhecida, sem efeito.{hint}"


@pytest.mark.parametrize("key", ["orderId", "trackingCode", "company_document"])
def test_a_key_that_cannot_be_corrected_is_not_taken_for_another_one(api, seller, key):
    create_order(seller)

    [warning] = api.patch(f"{ORDERS}/A-1", {key: "x", "volumes": 2}).json()["warnings"]

    assert warning["message"] == f"{key}: Chave desconhecida, sem efeito."
