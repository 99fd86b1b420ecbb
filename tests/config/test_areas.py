"""The API that a path belongs to, and the JSON that clients get for paths that only resemble an endpoint's."""

import pytest

from config.areas import Area, area_of

# Paths of requests as Django has them, percent-decoded once. None of them is an endpoint's.
NEAR_MISSES_OF_A = [
    "/api", "/api/", "//api/x", "///api//x", "/API/x", "/Api/request-delivery", "/api//request-delivery",
    "/api/request-delivery/", "/api/request-delivery//", "/apix", "/api.json", "/api-docs", "/%61pi/x", "/api%2Fx",
    "/%2Fapi/x", "/api/./request-delivery", "/x/../api/y", "/api/integration/../x", "\\api\\x", "/api\\x",
    "/api;v=1/request-delivery",
]  # fmt: skip  # a list
NEAR_MISSES_OF_B = [
    "/api/integration", "/api/integration/", "//api/integration/orders", "/api//integration/orders",
    "/API/Integration/orders", "/api/integration/orders/", "/api/integration//orders", "/api/integrationx",
    "/api/x/../integration/orders", "/api%2Fintegration%2Forders", "/api/integration\\orders",
]  # fmt: skip  # a list
PAGES = ["/", "/panel/api", "/x/api", "/ap", "/a/pi", "/api/../x", "/..", "//", "/admin/", "/%00", "*", ""]


class TestAreaOf:
    @pytest.mark.parametrize("path", NEAR_MISSES_OF_A)
    def test_is_a_for_paths_that_begin_with_api(self, path):
        assert area_of(path) is Area.A

    @pytest.mark.parametrize("path", NEAR_MISSES_OF_B)
    def test_is_b_for_paths_that_begin_with_api_integration(self, path):
        assert area_of(path) is Area.B

    @pytest.mark.parametrize("path", PAGES)
    def test_is_none_for_pages(self, path):
        assert area_of(path) is None


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.django_db
class TestANearMiss:
    """The test client takes `//api` for a host, so the path is given as the server gives it."""

    @pytest.mark.parametrize("path", NEAR_MISSES_OF_A)
    def test_of_area_a_is_a_problem(self, client, method, path):
        answer = client.generic(method, "/", PATH_INFO=path, HTTP_ACCEPT="text/html", HTTP_ACCEPT_LANGUAGE="en")

        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
        assert "Content-Language" not in answer
        if method != "HEAD":
            assert answer.json()["code"] == "no_such_path"

    @pytest.mark.parametrize("path", NEAR_MISSES_OF_B)
    def test_of_area_b_is_a_message(self, client, method, path):
        answer = client.generic(method, "/", PATH_INFO=path, HTTP_ACCEPT="text/html", HTTP_ACCEPT_LANGUAGE="en")

        assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
        if method != "HEAD":
            assert answer.json() == {
                "success": False,
                "message": "Caminho não encontrado",
                "code": "no_such_path",
            }

    @pytest.mark.parametrize("path", ["/", "/x/api"])
    def test_is_not_a_page(self, client, method, path):
        answer = client.generic(method, "/nowhere", PATH_INFO=f"{path}nowhere", HTTP_ACCEPT="application/json")

        assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")


@pytest.mark.django_db
class TestErrorsBeforeTheView:
    """Every error that `config.errors` makes, on paths that only resemble the API's."""

    @pytest.mark.parametrize(
        ("path", "key"), [("//api/x", "code"), ("/API", "code"), ("/api//integration/orders", "success")]
    )
    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            ({"HTTP_HOST": "elsewhere.example"}, 400),
            ({"rota.unread_body": "late"}, 408),
            ({"rota.unread_body": "busy"}, 503),
        ],
    )
    def test_are_json(self, client, path, key, sent, status):
        answer = client.post("/", PATH_INFO=path, **sent)

        assert answer.status_code == status
        assert key in answer.json()

    @pytest.mark.parametrize("path", ["//api/x", "/API/x", "/apix", "/api"])
    def test_a_call_over_plain_http_is_refused_and_not_redirected(self, client, settings, path):
        settings.SECURE_SSL_REDIRECT = True

        answer = client.get("/", PATH_INFO=path)

        assert (answer.status_code, answer.json()["code"]) == (403, "tls_required")
