import re
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from common.shops.platforms import Platform

# What must be chosen in each platform's own settings, in its own words, and what its people should know.
SAID = {
    (Platform.WOOCOMMERCE, "en"): ["Advanced › Webhooks", "Order updated", "Order deleted", "Delivery URL", "rights"],
    (Platform.WOOCOMMERCE, "pt-br"): ["Avançado › Webhooks", "Pedido atualizado", "Pedido excluído", "permissões"],
    (Platform.SHOPIFY, "en"): ["Notifications › Webhooks", "Order payment", "JSON", "Order cancellation", "CPF"],
    (Platform.SHOPIFY, "pt-br"): ["Notificações › Webhooks", "Pagamento do pedido", "JSON", "CPF"],
    (Platform.YAMPI, "en"): ["Settings › Webhooks", "order.paid", "order.status.updated", "secret key", "no other"],
    (Platform.YAMPI, "pt-br"): ["Configurações › Webhooks", "order.paid", "order.status.updated", "chave secreta"],
}


@pytest.mark.parametrize(("platform", "language"), SAID)
def test_each_platform_has_four_steps_that_name_its_settings(platform, language):
    with translation.override(language):
        shown = render_to_string("panel/connection_steps.html", {"connection": SimpleNamespace(platform=platform)})

    assert len(re.findall("<li>", shown)) == 4
    assert [words for words in SAID[platform, language] if words not in shown] == []
