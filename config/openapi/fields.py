"""Schemas of serializer fields that drf-spectacular does not know, and names of components."""

from copy import deepcopy
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension

from delivery.api import fields as delivery_fields
from integration.api import fields as integration_fields

_NUMBER_TEXT = {"type": "string", "pattern": r"^\d{1,16}(\.\d{1,20})?$"}
_SCHEMAS: dict[type, dict[str, Any]] = {
    delivery_fields.MeasureField: {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000},
    delivery_fields.ZipcodeField: {"type": "string", "pattern": r"^\d{5}-?\d{3}$", "examples": ["01310-100"]},
    integration_fields.AmountField: {"anyOf": [{"type": "number", "minimum": 0}, _NUMBER_TEXT]},
    integration_fields.WeightField: {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000},
    integration_fields.WholeNumberField: {"type": "integer"},
    integration_fields.PostcodeField: {"type": "string", "pattern": r"^\d{8}$"},
    integration_fields.SideField: {"type": "string", "pattern": r"^\d{1,3}$"},
    integration_fields.DimensionsField: {
        "type": "string",
        "pattern": r"^\d{1,6}x\d{1,6}x\d{1,6},\d{1,6}(\.\d{1,6})?$",
        "description": "Three sides in centimetres, joined by `x`, then a comma and the weight in kilograms.",
    },
    integration_fields.IssueDateField: {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"},
    integration_fields.TextOrNumberField: {"type": ["string", "integer"], "maxLength": 255},
}


class FieldOfTable(OpenApiSerializerFieldExtension):
    """Base of the extensions that are made for each row of the table."""

    schema: dict[str, Any] = {}

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema = deepcopy(self.schema)  # drf-spectacular changes what it is given
        if getattr(self.target, "_smallest", None) is not None:
            schema["minimum"] = self.target._smallest  # noqa: SLF001  # of WholeNumberField
        return schema


for _class, _schema in _SCHEMAS.items():
    type(f"{_class.__name__}Extension", (FieldOfTable,), {"target_class": _class, "schema": _schema})


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "delivery.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of the panel: rota_live_… or rota_test_…"}


class KeyScheme(OpenApiAuthenticationExtension):
    target_class = "integration.api.authentication.KeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "basic",
            "description": "The API key as user name, without a password; or the bare key after `Basic`.",
        }
