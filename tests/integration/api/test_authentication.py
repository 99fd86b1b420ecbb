import base64

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from integration.accounts import keys, sellers
from integration.models import ApiKey
from tests.cases import in_turn
from tests.factories import BY
from tests.integration.factories import key_of


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


def track(header):
    return APIClient().get("/api/integration/orders/tracking?type=document&value=1", headers={"Authorization": header})


class TestKey:
    @in_turn(
        ("form", "code", "message"),
        [
            *(
                (form, "key_missing", "Chave ausente")
                for form in ("", "Basic", "Basic ção", "Basic x{}", "Basic {}\u00e9", "Basic{}", "{}")
            ),
            ("Bearer {}", "key_missing", "Envie a chave com o esquema Basic"),
            *(
                (form, "key_missing", "Isto é um token da entrega imediata")
                for form in ("Bearer rota_live_abc", "Basic rota_test_abc", basic("rota_test_abc:"))
            ),
            ("Basic {}x", "invalid_key", "Chave desconhecida"),
        ],
    )
    def test_is_needed_whole_and_after_its_scheme(self, seller, form, code, message):
        response = track(form.format(key_of(seller)))

        body = response.json()
        assert (response.status_code, body["success"], body["code"]) == (401, False, code)
        assert body["message"].startswith(message)
        assert response["WWW-Authenticate"] == 'Basic realm="rota"'
        assert ApiKey.objects.get().last_used_at is None

    def test_is_told_that_it_was_revoked_to_who_has_all_of_it(self, seller):
        text = key_of(seller)
        keys.revoke(key=ApiKey.objects.get(), by=BY, at=timezone.now())

        messages = [track(f"Basic {sent}").json()["message"] for sent in (text, text[:-1])]

        assert [message.partition(".")[0] for message in messages] == ["Esta chave foi revogada", "Chave desconhecida"]

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

    @pytest.mark.parametrize("is_suspended", [True, False], ids=["of a suspended seller", "invalid"])
    def test_does_so_whatever_the_key(self, seller, is_suspended):
        text = key_of(seller)
        if is_suspended:
            sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())
        else:
            keys.revoke(key=ApiKey.objects.get(), by=BY, at=timezone.now())
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {text}")

        answers = [client.get(f"/api/integration/{path}") for path in ("nothing", "orders")]

        assert [answers[0].status_code, answers[0].json()["code"]] == [404, "no_such_path"]
        assert answers[1].status_code in {401, 403}

    def test_of_a_wrong_method_does_too(self, api):
        response = api.put("/api/integration/orders")

        assert response.status_code == 405
        assert response.json() == {
            "success": False,
            "message": "Método não permitido; permitidos: GET, POST, HEAD, OPTIONS",
            "code": "method_not_allowed",
        }


class TestUnexpectedException:
    def test_answers_in_the_shape_of_area_b(self, api, monkeypatch):
        monkeypatch.setattr("integration.api.viewsets.tracking.find", lambda *_args, **_options: 1 / 0)
        api.raise_request_exception = False

        response = api.get("/api/integration/orders/tracking?type=document&value=1")

        assert response.status_code == 500
        assert response.json()["success"] is False
        assert "pode ter tido efeito" not in response.json()["message"]  # it changes nothing
