"""A replica behind PgBouncer in transaction mode, as docs/deployment.md describes it."""

import os
import subprocess

import pytest

from tests.faults.replica.browser import Browser
from tests.faults.waiting import until
from tests.ports import free_port, listens

pytestmark = pytest.mark.timeout(240)
# Few server connections, so that transactions of different clients follow each other on the same one.
_INI = """\
[databases]
rota = host=/proc/self/cwd port=5432 dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
ignore_startup_parameters = options
"""


@pytest.fixture(scope="module")
def environment(replica, program, tmp_path_factory):
    port, ini = free_port(), tmp_path_factory.mktemp("pgbouncer") / "pgbouncer.ini"
    ini.write_text(_INI.format(port=port))
    # In the folder of the server's socket: the folders above cannot be entered by its user.
    user = ["-u", replica.folder.owner()] if os.getuid() == 0 else []
    pgbouncer = subprocess.Popen([program("pgbouncer"), "-q", *user, str(ini)], cwd=replica.folder)
    until(lambda: listens(port), seconds=30, what="PgBouncer")
    yield {"DATABASE_REPLICA_URL": f"postgres://rota@127.0.0.1:{port}/rota", "DATABASE_PREPARE": "0"}
    pgbouncer.terminate()
    pgbouncer.wait(10)


def test_answers_lists_behind_pgbouncer(web, staff, page_of, replica, end_delivery):
    browser = Browser(web, staff)
    with replica.paused():
        delivery = end_delivery()
        old = browser.get(page_of("deliveries"))
    replica.catch_up()

    assert delivery not in old
    assert delivery in browser.get(page_of("deliveries"))
