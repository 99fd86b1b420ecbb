"""The access log: method, path, status, address and caller, and no secret."""

import logging
import re

import pytest
from django.utils import timezone

from config.monitoring.logs import BEFORE_SECRETS
from config.monitoring.readiness import Result
from delivery.models import Token
from integration.accounts import keys
from tests.access.rights_by_url import ROUTES
from tests.factories import BY
from tests.integration.factories import SellerFactory


@pytest.fixture
def lines(caplog):
    """The access log so far, without the durations."""
    caplog.set_level(logging.INFO, logger="rota.access")
    return lambda: [
        re.sub(r" \d+\.\dms ", " ", record.getMessage()) for record in caplog.records if record.name == "rota.access"
    ]


def test_names_a_token_by_its_ends(api, token, lines):
    api.get("/api/info-delivery/x")

    assert lines() == [f"GET '/api/info-delivery/x' 404 127.0.0.1 {token.hint}"]
    assert token.clear_text not in lines()[0]


def test_has_no_actor_if_the_token_is_refused(client, token, lines):
    Token.objects.update(revoked_at="2026-01-01T00:00Z")

    client.get("/api/info-delivery/x", headers={"Authorization": f"Bearer {token.clear_text}"})

    assert lines() == ["GET '/api/info-delivery/x' 401 127.0.0.1 -"]


def test_names_a_person_who_is_refused(client, django_user_model, lines):
    client.force_login(django_user_model.objects.create_user("maria"))

    client.get("/panel/board/")

    assert lines() == ["GET '/panel/board/' 403 127.0.0.1 user maria"]


def test_has_no_query_which_may_name_a_receiver(api, lines):
    api.get("/api/integration/orders/tracking?type=document&value=11144477735")

    assert lines() == ["GET '/api/integration/orders/tracking' 401 127.0.0.1 -"]


def test_names_a_sellers_key_by_its_ends(client, db, lines):
    issued = keys.issue(seller=SellerFactory.create(), by=BY, at=timezone.now())

    client.get("/api/integration/orders/tracking?value=1", headers={"Authorization": f"Basic {issued.clear_text}"})

    assert lines() == [f"GET '/api/integration/orders/tracking' 422 127.0.0.1 {issued.key.hint}"]


@pytest.mark.parametrize("prefix", BEFORE_SECRETS)
def test_has_no_token_of_a_link_and_no_signature(client, db, lines, prefix):
    client.get(f"{prefix}abcdefghijklmnopqrstuv:1xXHuQ:G0Vs")

    assert [line.split("'")[1] for line in lines()] == [f"{prefix}…"]


def test_knows_every_path_with_a_secret():
    with_secret = [f"/{route}" for route in ROUTES if re.search(r"<(str|path):(token|key|signed|secret)>", route)]

    assert len(with_secret) == 6
    assert [route for route in with_secret if not route.startswith(BEFORE_SECRETS)] == []


def test_has_probes_that_fail_and_none_that_succeed(client, monkeypatch, lines):
    monkeypatch.setattr("config.monitoring.readiness.results", dict)
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]

    failed = {"database": Result(ok=False, why="", milliseconds=0)}
    monkeypatch.setattr("config.monitoring.readiness.results", lambda: failed)
    client.get("/readyz")

    assert lines() == ["GET '/readyz' 503 127.0.0.1 -"]
