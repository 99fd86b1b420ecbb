"""GET /api/account: whose token it is."""

import pytest

from delivery.models import PickupPoint
from tests.factories import TokenFactory

pytestmark = pytest.mark.django_db
ACCOUNT = "/api/account"


class TestAccount:
    def test_tells_account_environment_pickup_points_and_limits(self, api, token):
        token.integrator.rate_limit_per_second, token.integrator.rate_limit_per_hour = 7, 0
        token.integrator.save()
        PickupPoint.objects.all().delete()
        of_others = TokenFactory.create().integrator
        for owner, name in ((token.integrator, "Norte"), (token.integrator, "Centro"), (of_others, "Sul")):
            PickupPoint.objects.create(
                integrator=owner, name=name, latitude=-23.5, longitude=-46.6, active=name == "Norte"
            )

        answer = api.get(ACCOUNT)

        assert answer.status_code == 200
        body = answer.json()
        points = body.pop("pickupPoints")
        assert body == {
            "account": {"accountId": str(token.integrator_id), "name": token.integrator.name},
            "environment": "live",
            "anyPickupAllowed": token.integrator.allow_any_pickup,
            "limits": {"perSecond": 7, "perHour": None},
        }
        assert [(point["name"], point["active"]) for point in points] == [("Centro", False), ("Norte", True)]
        assert points[0].keys() == {"pickupPointId", "name", "latitude", "longitude", "radiusMeters", "active"}
