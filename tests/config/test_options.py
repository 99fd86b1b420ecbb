"""OPTIONS and HEAD of every endpoint of both APIs, and the methods that `Allow` names."""

import pytest
from rest_framework.test import APIClient

from tests.endpoints import ENDPOINTS
from tests.factories import TokenFactory
from tests.integration.factories import key_of, make_carrier
from tests.panel.conftest import address

ALL_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
METHODS = {
    "get": {"GET", "HEAD", "OPTIONS"}, "post": {"POST", "OPTIONS"}, "put": {"PUT", "OPTIONS"},
    "patch": {"PATCH", "OPTIONS"}, "delete": {"DELETE", "OPTIONS"},
}  # fmt: skip  # a table


def methods_with(route):
    """The methods that the path has."""
    return set().union(*(METHODS[each.method] for each in ENDPOINTS if each.route == route))


def methods_of(answer):
    return set(answer["Allow"].split(", "))


ROUTES = sorted({each.route for each in ENDPOINTS})


@pytest.fixture
def client_of(with_url):
    """A client with the credentials that an endpoint takes."""
    token, key = TokenFactory.create(integrator=with_url.integrator), key_of(with_url.seller)
    clients = {
        part: APIClient(HTTP_AUTHORIZATION=header)
        for part, header in (
            ("integration/carrier", f"Basic {make_carrier()[1]}"),
            ("integration", f"Basic {key}"),
            ("", f"Bearer {token.clear_text}"),
        )
    }
    return lambda route: next(client for part, client in clients.items() if part in route)


class TestEveryEndpoint:
    def test_answers_options_with_its_methods_and_without_credentials(self, world, django_assert_num_queries):
        paths = {route: address(route, world) for route in ROUTES}

        with django_assert_num_queries(0):
            answers = {route: APIClient().options(path) for route, path in paths.items()}

        found = {
            route: (answer.status_code, answer.content, methods_of(answer), "Content-Type" in answer)
            for route, answer in answers.items()
        }
        assert found == {route: (204, b"", methods_with(route), False) for route in ROUTES}

    def test_refuses_every_method_that_it_does_not_name(self, world, client_of):
        for route in ROUTES:
            client, path = client_of(route), address(route, world)

            answers = {method: client.generic(method, path) for method in sorted(ALL_METHODS)}

            statuses = {method: answer.status_code for method, answer in answers.items()}
            refused = {method for method, status in statuses.items() if status == 405}
            assert ALL_METHODS - refused == methods_with(route), route
            assert methods_of(answers["TRACE"]) == methods_with(route), route
            assert {401, 500}.isdisjoint(statuses.values()), route

    def test_answers_head_with_the_headers_of_get(self, world, client_of):
        for route in ROUTES:
            client, path = client_of(route), address(route, world)

            get, head = client.get(path), client.head(path)

            assert head.content == b"", route
            assert (head.status_code, head["Content-Type"]) == (get.status_code, get["Content-Type"]), route
