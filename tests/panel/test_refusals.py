"""What went wrong, in the reader's language: pages that are not there, refused moves, broken endpoints."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from delivery.errors import DriverNotEligible, MoveRefused
from delivery.lifecycle import RouteStatus, State, Status, Trigger, move
from delivery.refusals import refusal
from tests.cases import in_turn

PORTUGUESE = {"accept-language": "pt-BR"}


def test_a_refusal_has_no_word_of_the_contract_in_portuguese():
    with pytest.raises(MoveRefused) as caught:
        move(State(Status.PENDING, RouteStatus.AVAILABLE, (Status.PENDING,)), Trigger.COLLECT)

    with translation.override("pt-br"):
        said = refusal(caught.value)

    assert said == "Não é possível coletar enquanto a rota está oferecida. Possível agora: aceitar, cancelar."


def test_a_name_that_is_a_word_of_the_contract_stays_a_name_elsewhere():
    with translation.override("pt-br"):
        assert refusal(DriverNotEligible("%(driver)s is not on duty.", driver="Ana, Lima")).startswith("Ana, Lima")


@in_turn(
    ("role", "path", "status", "said"),
    [
        ("member", "/panel/nowhere/", 404, "Página não encontrada"),
        ("member", "/panel/board/", 403, "Sem acesso a esta página"),
        ("anonymous", "/nowhere", 404, "Página não encontrada"),
        ("member", "/panel/?q=%00", 400, "Não foi possível ler esta requisição"),
        ("superuser", "/admin/delivery/delivery/?status=%00", 400, "Não foi possível ler esta requisição"),
    ],
)
def test_pages_that_refuse(as_role, role, path, status, said):
    response = as_role(role).get(path, headers=PORTUGUESE)

    assert response.status_code == status
    assert said in response.content.decode()


@pytest.mark.parametrize(
    ("role", "name", "reason"),
    [
        ("stranger", "tokens", " without access to the account"),
        ("stranger", "seller", " without access to the seller"),
        ("member", "board", ", which is for dispatchers"),
    ],
)
def test_a_request_without_the_right_is_logged(as_role, shop, url, caplog, role, name, reason):
    paths = {"board": reverse("panel:board"), "seller": reverse("panel:seller", args=[shop.seller.pk, "live"])}
    path = paths.get(name) or url(name)

    as_role(role).post(path)

    assert f"user {role} requested {path}{reason}" in caplog.text


def test_a_form_without_its_token(person):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person("superuser"))

    response = browser.post(reverse("account_logout"), headers=PORTUGUESE)

    assert response.status_code == 403
    assert "Este formulário expirou" in response.content.decode()
