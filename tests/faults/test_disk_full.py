"""A disk is full for a while, PostgreSQL's or that of the photos: 503, and once there is space nothing is missing."""

import time
from datetime import UTC, datetime
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from config.env import data_dir
from delivery.models import ProofPhoto, Stop
from delivery.payload import Options
from dev import embedded
from tests.delivery.proofs import asking_for, first_stop
from tests.factories import DriverFactory
from tests.faults import backup
from tests.faults.calls import Traffic, new_session, statuses
from tests.faults.drivers import log_in
from tests.faults.report import print_figures
from tests.faults.small_disk import mounted
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.photos import photo

_MEGABYTES = 400


@pytest.fixture
def installation(callers):
    """A copy of this installation, with what `callers` need, on a small disk of its own."""
    copy = backup.Installation("full")
    dump = data_dir() / "backup" / "full.dump"
    backup.run("pg_dump", "--format=custom", f"--dbname={embedded.postgres_url()}", f"--file={dump}")
    with mounted(copy.folder, megabytes=_MEGABYTES) as disk:
        copy.copy_secrets()
        copy.restore(dump)
        yield copy, disk
        copy.stop()


def test_the_disk_of_postgres_is_full(processes, installation, callers):
    copy, disk = installation
    base = processes.start_web(DATA_DIR=str(copy.folder)).base

    with Traffic(callers, [base], per_second=60) as traffic:
        until(lambda: len(traffic.answers) > 100, what="100 answers")
        disk.fill()
        full = time.monotonic()
        until(lambda: statuses(traffic.since(full))[503] > 50, what="50 calls that find no space")
        disk.empty()
        # It stops when its log finds no space. Whatever runs it in production starts it again.
        was_running = copy.server.is_running()
        copy.server.ensure_running()
        free = time.monotonic()
        traffic.until_good(100)

    print_figures(
        "Disk of PostgreSQL full, calls", answered=len(traffic.answers), refused=len(traffic.refused),
        went_on=was_running,
        read_while_full=sum(answer.is_good for answer in traffic.answers if full < answer.begun < free),
        slowest_refusal_seconds=max(answer.seconds for answer in traffic.refused),
    )  # fmt: skip  # one figure each
    traffic.assert_repeatable(base, url=copy.url)
    copy.manage("verify")  # raises for an exit status other than 0


class Phone:
    """A driver's phone, logged in over HTTP, with the photo of a stop."""

    def __init__(self, base, driver, stop):
        self._base, self._http, self._stop, self.upload_id = base, new_session(), stop, str(uuid4())
        log_in(self._http, base, driver)
        state = self._http.get(f"{base}/driver/state/", timeout=DEADLINE_SECONDS).json()
        self._headers = {"X-CSRFToken": state["csrf"]}

    def upload(self):
        query = {
            "id": self.upload_id,
            "point": self._stop.label,
            "takenAt": now(),
            "deliveryId": self._stop.delivery_id,
        }
        headers = {**self._headers, "Content-Type": "image/jpeg"}
        url = f"{self._base}/driver/photos/?{urlencode(query)}"
        return self._http.post(url, data=photo(), headers=headers, timeout=DEADLINE_SECONDS)

    def deliver(self):
        """The outcome of the move that names the photo."""
        move = {
            "id": str(uuid4()), "deliveryId": str(self._stop.delivery_id), "trigger": "deliver",
            "point": self._stop.label, "madeAt": now(), "photos": [self.upload_id],
        }  # fmt: skip  # one move
        body = {"sentAt": now(), "moves": [move]}
        answer = self._http.post(
            f"{self._base}/driver/moves/", json=body, headers=self._headers, timeout=DEADLINE_SECONDS
        )
        return answer.json()["outcomes"][0]


def now():
    return datetime.now(UTC).isoformat()


def test_the_disk_of_the_photos_is_full(processes):
    folder = data_dir() / "proofs"
    folder.mkdir(exist_ok=True)
    driver = DriverFactory.create(on_duty=True)
    stop = first_stop(asking_for(Options(needs_photo=True), collected=True, driver=driver))
    with mounted(folder, megabytes=4) as disk:
        web = processes.start_web()
        phone, logged = Phone(web.base, driver, stop), web.log.stat().st_size

        disk.fill()
        refused, without_photo = phone.upload(), phone.deliver()
        kept = ProofPhoto.objects.filter(stop=stop).count()
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "filler"]
        status = Stop.objects.get(pk=stop.pk).status
        disk.empty()
        taken, delivered = phone.upload(), phone.deliver()
        found = [path for path in folder.rglob("*") if path.is_file()]

    log = web.log.read_bytes()[logged:].decode()
    assert (refused.status_code, refused.json()["code"]) == (503, "photos_busy")
    assert (without_photo["done"], without_photo["code"]) == (False, "photo_required")
    assert (kept, files, status) == (0, [], "COLLECTED")
    assert "A photo cannot be kept: [Errno 28]" in log
    assert "Traceback" not in log
    assert (taken.status_code, delivered["done"]) == (201, True)
    assert [path.name for path in found] == [f"{ProofPhoto.objects.get(stop=stop).pk}.jpg"]
    assert Stop.objects.get(pk=stop.pk).status == "DELIVERED"
