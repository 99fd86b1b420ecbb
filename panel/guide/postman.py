"""The Postman collection (format 2.1) of an OpenAPI description: folders are tags, requests are operations."""

import json
import re
from typing import Any

# What makes a request work every time, by operation and name of a parameter or of a key of the body.
_ORDERS = {"orderIds": ["{{orderId}}"]}
_VALUES: dict[str, dict[str, Any]] = {
    "request-delivery": {"Idempotency-Key": "{{$guid}}"},
    "create-order": {"Idempotency-Key": "{{$guid}}", "orderId": "A-{{$timestamp}}"},
    "cancel-order": {"orderId": "{{orderId}}"},
    "track-orders": {"value": "{{orderId}}"},
    "print-labels": _ORDERS,
    "print-labels-pdf": _ORDERS,
    "print-labels-zpl": _ORDERS,
    "create-manifest": _ORDERS,
    "add-to-manifest": _ORDERS,
    "remove-from-manifest": _ORDERS,
    "link-invoice": {"orderId": "{{orderId}}"},
    "unlink-invoice": {"orderId": "{{orderId}}"},
    "sandbox-move-order": {"status": "delivery_failed"},  # which its reason is for
}
# Those of paths are set by the answers before, those with the name of a security scheme by the reader.
_VARIABLES = ("baseUrl", "token", "apiKey", "carrierKey", "deliveryId", "orderId", "manifestId", "accessKey")
_HANDED_ON = re.compile(r"\$(?P<source>request|response)\.body#/(?P<keys>(?:[A-Za-z]\w*/)*[A-Za-z]\w*)")
# Nothing else can be done with what is cancelled: an order is cancelled last of its folder, a delivery in a folder of
# its own after the moves of the sandbox.
_CANCELS_ORDER, _CANCELS_DELIVERY = "cancel-order", "cancel-delivery"


def collection(description: dict[str, Any], base_url: str) -> dict[str, Any]:
    """`base_url`: the value of the collection's variable `baseUrl`."""
    operations = [
        {**operation, "method": method.upper(), "path": path}
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    operations.sort(key=lambda operation: operation["operationId"] == _CANCELS_ORDER)
    schemas = description["components"]["schemas"]
    folders = []
    for tag in description["tags"]:
        of_tag = [each for each in operations if each["tags"] == [tag["name"]]]
        items = [_item(each, schemas) for each in of_tag if each["operationId"] != _CANCELS_DELIVERY]
        if items:  # not that of the webhooks
            folders.append({**tag, "item": items})
        if tag["name"] == "Sandbox":
            cancelling = [_item(each, schemas) for each in operations if each["operationId"] == _CANCELS_DELIVERY]
            folders.append({"name": "Cancel", "item": cancelling})
    return {
        "info": {
            "name": description["info"]["title"],
            "description": description["info"]["description"],
            "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
        },
        "item": folders,
        "variable": [{"key": name, "value": base_url if name == "baseUrl" else ""} for name in _VARIABLES],
    }


def _item(operation: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    status, answer = next((code, each) for code, each in operation["responses"].items() if code.startswith("2"))
    body = _body(operation)
    parameters: dict[str, list[dict[str, Any]]] = {"path": [], "query": [], "header": []}
    for each in operation.get("parameters", ()):
        parameters[each["in"]].append(_parameter(operation["operationId"], each, schemas))
    if body.get("mode") == "raw":  # with a form Postman sends its own
        parameters["header"].append({"key": "Content-Type", "value": "application/json"})
    parameters["header"].append({"key": "Accept", "value": next(iter(answer["content"]))})
    return {
        "name": operation["summary"],
        "request": {
            "description": operation["description"],
            "method": operation["method"],
            "url": {
                "host": ["{{baseUrl}}"],
                "path": re.sub(r"\{(\w+)\}", r":\1", operation["path"]).strip("/").split("/"),
                "query": parameters["query"],
                "variable": parameters["path"],
            },
            "header": parameters["header"],
            "body": body,
            "auth": _credentials(operation["security"][0]),
        },
        "event": [{"listen": "test", "script": {"type": "text/javascript", "exec": _script(status, answer)}}],
    }


def _parameter(operation_id: str, parameter: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Switched off unless it has to be sent."""
    name, chosen, written = parameter["name"], _VALUES.get(operation_id, {}), parameter["schema"]
    schema = schemas[written["$ref"].rpartition("/")[2]] if "$ref" in written else written
    value = parameter.get("example", schema.get("default", schema.get("enum", [""])[0]))
    if parameter["in"] == "path" and name in _VARIABLES:
        value = f"{{{{{name}}}}}"
    description = parameter["description"]
    if "enum" in schema:
        description += f" One of {', '.join(schema['enum'])}."
    return {
        "key": name,
        "value": str(chosen.get(name, value)),
        "description": description,
        "disabled": not parameter.get("required") and name not in chosen,
    }


def _body(operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    if form := content.get("multipart/form-data"):
        fields = form["schema"]["properties"].items()
        return {
            "mode": "formdata",
            "formdata": [{"key": key, "type": "file", "description": field["description"]} for key, field in fields],
        }
    if not content:
        return {}
    [described] = content["application/json"].get("examples", {"none": {"value": {}}}).values()
    chosen = _VALUES.get(operation["operationId"], {})
    example = {key: chosen.get(key, value) for key, value in described["value"].items()}
    raw = json.dumps(example, ensure_ascii=False, indent=2)
    return {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}


def _credentials(security: dict[str, Any]) -> dict[str, Any]:
    if not security:
        return {"type": "noauth"}
    [scheme] = security
    if scheme == "token":
        return {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]}
    basic = [{"key": "username", "value": f"{{{{{scheme}}}}}"}, {"key": "password", "value": ""}]
    return {"type": "basic", "basic": basic}


def _script(status: str, answer: dict[str, Any]) -> list[str]:
    """What Postman runs after an answer: it checks the status and keeps what the links of the answer hand on."""
    handed_on = {
        (name, match["source"], match["keys"].replace("/", "."))
        for link in answer.get("links", {}).values()
        for name, expression in link.get("parameters", {}).items()
        if (match := _HANDED_ON.fullmatch(expression))
    }
    bodies = {"request": "JSON.parse(pm.request.body.raw)", "response": "pm.response.json()"}
    return [
        f'pm.test("answers {status}", () => pm.response.to.have.status({status}));',
        *(
            f'if (pm.response.code === {status}) pm.collectionVariables.set("{name}", {bodies[source]}.{keys});'
            for name, source, keys in sorted(handed_on)
        ),
    ]
