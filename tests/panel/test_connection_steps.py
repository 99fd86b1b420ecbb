import re

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from common.shops.platforms import Platform

# What must be chosen in each platform's own settings, in its own words.
CHOSEN = {
    (Platform.WOOCOMMERCE, "en"): ["Advanced → Webhooks", "Order updated", "Delivery URL", "Secret"],
    (Platform.WOOCOMMERCE, "pt-br"): ["Avançado → Webhooks", "Pedido atualizado", "URL de entrega", "Segredo"],
    (Platform.SHOPIFY, "en"): ["Notifications → Webhooks", "Order payment", "JSON", "Order cancellation"],
    (Platform.SHOPIFY, "pt-br"): ["Notificações → Webhooks", "Pagamento de pedido", "JSON", "Cancelamento de pedido"],
    (Platform.YAMPI, "en"): ["Settings → Webhooks", "order.paid", "order.status.updated", "secret key"],
    (Platform.YAMPI, "pt-br"): ["Configurações → Webhooks", "order.paid", "order.status.updated", "chave secreta"],
}


@pytest.mark.parametrize(("platform", "language"), CHOSEN)
def test_each_platform_has_four_steps_that_name_its_settings(platform, language):
    with translation.override(language):
        shown = render_to_string(f"panel/connections/steps/{platform.lower()}.html")

    assert len(re.findall("<li>", shown)) == 4
    assert [words for words in CHOSEN[platform, language] if words not in shown] == []


def test_no_platform_is_without_steps():
    assert {platform for platform, _language in CHOSEN} == set(Platform)
