from typing import Any

import pytest
from rest_framework import serializers

from common.serializers import BodySerializer
from common.views import PayloadWarning, header_value, is_strict, unknown_keys


class Inner(BodySerializer):
    latitude = serializers.FloatField(required=False)


class Outer(BodySerializer):
    orderPackages = serializers.ListField(required=False)  # noqa: N815  # as in the API
    deliveryMode = serializers.CharField(required=False)  # noqa: N815  # as in the API
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


class TestPreference:
    @pytest.mark.parametrize(
        "prefer",
        [
            "handling=strict",
            "HANDLING = Strict",
            "respond-async, handling=strict",
            'handling="strict"; x',
            "a=b,handling=strict,c",
        ],
    )
    def test_is_strict(self, prefer):
        assert is_strict(prefer)

    @pytest.mark.parametrize(
        "prefer", ["", "handling=lenient", "xhandling=strict", "handling=stricter", "," * 500 + "handling=strict"]
    )
    def test_is_not_strict(self, prefer):
        assert not is_strict(prefer)
