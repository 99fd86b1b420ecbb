"""PostgreSQL's disk is full for a while: calls are answered by 503, and once there is space nothing is missing."""

import time

import pytest

from config.env import data_dir
from config.local import embedded
from tests.faults import backup
from tests.faults.calls import Traffic, made, statuses
from tests.faults.report import print_figures
from tests.faults.small_disk import mounted
from tests.faults.waiting import until
from tests.ports import free_port, listens

_MEGABYTES = 400
_FULL_SECONDS = 8
_BACK_SECONDS = 5


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


@pytest.mark.timeout(180)
def test_the_disk_of_postgres_is_full(processes, installation, callers):
    copy, disk = installation
    port, data = free_port(), str(copy.folder)
    processes.start("web", port=port, DATA_DIR=data)
    until(lambda: listens(port), seconds=30, what="the web server")
    base = f"http://127.0.0.1:{port}"

    with Traffic(callers, [base], per_second=60) as traffic:
        until(lambda: len(traffic.answers) > 100, seconds=30, what="100 answers")
        disk.fill()
        full = time.monotonic()
        until(lambda: 503 in statuses(traffic.since(full)), seconds=60, what="a call that finds no space")
        time.sleep(_FULL_SECONDS)
        disk.empty()
        # It stops when its log finds no space. Whatever runs it in production starts it again.
        was_running = copy.server.is_running()
        copy.server.ensure_running()
        free = time.monotonic()
        until(lambda: len(traffic.since(free + _BACK_SECONDS)) > 100, seconds=40, what="100 answers afterwards")
    refused = [answer for answer in traffic.answers if not answer.is_good]
    repeated = traffic.repeat(base, refused)

    print_figures(
        "Disk of PostgreSQL full, calls", answered=len(traffic.answers), refused=len(refused), went_on=was_running,
        read_while_full=sum(answer.is_good for answer in traffic.answers if full < answer.begun < free),
        slowest_refusal_seconds=max(answer.seconds for answer in refused),
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {200, 201, 503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert max(answer.ended for answer in refused) < free + _BACK_SECONDS
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers, url=copy.url).keys() == {1}
    copy.manage("verify")  # raises for an exit status other than 0
