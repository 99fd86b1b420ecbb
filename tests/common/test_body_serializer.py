"""Fields are made once for a class, and bodies that are validated at once do not meet in them."""

from typing import Any

from rest_framework import serializers

from common.api.serializers import BodySerializer


class Inner(BodySerializer):
    number = serializers.IntegerField()


class Outer(BodySerializer):
    inner = Inner()
    items: serializers.ListSerializer[Any] = serializers.ListSerializer(child=Inner(), required=False)


class Other(Outer):
    more = serializers.CharField()


class TestBodySerializer:
    def test_makes_the_fields_of_its_class_once(self):
        assert Outer(data={}).fields is Outer(data={}).fields
        assert Other().fields is not Outer().fields
        assert set(Other().fields) == {"inner", "items", "more"}

    def test_keeps_the_values_and_errors_of_each_body(self):
        good = Outer(data={"inner": {"number": 1}, "items": [{"number": 2}]})
        bad = Outer(data={"inner": {"number": "x"}, "items": [{}, {"number": 3}]})

        assert (good.is_valid(), bad.is_valid()) == (True, False)
        assert good.validated_data == {"inner": {"number": 1}, "items": [{"number": 2}]}
        assert bad.errors == {
            "inner": {"number": ["A valid integer is required."]},
            "items": {0: {"number": ["This field is required."]}},
        }
        assert good.errors == {}
