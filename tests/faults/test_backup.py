"""What docs/backup.md says, done: a dump under traffic and its restore, and a restore to a moment."""

import shutil
import time
from contextlib import contextmanager
from typing import Any, LiteralString
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
import requests
from django.utils import timezone

from config.env import data_dir
from delivery.actions import proofs
from delivery.models import WebhookEvent
from dev import embedded
from tests.factories import DeliveryFactory, payload
from tests.faults import backup
from tests.faults.calls import new_session
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.photos import photo

_RECOVERED = "SELECT NOT pg_is_in_recovery()"
_ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"


def value(connection: psycopg.Connection[Any], query: LiteralString, *parameters: Any) -> Any:
    """The only value of a query's only row."""
    (row,) = connection.execute(query, parameters).fetchall()
    return row[0]


class Api:
    """The web server of an installation, called with a token."""

    def __init__(self, address, token):
        self.address, self._base, self._session = address, f"{address}/api", new_session()
        self._session.headers["Authorization"] = f"Bearer {token.clear_text}"

    def request_delivery(self):
        answer = self._session.post(f"{self._base}/request-delivery", json=payload(stops=1), timeout=DEADLINE_SECONDS)
        assert answer.status_code == 201, answer.text
        return answer.json()["deliveryId"]

    def status_of(self, delivery):
        return self._session.get(f"{self._base}/info-delivery/{delivery}", timeout=DEADLINE_SECONDS).status_code

    def photo_of(self, delivery):
        """The only photo of the first drop-off, from the address that the API gives."""
        answer = self._session.get(f"{self._base}/deliveries/{delivery}", timeout=DEADLINE_SECONDS)
        (photo,) = answer.json()["orders"][0]["proof"]["photos"]
        return requests.get(self.address + urlsplit(photo["url"]).path, timeout=DEADLINE_SECONDS)

    def close(self):
        self._session.close()


@pytest.fixture(scope="module")
def installations():
    """Makes installations, and stops their servers at the end."""
    made = []

    def make(name):
        made.append(backup.Installation(name))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def serving(processes):
    """Serves an installation within a `with` block."""

    @contextmanager
    def serve(installation, token):
        web = processes.start_web(WEB_WORKERS="1", DATA_DIR=str(installation.folder))
        api = Api(web.base, token)
        try:
            yield api
        finally:
            api.close()
            web.kill()

    return serve


@pytest.fixture
def working(processes):
    """Has a worker and beat of an installation run within a `with` block."""

    @contextmanager
    def work(installation):
        with installation.redis():
            started = [processes.start(name, DATA_DIR=str(installation.folder)) for name in ("worker", "beat")]
            try:
                yield
            finally:
                for process in started:
                    process.kill()

    return work


@pytest.fixture(scope="module")
def dump():
    return data_dir() / "backup" / "rota.dump"


class TestDump:
    def test_made_under_traffic_is_restored_row_by_row(self, installations, serving, shop, dump):
        restored = installations("restored")
        with Load(shop, per_second=40) as load:
            until(lambda: len(load.committed) > 100, what="100 changes")
            started = time.monotonic()
            with psycopg.connect(embedded.postgres_url()) as connection:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                snapshot = value(connection, "SELECT pg_export_snapshot()")
                before = len(load.committed)
                backup.run(
                    "pg_dump", f"--dbname={embedded.postgres_url()}", "--format=custom", f"--file={dump}",
                    f"--snapshot={snapshot}",
                )  # fmt: skip  # a command
                dumped = time.monotonic()
                meanwhile = len(load.committed) - before
                expected = backup.digests(connection)
        began = time.monotonic()
        restored.restore(dump)
        restored_in = time.monotonic() - began
        with psycopg.connect(restored.url) as connection:
            found = backup.digests(connection)
        with psycopg.connect(embedded.postgres_url()) as connection:
            later = value(connection, "SELECT count(*) FROM delivery_transition")

        print_figures(
            "Dump under traffic", tables=len(found), rows=sum(count for count, _digest in found.values()),
            changes_meanwhile=meanwhile, seconds_of_dump=dumped - started, seconds_of_restore=restored_in,
        )  # fmt: skip
        assert found == expected
        assert meanwhile > 0
        assert found["public.delivery_delivery"][0] > 20
        assert found["public.delivery_transition"][0] < later
        known = next(iter(load.committed_at))[0]
        with serving(restored, shop) as api:
            made = api.request_delivery()
            assert (api.status_of(made), api.status_of(known)) == (200, 200)
        restored.manage("verify")  # raises for an exit status other than 0
        assert '"complete": true' in restored.manage("reencrypt_credentials", "--check")
        assert "No migrations to apply" in restored.manage("migrate")
        restored.stop()


