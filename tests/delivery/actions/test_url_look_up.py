"""Saving a webhook URL while the resolver does not answer, at every place where one can be saved."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common.webhooks import address_guard, endpoints
from common.webhooks.address_guard import LookUpsBusy, WebhookHostUnresolved
from common.workers.deadlines import BoundedCalls
from delivery.alerts import actions as alerts
from delivery.models import AuditEntry, Integrator, WebhookEndpoint
from tests.factories import BY, IntegratorFactory

HANGS = "https://hangs.example/hook"


class HungResolver:
    """Stands in for the C library's resolver. `asked` is set once it is called; it returns after `release`."""

    def __init__(self):
        self.names, self.asked, self.release = [], threading.Event(), threading.Event()

    def getaddrinfo(self, host, *args, **kwargs):
        self.names.append(host)
        self.asked.set()
        self.release.wait(30)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


@pytest.fixture
def resolver(monkeypatch):
    hung = HungResolver()
    monkeypatch.setattr(socket, "getaddrinfo", hung.getaddrinfo)
    monkeypatch.setattr(address_guard, "_calls", BoundedCalls(most=3, seconds=3))
    yield hung
    hung.release.set()


@pytest.fixture
def endpoint(db):
    return IntegratorFactory.create().endpoints.get(environment="live")


@pytest.fixture
def browser(endpoint):
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def panel(browser, endpoint):
    def save():
        response = browser.post(reverse("panel:webhook", args=[endpoint.integrator_id, "live"]), {"url": HANGS})
        assert response.status_code == 422
        return str(response.context["form"].errors["url"])

    return save


@pytest.fixture
def admin(browser, endpoint):
    def save():
        page = reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk])
        response = browser.post(page, {"url": HANGS, "enabled": "on"})
        assert response.status_code == 200
        return str(response.context["adminform"].form.errors["url"])

    return save


@pytest.fixture
def command(endpoint):
    def save():
        out = StringIO()
        with pytest.raises(SystemExit) as end:
            call_command("create_integrator", "Loja", "--webhook-url", HANGS, stdout=out)
        assert end.value.code == 1
        answer = json.loads(out.getvalue())
        assert answer["error"] == "webhook_host_unresolved"
        return answer["detail"]

    return save


@pytest.fixture(params=["panel", "admin", "command"])
def save(request):
    return request.getfixturevalue(request.param)


def in_background(call):
    """Run `call` in a thread that closes its database connection."""

    def run():
        try:
            return call()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future


def open_transactions():
    """How many other connections to this database are in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
        )
        return cursor.fetchone()[0]


class TestSlowLookUp:
    @pytest.mark.django_db(transaction=True)
    def test_is_waited_for_outside_any_transaction(self, save, endpoint, resolver):
        saving = in_background(save)
        assert resolver.asked.wait(10)

        assert open_transactions() == 0
        assert WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=1) == 1
        assert not saving.done()

        resolver.release.set()
        assert "No DNS server gave an answer for hangs.example" in saving.result(30)

    def test_ends_at_its_deadline_and_stores_nothing(self, save, endpoint, resolver, monkeypatch):
        monkeypatch.setattr(address_guard, "_calls", BoundedCalls(most=3, seconds=0.1))

        refusal = save()

        assert "took more than 0.1 seconds" in refusal
        assert resolver.names == ["hangs.example"]
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == ""
        assert not AuditEntry.objects.filter(action="url_set").exists()
        assert Integrator.objects.count() == 1


class TestSilentNameServer:
    def test_of_one_account_keeps_no_other_from_saving(self, endpoint, resolver, monkeypatch):
        monkeypatch.setattr(address_guard, "_calls", BoundedCalls(most=2, seconds=0.1))
        with pytest.raises(WebhookHostUnresolved):
            endpoints.check_url(HANGS, of=endpoint)

        with pytest.raises(LookUpsBusy):
            alerts.set_url(endpoint=endpoint, url=HANGS, language="en", by=BY, at=timezone.now())

        monkeypatch.setattr(
            socket, "getaddrinfo", lambda *_args, **_kwargs: [(socket.AF_INET, 1, 6, "", ("93.184.216.34", 0))]
        )
        other = IntegratorFactory.create().endpoints.get(environment="live")
        assert endpoints.check_url("https://shop.example/", of=other).text == "https://shop.example/"


class TestPublicName:
    def test_is_looked_up_once_and_stored(self, browser, endpoint, monkeypatch):
        names = []

        def getaddrinfo(host, *args, **kwargs):
            names.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 0))]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

        page = reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk])
        response = browser.post(page, {"url": " https://shop.example/hook ", "enabled": "on"})

        assert response.status_code == 302
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == "https://shop.example/hook"
        assert names == ["shop.example"]
