"""The API that a path belongs to, and the JSON that clients get for paths that only resemble an endpoint's."""

import pytest

from common.api.views import HELP_LINK
from config.areas import Area, area_of
from tests.cases import in_turn

# Paths of requests as Django has them, percent-decoded once. None of them is an endpoint's.
NEAR_MISSES_OF_A = [
    "//api/x", "///api//x", "/API/x", "/Api/request-delivery", "/api//request-delivery",
    "/api/request-delivery/", "/api/request-delivery//", "/apix", "/api.json", "/api-docs", "/%61pi/x", "/api%2Fx",
    "/%2Fapi/x", "/api/./request-delivery", "/x/../api/y", "/api/integration/../x", "\\api\\x", "/api\\x",
    "/api;v=1/request-delivery",
]  # fmt: skip  # a list
INDEX = ["/api", "/api/"]
NEAR_MISSES_OF_B = [
    "/api/integration", "/api/integration/", "//api/integration/orders", "/api//integration/orders",
    "/API/Integration/orders", "/api/integration/orders/", "/api/integration//orders", "/api/integrationx",
    "/api/x/../integration/orders", "/api%2Fintegration%2Forders", "/api/integration\\orders",
]  # fmt: skip  # a list
PAGES = ["/", "/panel/api", "/x/api", "/ap", "/a/pi", "/api/../x", "/..", "//", "/admin/", "/%00", "*", ""]


UNKNOWN = "0190b5a0-7c3e-7d5a-9f00-000000000001"
MOVES = [
    "accept", "collect", "collect/{point}", "deliver/{point}", "expire", "fail/{point}", "offer", "position", "return",
]  # fmt: skip  # a list
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def test_the_area_of_a_path_is_by_how_it_begins():
    expected = {Area.A: [*INDEX, *NEAR_MISSES_OF_A], Area.B: NEAR_MISSES_OF_B, None: PAGES}

    assert {area: [path for path in paths if area_of(path) is area] for area, paths in expected.items()} == expected


def answers(client, paths, **headers):
    """The answer to each method at each path, given as by the server: the test client takes `//api` for a host."""
    for method in METHODS:
        for path in paths:
            yield method, path, client.generic(method, "/nowhere", PATH_INFO=path, **headers)


