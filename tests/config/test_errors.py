"""Errors outside the endpoints, in the format of the requested area."""

import pytest

from delivery.models import Delivery
from tests.cases import in_turn
from tests.factories import payload


class TestUnreadBody:
    @pytest.mark.parametrize(
        ("reason", "status", "code", "retry_after"), [("late", 408, "late_body", None), ("busy", 503, "busy", "1")]
    )
    def test_is_a_problem_in_area_a(self, api, reason, status, code, retry_after):
        answer = api.post("/api/request-delivery", payload(stops=1), format="json", **{"rota.unread_body": reason})

        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
        assert (answer.json()["code"], answer.json()["retryable"]) == (code, True)
        assert answer["X-Request-Id"]
        assert answer.get("Retry-After") == retry_after
        assert Delivery.objects.count() == 0

    @pytest.mark.parametrize(("reason", "status"), [("late", 408), ("busy", 503)])
    def test_is_a_message_in_area_b(self, client, reason, status):
        answer = client.post("/api/integration/orders", {}, **{"rota.unread_body": reason})

        assert answer.status_code == status
        assert answer.json()["success"] is False
        assert "nada foi alterado" in answer.json()["message"]

    @pytest.mark.parametrize(("reason", "status"), [("late", 408), ("busy", 503)])
    def test_is_a_page_elsewhere(self, client, db, reason, status):
        answer = client.post("/account/login/", {}, **{"rota.unread_body": reason})

        assert (answer.status_code, answer["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert b"<h1>" in answer.content


class TestHeavyCall:
    """Whose process refused it, or was lost."""

    @pytest.mark.parametrize(
        ("outcome", "status", "code"), [("running", 429, "heavy_call_running"), ("lost", 503, "unavailable")]
    )
    def test_is_told_in_area_b(self, client, outcome, status, code):
        answer = client.post("/api/integration/labels", {}, **{"rota.heavy_call": outcome})

        assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (status, code, "5")

    @pytest.mark.parametrize(("outcome", "status"), [("running", 429), ("lost", 503)])
    def test_is_a_page_elsewhere(self, client, db, outcome, status):
        answer = client.get("/panel/reports/", **{"rota.heavy_call": outcome})

        assert (answer.status_code, answer["Retry-After"]) == (status, "5")
        assert b"<h1>" in answer.content

    @pytest.mark.parametrize(("method", "refresh"), [("get", "5"), ("post", None)])
    def test_has_a_page_try_again_by_itself_but_no_form(self, client, db, method, refresh):
        answer = getattr(client, method)("/panel/reports/", **{"rota.heavy_call": "running"})

        assert answer.get("Refresh") == refresh
        assert (b"by itself" in answer.content) is bool(refresh)


class TestBrokenForms:
    """The error page itself must not fail on the body that caused it, whatever cookies come along."""

    @in_turn("path", ["/nothing", "/panel/x", "/account/login/", "/admin/"])
    @in_turn(
        "content_type",
        [
            "application/x-www-form-urlencoded; charset=utf-7",
            "application/x-www-form-urlencoded; charset=latin-1",
            "multipart/form-data",
            "multipart/form-data; boundary=",
        ],
    )
    def test_are_answered_in_html(self, client, db, path, content_type):
        client.raise_request_exception = False
        client.cookies["csrftoken"] = "a" * 32

        answer = client.generic("POST", path, b"a=b", content_type=content_type)

        assert answer.status_code in {302, 400, 403, 404}
        assert answer["X-Request-Id"]
        assert answer["X-Content-Type-Options"] == "nosniff"

    @in_turn("url", ["http://[", "//[", "https://[111]/", "https://℀.com/", "http://evil.example/"])
    def test_an_address_to_go_on_to_that_is_none(self, client, db, url):
        answer = client.get("/account/login/", {"next": url})

        assert answer.status_code == 200


class TestBadHost:
    def test_leaves_no_traceback_in_the_log(self, client, caplog):
        answer = client.get("/account/login/", HTTP_HOST="elsewhere.example")

        assert answer.status_code == 400
        assert [record for record in caplog.records if record.exc_info] == []

    @pytest.mark.parametrize(
        ("path", "key"), [("/api/integration/orders", "success"), ("/api/request-delivery", "code")]
    )
    @pytest.mark.parametrize("host", ["elsewhere.example", ""])
    def test_is_answered_in_the_form_of_the_area(self, client, path, key, host):
        answer = client.post(path, {}, HTTP_HOST=host)

        assert answer.status_code == 400
        assert key in answer.json()
