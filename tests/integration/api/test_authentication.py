import base64

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from integration.actions import keys
from integration.models import ApiKey, Order
from tests.endpoints import ENDPOINTS
from tests.integration.factories import key_of, order_body

OF_SELLERS = [(each.method, each.path.format("A-1")) for each in ENDPOINTS if each.is_of_sellers]


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


def track(header):
    return APIClient().get("/api/integration/orders/tracking?type=document&value=1", headers={"Authorization": header})


class TestKey:
    @pytest.mark.parametrize(
        ("header", "code", "message"),
        [
            (None, "key_missing", "Chave ausente"),
            ("Basic", "key_missing", "Chave ausente"),
            ("Basic ção", "key_missing", "Chave ausente"),
            ("Bearer rota_key_x", "key_missing", "Chave ausente"),
            ("Basic rota_key_wrong", "invalid_key", "Chave inválida"),
        ],
        ids=["none", "empty", "non-ascii", "bearer", "unknown"],
    )
    def test_is_required_by_every_endpoint(self, db, header, code, message):
        headers = {"Authorization": header} if header else {}

        for method, path in OF_SELLERS:
            response = getattr(APIClient(), method)(path, headers=headers)

            body = response.json()
            assert (response.status_code, body["success"], body["code"]) == (401, False, code), path
            assert body["message"].startswith(message)
            assert response["WWW-Authenticate"].startswith("Basic")

    @pytest.mark.parametrize("form", ["Basic {}", "basic   {}"])
    def test_is_accepted_without_a_scheme(self, seller, form):
        assert track(form.format(key_of(seller))).status_code == 200

    @pytest.mark.parametrize("form", ["{}:", "anything:{}"])
    def test_is_taken_as_http_clients_build_it(self, seller, form):
        assert track(basic(form.format(key_of(seller)))).status_code == 200

    def test_is_refused_after_its_revocation(self, seller):
        text = key_of(seller)
        keys.revoke(key=ApiKey.objects.get(), by="staff", at=timezone.now())

        assert track(f"Basic {text}").status_code == 401

    def test_is_checked_before_the_body(self, db):
        response = APIClient().post("/api/integration/orders", order_body(), format="json")

        assert response.status_code == 401
        assert not Order.objects.exists()

    def test_is_kept_as_a_digest_only(self, seller):
        text = key_of(seller)

        stored = ApiKey.objects.values().get()

        assert text.startswith("rota_key_")
        assert text not in str(stored)


class TestUnknownPath:
    def test_answers_in_the_shape_of_area_b(self, db, client):
        response = client.get("/api/integration/nothing")

        assert response.status_code == 404
        assert response.json() == {
            "success": False,
            "message": "Caminho não encontrado",
            "code": "no_such_path",
        }
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