class TestRestoredInstallation:
    def test_serves_photos_sends_what_was_waiting_and_passes_the_demo(
        self, installations, serving, working, shop, endpoint, dump
    ):
        """Nothing is sent before: no worker runs beside the original database."""
        taken, photos = _photo(shop), dump.with_name("proofs")
        waiting = sequences(WebhookEvent.objects.filter(endpoint__integrator=shop.integrator))
        backup.run("pg_dump", f"--dbname={embedded.postgres_url()}", "--format=custom", f"--file={dump}")
        shutil.rmtree(photos, ignore_errors=True)
        shutil.copytree(data_dir() / "proofs", photos)
        began = time.monotonic()
        restored = installations("complete")
        restored.restore(dump)
        restored.restore_photos(photos)
        restored.manage("verify")
        with serving(restored, shop) as api:
            shown = api.photo_of(taken.stop.delivery_id)
            serves = time.monotonic()
            with working(restored):
                demo = restored.manage("demo", "--url", api.address)
                passed = time.monotonic()
                await_all(waiting, endpoint)
        figures = figures_of(waiting, endpoint.receipts)

        print_figures(
            "Restored installation, what was waiting", figures, seconds_until_it_serves=serves - began,
            seconds_of_demo=passed - serves,
        )  # fmt: skip
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
        assert shown.content == proofs.read(taken)
        assert "PASSED: every step answered as specified, 7 of 7 webhooks in order" in demo
        assert figures.sent > 0
        assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)


def _photo(shop):
    """One that a driver has taken at the first drop-off of a delivery."""
    delivery, now = DeliveryFactory.create(token=shop, collected=True), timezone.now()
    kept, _is_new = proofs.add(
        driver=delivery.driver, upload=uuid4(), delivery=delivery.pk, point="B", content=photo(), taken_at=now, at=now
    )
    return kept


class TestPointInTime:
    def test_has_what_was_made_before_the_moment_and_nothing_later(self, installations, serving, shop, dump):
        source, earlier = installations("source"), installations("earlier")
        backup.run("pg_dump", f"--dbname={embedded.postgres_url()}", "--format=custom", f"--file={dump}")
        source.restore(dump)
        source.archive_log()
        base = dump.with_name("base")
        source.base_backup(base)
        with serving(source, shop) as api:
            before = [api.request_delivery() for _number in range(20)]
            with psycopg.connect(source.url, autocommit=True) as connection:
                moment = value(connection, "SELECT clock_timestamp()")
            after = [api.request_delivery() for _number in range(20)]
        with psycopg.connect(source.url, autocommit=True) as connection:
            log = value(connection, "SELECT pg_walfile_name(pg_switch_wal())")
            until(lambda: value(connection, _ARCHIVED, log), what="the log in the archive")
        source.server.stop("immediate")

        started = time.monotonic()
        earlier.start_from(base, until=moment.isoformat())
        with psycopg.connect(earlier.url, autocommit=True) as connection:
            until(lambda: value(connection, _RECOVERED), what="the end of the recovery")
        seconds = time.monotonic() - started

        with serving(earlier, shop) as api:
            statuses = {api.status_of(delivery) for delivery in before}, {api.status_of(each) for each in after}
            made = api.request_delivery()
            is_known = api.status_of(made)
        earlier.manage("verify")
        print_figures("Restored to a moment", before=len(before), after=len(after), seconds_of_restore=seconds)
        assert statuses == ({200}, {404})
        assert is_known == 200
