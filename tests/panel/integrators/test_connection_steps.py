import re
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import translation
from lxml.html import document_fromstring

from common.shops.models import PLATFORMS
from common.shops.platforms import Platform
from delivery.connections.models import Connection

ADDRESS, SECRET = "https://rota.example/api/connections/abc", "a-secret"  # pragma: allowlist secret
# What must be chosen in each platform's own settings, in its own words, and what its people should know.
SAID = {
    (Platform.WOOCOMMERCE, "en"): ["Advanced › Webhooks", "Save the webhook", "Order deleted", "rights"],
    (Platform.WOOCOMMERCE, "pt-br"): ["Avançado › Webhooks", "Salve o webhook", "Pedido excluído", "permissões"],
    (Platform.SHOPIFY, "en"): ["Notifications › Webhooks", "Order cancellation", "CPF"],
    (Platform.SHOPIFY, "pt-br"): ["Notificações › Webhooks", "Cancelamento do pedido", "CPF"],
    (Platform.YAMPI, "en"): ["Settings › Webhooks", "secret key", "no other"],
    (Platform.YAMPI, "pt-br"): ["Configurações › Webhooks", "chave secreta"],
}
# The fields of its form, and what is filled in.
FORM = {
    (Platform.WOOCOMMERCE, "en"): [
        ("Name", "Rota"), ("Status", "Active"), ("Topic", "Order updated"), ("Delivery URL", ADDRESS),
        ("Secret", SECRET), ("API version", "WP REST API Integration v3"),
    ],
    (Platform.WOOCOMMERCE, "pt-br"): [
        ("Nome", "Rota"), ("Status", "Ativo"), ("Tópico", "Pedido atualizado"), ("URL de entrega", ADDRESS),
        ("Segredo", SECRET), ("Versão da API", "WP REST API Integration v3"),
    ],
    (Platform.SHOPIFY, "en"): [
        ("Event", "Order payment"), ("Format", "JSON"), ("URL", ADDRESS), ("API version", "the latest that is stable")
    ],
    (Platform.SHOPIFY, "pt-br"): [
        ("Evento", "Pagamento do pedido"), ("Formato", "JSON"), ("URL", ADDRESS),
        ("Versão da API", "a mais recente estável"),
    ],
    (Platform.YAMPI, "en"): [
        ("Name", "Rota"), ("URL", ADDRESS), ("Event", "order approved (order.paid)"),
        ("Event", "status of an order updated (order.status.updated)"),
    ],
    (Platform.YAMPI, "pt-br"): [
        ("Nome", "Rota"), ("URL", ADDRESS), ("Evento", "pedido aprovado (order.paid)"),
        ("Evento", "status do pedido atualizado (order.status.updated)"),
    ],
}  # fmt: skip  # a table


def shown(platform, language, secret):
    context = {"connection": Connection(platform=platform), "address": ADDRESS, "secret": secret}
    with translation.override(language):
        return render_to_string("panel/connection_steps.html", context)


@pytest.mark.parametrize(("platform", "language"), SAID)
def test_each_platform_has_four_steps_that_name_its_settings(platform, language):
    text = shown(platform, language, SECRET if platform is Platform.WOOCOMMERCE else "")

    assert len(re.findall("<li>", text)) == 4
    assert [words for words in SAID[platform, language] if words not in text] == []
    html: Any = document_fromstring(text)
    filled = [(row.findtext("dt"), row.xpath("string(dd//pre | dd/span)")) for row in html.xpath("//dl/div")]
    assert filled == FORM[platform, language]
    assert html.findtext(".//figcaption") == f"{PLATFORMS[platform]} · Webhook"
    copied = [html.get_element_by_id(each).text for each in html.xpath("//button/@data-copy")]
    assert copied == [value for _name, value in FORM[platform, language] if value in {ADDRESS, SECRET}]


def test_a_secret_that_is_not_shown_any_more_is_not_to_be_copied():
    text = shown(Platform.WOOCOMMERCE, "en", "")

    assert "make a new one below" in text
    assert document_fromstring(text).xpath("//button/@data-copy") == ["address-text"]
