import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from common.api import json_body
from common.shops import platforms, samples
from common.shops.order import Address, Stage
from common.shops.platforms import Platform

AT = datetime(2026, 3, 2, 13, 30, tzinfo=UTC)
TO = Address(
    postal_code="40020-000", street="Rua Chile", number="21", complement="loja 2", district="Centro", city="Salvador",
    state="BA", country="BR", latitude=-12.9718, longitude=-38.5132,
)  # fmt: skip  # a table


@pytest.mark.parametrize("platform", Platform)
class TestASampleOfEachPlatform:
    def test_is_read_as_a_complete_paid_order(self, platform):
        headers, body = samples.posting(platform, secret="s", to=TO, number=1001, at=AT)

        parsed = json_body.read_object(
            io.BytesIO(body), most_bytes=1 << 20, most_levels=platforms.MOST_LEVELS, parse_float=Decimal
        )
        order = platforms.read(platform, parsed)
        assert headers["Content-Type"] == "application/json"
        assert (order.id, order.number.removeprefix("#"), order.stage) == ("1001", "1001", Stage.PAID)
        assert (order.placed_at, order.changed_at, order.total) == (AT, AT, Decimal("75.00"))
        assert [(item.quantity, item.unit_price) for item in order.items] == [(2, Decimal("30.00"))]
        assert order.receiver.name.endswith("(teste)")
        place = order.address
        assert (place.street, place.number, place.complement) == ("Rua Chile", "21", "loja 2")
        assert (place.district, place.city, place.state) == ("Centro", "Salvador", "BA")
        assert all((order.receiver.phone, order.receiver.document, place.postal_code))
        assert "Entrega local" in order.shipping_methods

    def test_is_signed_with_the_secret(self, platform):
        headers, body = samples.posting(platform, secret="segredo", to=TO, number=1, at=AT)

        signature = headers[platforms.SIGNATURE_HEADERS[platform]]
        assert platforms.is_signed(secret="segredo", body=body, signature=signature)  # pragma: allowlist secret
        assert not platforms.is_signed(secret="outro", body=body, signature=signature)  # pragma: allowlist secret