@pytest.mark.django_db
class TestANearMiss:
    def test_of_area_a_is_a_problem(self, client, settings):
        for method, path, answer in answers(
            client, NEAR_MISSES_OF_A, HTTP_ACCEPT="text/html", HTTP_ACCEPT_LANGUAGE="en"
        ):
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json"), (method, path)
            assert "Content-Language" not in answer
            assert answer["Link"] == HELP_LINK
            if method != "HEAD":
                problem = answer.json()
                assert problem["code"] == "no_such_path"
                assert f"{settings.SITE_URL}/docs/reference" in problem["detail"]

    def test_of_area_b_is_a_message(self, client, settings):
        for method, path, answer in answers(
            client, NEAR_MISSES_OF_B, HTTP_ACCEPT="text/html", HTTP_ACCEPT_LANGUAGE="en"
        ):
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/json"), (method, path)
            assert answer["Link"] == HELP_LINK
            if method != "HEAD":
                body = answer.json()
                assert [*body] == ["success", "message", "code"]
                assert (body["success"], body["code"]) == (False, "no_such_path")
                assert body["message"].startswith("Caminho não encontrado")
                assert body["message"].endswith(f" {settings.SITE_URL}/docs/reference mostra os que existem")

    @in_turn(
        ("path", "hint"),
        [
            ("/api/requestdelivery", "Did you mean /api/request-delivery?"),
            ("/api/v1/request-delivery", "Did you mean /api/request-delivery?"),
            ("/API/request-delivery/", "Did you mean /api/request-delivery?"),
            ("/api/info-delivery", "Did you mean /api/info-delivery/{deliveryId}?"),
            ("/api/orders", "Did you mean /api/integration/orders?"),
            (f"/api/sandbox/deliveries/{UNKNOWN}/deliver", "/api/sandbox/deliveries/{deliveryId}/deliver/{point}?"),
            (f"/api/sandbox/deliveries/{UNKNOWN}/accept/B", "/api/sandbox/deliveries/{deliveryId}/accept?"),
            (f"/api/sandbox/deliveries/{UNKNOWN}/pickup", f"Known ends of it: {', '.join(MOVES)}."),
            (f"/api/sandbox/deliveries/{UNKNOWN}", f"Known ends of it: {', '.join(MOVES)}."),
            (f"/api/deliveries/{UNKNOWN}/cancel", "Did you mean /api/cancel-delivery/{deliveryId}?"),
            (f"/api/deliveries/{UNKNOWN}/location", "Did you mean /api/location-delivery/{deliveryId}?"),
            ("/api/integration/v1/orders", "Você quis dizer /api/integration/orders?"),
            ("/api/v2/integration/orders", "Did you mean /api/integration/orders?"),
            ("/api/integration/orders/", "Você quis dizer /api/integration/orders?"),
            ("/api/integration/invoices/upload", "Finais conhecidos: marketplace;"),
            ("/api/integration/manifests/12/closed", "dizer /api/integration/manifests/{manifestId}/close?"),
            ("/api/integration/quote", "Você quis dizer /api/integration/shipping/quote?"),
        ],
    )
    def test_names_the_path_that_may_be_meant_or_the_ends_that_there_are(self, client, path, hint):
        answer = client.post(path, {}, content_type="application/json")

        assert answer.status_code == 404
        assert hint in (answer.json().get("detail") or answer.json()["message"])

    @in_turn(
        "path",
        [
            "/api/nothing", f"/api/{UNKNOWN}", "/api/" + "a/" * 50, "/api/" + "quotation" * 400, "/api/integration/x",
            "/api/foo/bar/baz",
        ],
    )  # fmt: skip  # a list
    def test_that_resembles_no_path_gets_no_hint(self, client, path):
        answer = client.get(path)

        assert answer.status_code == 404
        hints = ("Did you mean", "Known ends", "Você quis", "Finais")
        assert [hint for hint in hints if hint in answer.content.decode()] == []

    @pytest.mark.parametrize(
        ("path", "meant"),
        [
            ("/quotation-delivery", "Did you mean /api/quotation-delivery?"),
            (f"/info-delivery/{UNKNOWN}", "Did you mean /api/info-delivery/{deliveryId}?"),
            ("/integration/orders", "Você quis dizer /api/integration/orders?"),
            ("/shipping/quote", "Você quis dizer /api/integration/shipping/quote?"),
        ],
    )
    def test_without_its_beginning_is_a_page_for_browsers_and_names_the_path_to_programs(self, client, path, meant):
        page, answer = (client.post(path, headers={"Accept": accept}) for accept in ("text/html, */*", "*/*"))

        assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert answer.status_code == 404
        assert meant in (answer.json().get("detail") or answer.json()["message"])

    def test_is_not_a_page(self, client):
        for method, path, answer in answers(client, ["/nowhere", "/x/apinowhere"], HTTP_ACCEPT="application/json"):
            assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8"), (method, path)


class TestTheIndex:
    @pytest.mark.parametrize("path", INDEX)
    def test_links_where_to_read_on_without_credentials(self, client, path):
        answer = client.get(path, headers={"Authorization": "Bearer unknown"})

        assert answer.status_code == 200
        assert answer.json() == {
            "docs": "http://testserver/docs/",
            "reference": "http://testserver/docs/reference",
            "openapi": "http://testserver/api/openapi.json",
            "postman": "http://testserver/api/postman.json",
            "status": "http://testserver/readyz",
        }

    def test_has_no_other_methods(self, client):
        answer = client.post("/api/", {}, content_type="application/json")

        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.django_db
class TestPlainHttp:
    @pytest.mark.parametrize("path", ["//api/x", "/API/x", "/apix", "/api"])
    def test_at_a_near_miss_is_refused_and_not_redirected(self, client, settings, path):
        settings.SECURE_SSL_REDIRECT = True

        answer = client.get("/", PATH_INFO=path)

        assert (answer.status_code, answer.json()["code"]) == (403, "tls_required")
