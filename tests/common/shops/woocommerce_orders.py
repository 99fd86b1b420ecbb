"""An order as WooCommerce posts it, of invented people, and where its field names come from.

The webhook's body is the answer of the REST API (`wc/v3`) for the order. WooCommerce 10.5.2 on WordPress 6.9.1 has
posted orders of both its checkouts with these names: `order` is of the classic one with Brazilian Market 4.0.2,
`of_block` of the checkout block with additional fields.
"""

from copy import deepcopy
from decimal import Decimal
from typing import Any

_DOCUMENTATION = "woocommerce/woocommerce-rest-api-docs, source/includes/wp-api-v3/_orders.md"
_BRAZILIAN_MARKET = (
    "claudiosanches/woocommerce-extra-checkout-fields-for-brazil, "
    "includes/class-extra-checkout-fields-for-brazil-api.php (Brazilian Market on WooCommerce)"
)
_PAYPAL = (
    "WordPressBugBounty/plugins-paypal-brasil-para-woocommerce, woocommerce-checkout-fields.md: names of the meta data"
)
_BLOCK = (
    "woocommerce/woocommerce, src/Blocks/Domain/Services/CheckoutFields.php: the prefixes `_wc_billing/`, "
    "`_wc_shipping/` and `_wc_other/` of additional checkout fields"
)
SOURCES = {
    _DOCUMENTATION: (
        "id", "number", "status", "created_via", "currency", "date_created", "date_created_gmt", "date_modified_gmt",
        "date_paid_gmt", "total", "customer_note", "billing", "shipping", "payment_method", "meta_data", "line_items",
        "shipping_lines", "refunds", "fee_lines", "coupon_lines", "billing.first_name", "billing.last_name",
        "billing.company", "billing.address_1", "billing.address_2", "billing.city", "billing.state",
        "billing.postcode", "billing.country", "billing.email", "billing.phone", "shipping.first_name",
        "shipping.last_name", "shipping.company", "shipping.address_1", "shipping.address_2", "shipping.city",
        "shipping.state", "shipping.postcode", "shipping.country",
    ),
    "woocommerce/woocommerce, class-wc-rest-orders-v2-controller.php: a phone of its own since version 5.6": (
        "shipping.phone",
    ),
    _BRAZILIAN_MARKET: (
        "billing.number", "billing.neighborhood", "billing.persontype", "billing.cpf", "billing.cnpj", "billing.ie",
        "billing.cellphone", "shipping.number", "shipping.neighborhood",
    ),
}  # fmt: skip  # a table
# Keys of `meta_data`, none of which is in the order below.
META_SOURCES = {
    _BRAZILIAN_MARKET: ("_billing_cpf", "_billing_cnpj", "_billing_persontype", "_shipping_number"),
    _PAYPAL: ("_shipping_neighborhood", "_shipping_cpf"),
    _BLOCK: ("_wc_shipping/loja/numero", "_wc_shipping/loja/bairro", "_wc_other/loja/cpf"),
}
_ORDER: dict[str, Any] = {
    "id": 727,
    "number": "L-727",
    "status": "processing",
    "created_via": "checkout",
    "currency": "BRL",
    "date_created": "2026-03-02T10:30:00",
    "date_created_gmt": "2026-03-02T13:30:00",
    "date_modified_gmt": "2026-03-02T13:32:10",
    "date_paid_gmt": "2026-03-02T13:32:08",
    "total": "113.85",
    "customer_note": "Deixar na portaria, com o Sr. João.\nObrigada!",
    "billing": {
        "first_name": "Ana", "last_name": "d'Ávila", "company": "", "address_1": "Av. Sete de Setembro",
        "address_2": "sala 3", "city": "Salvador", "state": "BA", "postcode": "40060-001", "country": "BR",
        "email": "ana@example.com", "phone": "(71) 3322-1100", "number": "1500", "neighborhood": "Vitória",
        "persontype": "F", "cpf": "52998224725", "cnpj": "", "ie": "", "cellphone": "(71) 99123-4567",
    },
    "shipping": {
        "first_name": "Bento", "last_name": "Sá", "company": "", "address_1": "Rua Chile", "address_2": "apto 302",
        "city": "Salvador", "state": "BA", "postcode": "40020-000", "country": "BR", "phone": "", "number": "21",
        "neighborhood": "Centro",
    },
    "payment_method": "pix",
    "meta_data": [],
    "line_items": [
        {
            "id": 315, "name": "Caneca &ndash; azul", "product_id": 93, "variation_id": 0, "quantity": 3,
            "total": "65.97", "sku": "CAN-1", "price": Decimal("21.989999999999998"), "meta_data": [],
        },
        {
            "id": 316, "name": "Pôster", "product_id": 22, "variation_id": 23, "quantity": 1, "total": "32.88",
            "sku": "", "price": Decimal("32.88"), "meta_data": [{"id": 1, "key": "tamanho", "value": "A3"}],
        },
    ],
    "shipping_lines": [
        {"id": 317, "method_title": "Motoboy", "method_id": "flat_rate", "total": "15.00", "meta_data": []}
    ],
    "fee_lines": [],
    "coupon_lines": [],
    "refunds": [],
}  # fmt: skip  # a table


def order(**changes):
    """The order with other values of its keys; `billing` and `shipping` are merged."""
    changed = deepcopy(_ORDER)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(changed.get(key), dict):
            changed[key].update(value)
        else:
            changed[key] = value
    return changed


def without_plug_in(**shipping):
    """An order of a shop that has no plug-in for Brazilian fields."""
    changed = order(shipping=shipping)
    for kind in ("billing", "shipping"):
        for key in ("number", "neighborhood", "persontype", "cpf", "cnpj", "ie", "cellphone"):
            changed[kind].pop(key, None)
    return changed


def of_block():
    """An order of the checkout block. What its customer typed is HTML, but for the note."""
    address = {
        "first_name": "Ana &amp; Bia", "last_name": "O'Neil \"Sá\"", "company": "Sá &amp; Filhos",
        "address_1": "Rua Augusta", "address_2": "Cond. Sol &amp; Mar – bl. 2", "city": "São Paulo", "state": "SP",
        "postcode": "01304-001", "country": "BR",
    }  # fmt: skip  # a table
    typed = {
        "_wc_billing/loja/bairro": "Centro &amp; Sé", "_wc_billing/loja/numero": "900",
        "_wc_other/loja/cpf": "529.982.247-25", "_wc_shipping/loja/bairro": "Centro &amp; Sé",
        "_wc_shipping/loja/numero": "900", "is_vat_exempt": "no",
    }  # fmt: skip  # a table
    made = without_plug_in(**address, phone="11991234567")
    made["billing"].update(address, phone="1133221100")
    first, *_others = made["line_items"]
    return {
        **made,
        "created_via": "store-api",
        "customer_note": "Sol & Mar, bloco 'x' \"y\"",
        "meta_data": meta(**typed),
        "line_items": [{**first, "name": "Pires &amp; caneca"}],
        "shipping_lines": [{**made["shipping_lines"][0], "method_title": "Motoboy &amp; cia"}],
    }


def meta(**values):
    return [{"id": position, "key": key, "value": value} for position, (key, value) in enumerate(values.items())]
