"""OPTIONS and HEAD of every endpoint of both APIs, and the methods that `Allow` names."""

import pytest
from rest_framework.test import APIClient

from tests.endpoints import ENDPOINTS
from tests.factories import TokenFactory
from tests.integration.factories import key_of
from tests.panel.conftest import address

ALL_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
METHODS = {"get": {"GET", "HEAD", "OPTIONS"}, "post": {"POST", "OPTIONS"}}


def methods_with(route):
    """The methods that the path has."""
    return set().union(*(METHODS[each.method] for each in ENDPOINTS if each.route == route))


def methods_of(answer):
    return set(answer["Allow"].split(", "))


@pytest.mark.parametrize("route", sorted({each.route for each in ENDPOINTS}))
class TestAnEndpoint:
    def test_answers_options_with_its_methods_and_without_credentials(self, world, route, django_assert_num_queries):
        with django_assert_num_queries(0):
            answer = APIClient().options(address(route, world))

        assert (answer.status_code, answer.content) == (204, b"")
        assert methods_of(answer) == methods_with(route)
        assert "Content-Type" not in answer

    def test_refuses_every_method_that_it_does_not_name(self, world, with_url, route):
        token, key = TokenFactory.create(integrator=with_url.integrator), key_of(with_url.seller)
        header = f"Basic {key}" if "integration" in route else f"Bearer {token.clear_text}"
        client, path = APIClient(HTTP_AUTHORIZATION=header), address(route, world)

        statuses = {method: client.generic(method, path).status_code for method in ALL_METHODS}

        refused = {method for method, status in statuses.items() if status == 405}
        assert ALL_METHODS - refused == methods_with(route)
        assert methods_of(client.generic("PUT", path)) == methods_with(route)
        assert {401, 500}.isdisjoint(statuses.values())

    def test_answers_head_with_the_headers_of_get(self, world, with_url, route):
        token, key = TokenFactory.create(integrator=with_url.integrator), key_of(with_url.seller)
        header = f"Basic {key}" if "integration" in route else f"Bearer {token.clear_text}"
        client, path = APIClient(HTTP_AUTHORIZATION=header), address(route, world)

        get, head = client.get(path), client.head(path)

        assert head.content == b""
        assert (head.status_code, head["Content-Type"]) == (get.status_code, get["Content-Type"])
