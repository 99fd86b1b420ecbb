"""GET /api/integration/account: whose key it is."""

import pytest

from integration.models import Company
from tests.integration.factories import COMPANY

pytestmark = pytest.mark.django_db
ACCOUNT = "/api/integration/account"


def test_tells_seller_environment_companies_services_and_limits(api, seller, other_seller):
    seller.rate_limit_per_second, seller.rate_limit_per_hour = 7, 0
    seller.save()
    Company.objects.filter(seller=seller).update(name="Loja", postcode="01310100")

    answer = api.get(ACCOUNT)

    assert answer.status_code == 200
    assert answer.json() == {
        "success": True,
        "data": {
            "seller": {"reference": seller.reference, "name": seller.name},
            "environment": "live",
            "companies": [{"document": COMPANY, "name": "Loja", "postcode": "01310100"}],
            "services": ["base", "next", "turbo"],
            "limits": {"perSecond": 7, "perHour": None},
        },
    }
