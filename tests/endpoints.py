"""The endpoints of both APIs, from the URLs and what view sets declare, so that tests of all of them need no list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.plumbing import force_instance
from rest_framework.serializers import Serializer

from config.management.commands import openapi


@dataclass(frozen=True)
class Endpoint:
    """One method of one path.

    `route`: as the URL resolver has it, without the slash at the beginning. `body`: the example of the JSON body, and
    `serializer` what validates it; None without such a body. `query`: examples of the required parameters. `status`:
    of a successful answer.
    """

    method: str
    route: str
    serializer: Serializer[Any] | None
    body: Any
    query: dict[str, str]
    status: int

    @property
    def is_of_sellers(self) -> bool:
        return self.route.startswith("api/integration/")

    @property
    def is_of_carriers(self) -> bool:
        return self.route.startswith("api/integration/carrier/")

    @property
    def path(self) -> str:
        """With {} in the place of an id, B as the point, and a status of an order."""
        route = self.route.replace("<str:point>", "B").replace("<str:status>", "delivery_failed")
        return "/" + re.sub(r"<\w+:\w+>", "{}", route)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def _first_example(described: dict[str, Any]) -> Any:
    return next(iter(described.get("examples", {"": {"value": None}}).values()))["value"]


def _described() -> Iterator[Endpoint]:
    paths = openapi.describe()["paths"]
    operations = {
        (method, re.sub(r"{\w+}", "{}", path.removeprefix("/"))): operation
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
    generator = SchemaGenerator()
    for _path, route, method, callback in EndpointEnumerator().get_api_endpoints():
        view = generator.create_view(callback, method)
        operation = operations[method.lower(), re.sub(r"<[^>]+>", "{}", route)]
        if {} in operation["security"]:
            continue
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        yield Endpoint(
            method=method.lower(),
            route=route,
            serializer=force_instance(view.schema.get_request_serializer()) if body else None,
            body=_first_example(body) if body else None,
            query={
                parameter["name"]: parameter["example"]
                for parameter in operation.get("parameters", [])
                if parameter["in"] == "query" and parameter.get("required")
            },
            status=int(min(operation["responses"])),
        )


# Those that need a token or key.
ENDPOINTS = list(_described())
