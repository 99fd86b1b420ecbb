import base64

import pytest
from rest_framework.test import APIClient

from integration.models import ApiKey
from tests.integration.factories import key_of


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


def track(header):
    return APIClient().get("/api/integration/orders/tracking?type=document&value=1", headers={"Authorization": header})


class TestKey:
    @pytest.mark.parametrize(
        ("form", "code", "message"),
        [
            *(
                (form, "key_missing", "Chave ausente")
                for form in ("", "Basic", "Basic ção", "Basic x{}", "Basic {}\u00e9", "Basic{}", "{}", "Bearer {}")
            ),
            ("Basic {}x", "invalid_key", "Chave inválida"),
        ],
    )
    def test_is_needed_whole_and_after_its_scheme(self, seller, form, code, message):
        response = track(form.format(key_of(seller)))

        body = response.json()
        assert (response.status_code, body["success"], body["code"]) == (401, False, code)
        assert body["message"].startswith(message)
        assert response["WWW-Authenticate"] == 'Basic realm="rota"'
        assert ApiKey.objects.get().last_used_at is None

    def test_is_taken_bare_and_as_http_clients_build_it(self, seller):
        text = key_of(seller)

        for header in (f"Basic {text}", f"basic   {text}", basic(f"{text}:"), basic(f"anything:{text}")):
            assert track(header).status_code == 200

    def test_is_kept_as_a_digest_only(self, seller):
        text = key_of(seller)

        stored = ApiKey.objects.values().get()

        assert text.startswith("rota_key_")
        assert text not in str(stored)


class TestUnknownPath:
    def test_answers_in_the_shape_of_area_b(self, db, client):
        response = client.get("/api/integration/nothing")

        assert response.status_code == 404
        assert (response.json()["success"], response.json()["code"]) == (False, "no_such_path")
        assert response["X-Request-Id"]

    def test_of_a_wrong_method_does_too(self, api):
        response = api.put("/api/integration/orders")

        assert response.status_code == 405
        assert response.json() == {
            "success": False,
            "message": "Método não permitido",
            "code": "method_not_allowed",
        }


class TestUnexpectedException:
    def test_answers_in_the_shape_of_area_b(self, api, monkeypatch):
        monkeypatch.setattr("integration.api.viewsets.trackings.find", lambda *_args, **_options: 1 / 0)
        api.raise_request_exception = False

        response = api.get("/api/integration/orders/tracking?type=document&value=1")

        assert response.status_code == 500
        assert response.json()["success"] is False
        assert "pode ter tido efeito: consulte antes de repeti-la" in response.json()["message"]
        assert "nada foi alterado" not in response.json()["message"]
