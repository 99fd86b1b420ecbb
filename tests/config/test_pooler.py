"""The service through PgBouncer in transaction mode, as docs/deployment.md describes it, on Debian's PostgreSQL."""

import json
import subprocess
import sys

import psycopg
import pytest
import requests

from config.env import BASE_DIR
from tests.factories import PICKUP, payload
from tests.faults.waiting import until
from tests.pgbouncer import pgbouncer, variables
from tests.ports import free_port, listens
from tests.production import ENVIRONMENT


@pytest.fixture
def pooled(program, external, tmp_path):
    """The environment of a production whose PostgreSQL is behind a PgBouncer."""
    # Few server connections, so that transactions of different clients follow each other on the same one.
    with pgbouncer(program("pgbouncer"), external["DATABASE_URL"], tmp_path, default_pool_size=3) as url:
        yield {
            "PATH": "", **ENVIRONMENT, **external, "DATABASE_URL": f"{url}/rota?target_session_attrs=any",
            **variables(program("pgbouncer")), "WEB_WORKERS": "1", "WORKERS": "1", "PORT": str(free_port()),
            "ROTA_SUPERUSER": "ana", "ROTA_SUPERUSER_PASSWORD": "plum canoe ladder frost",  # pragma: allowlist secret
        }  # fmt: skip  # one row each


def test_every_connection_is_planned_for_alike(pooled):
    """PgBouncer does not pass on what the service asks for when it connects."""
    url = pooled["DATABASE_URL"].rpartition("/")[0]

    for entry in ("rota", "rota_web"):
        with psycopg.connect(f"{url}/{entry}", connect_timeout=10) as connection:
            found = [connection.execute(f"SHOW {name}").fetchone() for name in ("jit", "random_page_cost")]
        assert found == [("off",), ("1.1",)], entry


@pytest.mark.timeout(300)
def test_an_empty_database_becomes_a_service_whose_delivery_comes_to_its_end(pooled):
    """With the commands of operation, web server, worker and two schedulers, in production mode."""

    def manage(*arguments):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE_DIR, env=pooled, check=False, capture_output=True, text=True, timeout=150,
        )  # fmt: skip  # a command in few lines
        assert done.returncode == 0, done.stdout + done.stderr[-2000:]
        return json.loads(done.stdout)

    first, second = manage("bootstrap"), manage("bootstrap")
    here = f"{PICKUP.latitude},{PICKUP.longitude}"
    token = manage("create_integrator", "Loja", "--sandbox", "--pickup", here)["token"]
    live = manage("create_integrator", "Loja ao vivo", "--pickup", here)["token"]
    processes = [
        subprocess.Popen([sys.executable, "-m", "config.processes", name], cwd=BASE_DIR, env=pooled)
        for name in ("web", "worker", "beat", "beat")
    ]
    try:
        until(lambda: listens(int(pooled["PORT"])), what="the web server")
        api = f"http://127.0.0.1:{pooled['PORT']}/api"
        quoted = _quote(_client(live), api)
        delivery = _play(_client(token), api)
    finally:
        for process in processes:
            process.terminate()
        codes = [process.wait(30) for process in processes]

    assert first["migrations"] > 20
    assert len(first["enrolment_code"]) == 19
    assert (first["changed"], second["changed"], second["migrations"]) == (True, False, 0)
    statuses = [change["status"] for change in delivery["events"]]
    assert statuses == ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"]
    assert codes == [0] * 4
    assert quoted > 0


def _client(token):
    client = requests.Session()
    client.headers.update({
        "Authorization": f"Bearer {token}", "Host": "rota.example.com", "X-Forwarded-Proto": "https",
        "Sandbox-Speed": "120",
    })  # fmt: skip  # one row for each kind
    return client


def _quote(client, api):
    """The price of a delivery to two drop-offs."""
    quote = client.post(f"{api}/quotation-delivery", json=payload(stops=2), timeout=10)
    assert (quote.status_code, quote.headers["Pickup-Linked"]) == (200, "true")
    return quote.json()["shippingValue"]


def _play(client, api):
    """Quote and request a delivery to two drop-offs, and wait for its end. Returns its events, oldest first."""
    quoted = _quote(client, api)
    created = client.post(f"{api}/request-delivery", json=payload(stops=2), timeout=10)
    assert created.status_code == 201, created.text
    assert created.json()["shippingValue"] == quoted > 0
    address = f"{api}/deliveries/{created.json()['deliveryId']}"
    until(lambda: client.get(address, timeout=10).json()["status"] == "DELIVERED", what="the last drop-off")
    events = client.get(f"{api}/events", timeout=10).json()["data"]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    return {"events": [event["body"] for event in events]}
