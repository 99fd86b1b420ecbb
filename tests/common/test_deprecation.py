"""The headers that announce the end of an endpoint."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import resolve
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ViewSet

from common.views import Deprecation
from config.openapi import files
from delivery.api.views import IntegratorView
from integration.api.viewsets import SellerViewSet

DEPRECATION = Deprecation(
    since=datetime(2026, 11, 1, tzinfo=UTC), sunset=datetime(2027, 11, 1, tzinfo=UTC), link="/docs/versioning"
)
HEADERS = {
    "Deprecation": "@1793491200",
    "Sunset": "Mon, 01 Nov 2027 00:00:00 GMT",
    "Link": '</docs/versioning>; rel="deprecation"; type="text/html"',
}


WITHOUT_CREDENTIALS: dict[str, list[type]] = {"authentication_classes": [], "permission_classes": []}


def answer(base, *, method="get", **attributes):
    """The answer to a call of a view with this base and these attributes."""
    bases = (base,) if issubclass(base, ViewSet) else (base, ViewSet)
    view: Any = type("EndingViewSet", bases, {"list": lambda self, request: Response({})})
    return view.as_view({"get": "list"}, **attributes)(getattr(APIRequestFactory(), method)("/api/ending"))


@pytest.mark.parametrize("base", [IntegratorView, SellerViewSet])
class TestAnswer:
    @pytest.mark.parametrize(
        ("method", "attributes", "status"),
        [("get", WITHOUT_CREDENTIALS, 200), ("put", WITHOUT_CREDENTIALS, 405), ("get", {}, 401)],
    )
    def test_announces_the_end_of_its_endpoint(self, base, method, attributes, status):
        response = answer(base, method=method, deprecation=DEPRECATION, **attributes)

        assert response.status_code == status
        assert HEADERS.items() <= dict(response.items()).items()

    def test_has_none_of_the_headers_without_an_announcement(self, base):
        response = answer(base, **WITHOUT_CREDENTIALS)

        assert response.status_code == 200
        assert not HEADERS.keys() & dict(response.items()).keys()


class TestDeprecation:
    def test_is_refused_if_the_endpoint_would_end_within_a_year(self):
        with pytest.raises(ValueError, match="365 days"):
            Deprecation(since=DEPRECATION.since, sunset=datetime(2027, 10, 31, tzinfo=UTC), link="/docs/versioning")

    def test_marks_its_operation_in_the_openapi_description(self, monkeypatch):
        endpoint: Any = resolve("/api/integration/shipping/quote").func
        monkeypatch.setitem(endpoint.initkwargs, "deprecation", DEPRECATION)

        paths = files.describe()["paths"]

        assert [path for path, operations in paths.items() for each in operations.values() if "deprecated" in each] == [
            "/api/integration/shipping/quote"
        ]
        assert paths["/api/integration/shipping/quote"]["post"]["deprecated"] is True
