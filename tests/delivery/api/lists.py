"""Reading the list of deliveries, and filling it."""

from datetime import UTC, datetime, timedelta

from delivery.models import Delivery
from tests.delivery.api.calls import LIST

NOON = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)  # 12:00 in São Paulo


def ids(response):
    assert response.status_code == 200, response.content
    return [item["deliveryId"] for item in response.json()["data"]]


def walk(api, *, meanwhile=lambda: None, **query):
    """The ids of every page, one after another; `meanwhile` is called between two pages."""
    found, cursor = [], None
    while True:
        response = api.get(LIST, {**query, **({"cursor": cursor} if cursor else {})})
        found.append(ids(response))
        cursor = response.json()["nextCursor"]
        if cursor is None:
            return found
        meanwhile()


def flat(pages):
    return [key for page in pages for key in page]


def copies(pattern, count):
    """Copies of a delivery without its parts, each a second older."""
    same = {field.attname: getattr(pattern, field.attname) for field in Delivery._meta.concrete_fields}
    fresh = Delivery._meta.get_field("id").get_default
    return Delivery.objects.bulk_create(
        Delivery(
            **{**same, "id": fresh(), "route_id": fresh(), "created_at": pattern.created_at - timedelta(seconds=number)}
        )
        for number in range(1, count + 1)
    )
