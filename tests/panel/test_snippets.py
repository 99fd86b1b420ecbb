"""The panel's quickstarts: tests/panel/guide/test_webhook_snippets.py runs the programs that they show."""

import html
import re

from django.urls import reverse


class TestTheQuickstart:
    def test_of_an_account_has_the_names_of_the_guide(self, member, shop):
        page = html.unescape(
            member.get(reverse("panel:quickstart", args=[shop.integrator.pk, "sandbox"])).content.decode()
        )

        assert re.findall(r"export (\w+)=", page) == ["BASE_URL", "TOKEN", "WEBHOOK_SECRET"]
        assert "export TOKEN=rota_test_…" in page
        assert "export WEBHOOK_SECRET=whsec_…" in page
        assert '-H "Idempotency-Key: $IDEMPOTENCY_KEY" -d @delivery.json' in page
        for command in ("python3 receive.py", "node receive.js", "php -S 127.0.0.1:9000 receive.php"):
            assert f"start with {command}" in page
        assert "ROTA_" not in page

    def test_of_a_seller_has_the_names_of_the_guide(self, member, shop):
        page = html.unescape(
            member.get(reverse("panel:seller_quickstart", args=[shop.seller.pk, "live"])).content.decode()
        )

        assert re.findall(r"export (\w+)=", page) == ["BASE_URL", "API_KEY", "WEBHOOK_SECRET"]
        assert '-H "Idempotency-Key: $ORDER_ID" -H "Sandbox-Speed: 20" -d @-' in page
        assert "export API_KEY=rota_testkey_…" in page
        assert "ROTA_" not in page
