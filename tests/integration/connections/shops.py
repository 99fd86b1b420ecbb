"""Connected shops of sellers. Their orders and the posting of them are those of tests/delivery/connections/shops.py."""

from typing import Any

from django.utils import timezone

from common.accounts import Environment
from common.shops.platforms import Platform
from integration.connections import actions
from integration.connections.models import Connection
from integration.models import Seller
from tests.delivery.connections.shops import SECRET
from tests.integration.factories import BY, SellerFactory


def shop(**changes: Any) -> Connection:
    """A connected shop of a seller with a company: of the first one, unless `seller` says which."""
    seller = changes.pop("seller", None) or Seller.objects.first() or SellerFactory.create()
    made, _secret = actions.connect(
        seller=seller,
        environment=changes.pop("environment", Environment.LIVE),
        platform=changes.pop("platform", Platform.WOOCOMMERCE),
        settings=actions.Settings(**{"name": "Loja", "company": seller.companies.first(), **changes}),
        secret=SECRET,
        by=BY,
        at=timezone.now(),
    )
    return made
