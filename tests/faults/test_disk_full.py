"""A disk is full for a while, PostgreSQL's or that of the photos: 503, and once there is space nothing is missing."""

import time
from datetime import UTC, datetime
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from config.env import data_dir
from config.local import embedded
from delivery.actions import driver_devices
from delivery.models import ProofPhoto, Stop
from delivery.payload import Options
from tests.delivery.proofs import asking_for, first_stop
from tests.factories import BY, DriverFactory
from tests.faults import backup
from tests.faults.calls import Traffic, made, new_session, statuses
from tests.faults.report import print_figures
from tests.faults.small_disk import mounted
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.photos import photo
from tests.ports import free_port, listens

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
    port, data = free_port(), str(copy.folder)
    processes.start("web", port=port, DATA_DIR=data)
    until(lambda: listens(port), what="the web server")
    base = f"http://127.0.0.1:{port}"

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
    refused = [answer for answer in traffic.answers if not answer.is_good]
    repeated = traffic.repeat(base, refused)

    print_figures(
        "Disk of PostgreSQL full, calls", answered=len(traffic.answers), refused=len(refused), went_on=was_running,
        read_while_full=sum(answer.is_good for answer in traffic.answers if full < answer.begun < free),
        slowest_refusal_seconds=max(answer.seconds for answer in refused),
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {200, 201, 503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers, url=copy.url).keys() == {1}
    copy.manage("verify")  # raises for an exit status other than 0


class Phone:
    """A driver's phone, logged in over HTTP, with the photo of a stop."""

    def __init__(self, base, driver, stop):
        self._base, self._http, self._stop, self.upload_id = base, new_session(), stop, str(uuid4())
        link = f"{base}/driver/in/{driver_devices.issue_link(driver=driver, by=BY, at=datetime.now(UTC))}/"
        self._http.get(link, timeout=DEADLINE_SECONDS).raise_for_status()
        form = {"csrfmiddlewaretoken": self._http.cookies["csrftoken"]}
        self._http.post(link, data=form, timeout=DEADLINE_SECONDS).raise_for_status()
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
    port = free_port()
    with mounted(folder, megabytes=4) as disk:
        web = processes.start("web", port=port)
        until(lambda: listens(port), what="the web server")
        phone, logged = Phone(f"http://127.0.0.1:{port}", driver, stop), web.log.stat().st_size

        disk.fill()
        refused, without_photo = phone.upload(), phone.deliver()
        kept = ProofPhoto.objects.filter(stop=stop).count()
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "filler"]
        status = Stop.objects.get(pk=stop.pk).status
        disk.empty()
        taken, delivered = phone.upload(), phone.deliver()
        found = [path for path in folder.rglob("*") if path.is_file()]

    log = web.log.read_bytes()[logged:].decode()
    print_figures("Disk of the photos full", refused=refused.status_code, taken=taken.status_code)
    assert (refused.status_code, refused.json()["code"]) == (503, "photos_busy")
    assert (without_photo["done"], without_photo["code"]) == (False, "photo_required")
    assert (kept, files, status) == (0, [], "COLLECTED")
    assert "A photo cannot be kept: [Errno 28]" in log
    assert "Traceback" not in log
    assert (taken.status_code, delivered["done"]) == (201, True)
    assert [path.name for path in found] == [f"{ProofPhoto.objects.get(stop=stop).pk}.jpg"]
    assert Stop.objects.get(pk=stop.pk).status == "DELIVERED"
