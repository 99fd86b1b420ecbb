"""Warnings about bodies, and the headers that announce the end of an endpoint."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import resolve
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ViewSet

from common.api.serializers import BodySerializer
from common.api.views import Deprecation, PayloadWarning, header_value, is_strict, unknown_keys
from config.management.commands import openapi
from delivery.api.views import IntegratorView
from integration.api.views import SellerViewSet
from tests.cases import in_turn


class Inner(BodySerializer):
    latitude = serializers.FloatField(required=False)


class Outer(BodySerializer):
    orderPackages = serializers.ListField(required=False)  # as in the API
    deliveryMode = serializers.CharField(required=False)  # as in the API
    place = Inner(required=False)
    places: serializers.ListSerializer[Any] = serializers.ListSerializer(child=Inner(), required=False)


def unknown(body):
    return unknown_keys(Outer(data=body), body)


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("body", "path", "nearest"),
        [
            ({"packages": []}, ("packages",), "orderPackages"),
            ({"delivery_mode": "x"}, ("delivery_mode",), "deliveryMode"),
            ({"DELIVERYMODE": "x"}, ("DELIVERYMODE",), "deliveryMode"),
            ({"zzz": 1}, ("zzz",), ""),
            ({"place": {"latitud": 1}}, ("place", "latitud"), "latitude"),
            ({"places": [{}, {"lng": 1}]}, ("places", 1, "lng"), ""),
            ({"place": {"latitude": {"deep": 1}}, "x": 1}, ("x",), ""),
            ({"packages".ljust(64, "_"): 1}, ("packages".ljust(64, "_"),), "orderPackages"),
            ({"packages".ljust(65, "_"): 1}, ("packages".ljust(65, "_"),), ""),
        ],
    )
    def test_are_named_with_the_nearest_known_one(self, body, path, nearest):
        assert unknown(body) == [PayloadWarning(path, "unknown_key", nearest)]

    @pytest.mark.parametrize(
        "body", [{}, {"place": {"latitude": 1}}, {"place": None}, {"place": [1]}, {"places": {"a": 1}}]
    )
    def test_are_empty_if_every_key_is_known(self, body):
        assert unknown(body) == []

    def test_are_named_up_to_twenty(self):
        assert len(unknown({f"key{number}": 1 for number in range(50)})) == 20


class TestHeader:
    def test_is_a_list_of_pointers_with_parameters(self):
        warnings = [PayloadWarning(("a", 0, "b"), "unknown_key", "c"), PayloadWarning(("d",), "missing_weight")]

        assert header_value(warnings) == '"#/a/0/b";code=unknown_key;nearest="c", "#/d";code=missing_weight'

    @pytest.mark.parametrize(
        ("key", "pointer"),
        [
            ("ação", "#/a%C3%A7%C3%A3o"), ('a"b\\c', "#/a%22b%5Cc"), ("a/b~c", "#/a~1b~0c"), ("a\r\nb", "#/a%0D%0Ab"),
            ("x" * 200, "#/" + "x" * 100), ("\ud800", "#/%3F"), ("", "#/"),
        ],
    )  # fmt: skip  # a list of cases
    def test_is_ascii_whatever_the_key(self, key, pointer):
        assert PayloadWarning((key,), "unknown_key").pointer == pointer

    def test_has_the_values_of_a_warning_in_printable_ascii(self):
        warning = PayloadWarning(("nfe",), "unmatched_reference", values=(("about", 'A 1\\"%ç\n\udc80'),))

        assert header_value([warning]) == '"#/nfe";code=unmatched_reference;about="A 1%5C%22%25%C3%A7%0A?"'


class TestPreference:
    STRICT = (
        "handling=strict", "HANDLING = Strict", "respond-async, handling=strict", 'handling="strict"; x',
        "a=b,handling=strict,c",
    )  # fmt: skip  # a list
    OTHER = ("", "handling=lenient", "xhandling=strict", "handling=stricter", "," * 500 + "handling=strict")

    @in_turn("prefer", [*STRICT, *OTHER])
    def test_is_strict_if_the_header_says_so(self, prefer):
        assert is_strict(prefer) == (prefer in self.STRICT)


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
        headers = dict(response.items())
        announced, *help_links = headers["Link"].split(", ")
        assert HEADERS.items() <= {**headers, "Link": announced}.items()
        assert [link.partition("; ")[2] for link in help_links] == ['rel="help"; type="text/html"'] * (status >= 400)

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

        paths = openapi.describe()["paths"]

        assert sorted(path for path, each in paths.items() if any("deprecated" in of for of in each.values())) == [
            "/api/integration/labels",
            "/api/integration/orders/{orderId}/label",
            "/api/integration/shipping/quote",
        ]
        assert paths["/api/integration/shipping/quote"]["post"]["deprecated"] is True


@pytest.mark.parametrize(("length", "named"), [(10, 20), (90, 6), (5000, 1)])
def test_the_header_of_warnings_is_as_long_as_proxies_take_and_names_one_at_least(length, named):
    warning = PayloadWarning(("dropoffs",), "unknown_key", values=(("about", "\u00e9" * length),))

    assert header_value([warning] * 30).count("code=unknown_key") == named
