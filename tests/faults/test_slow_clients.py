"""Clients that never finish their requests must not keep others from being served."""

from collections import Counter

import pytest

from tests.faults.calls import Traffic, statuses
from tests.faults.report import print_figures
from tests.faults.slow_clients import KINDS, SlowClients
from tests.faults.waiting import until
from tests.ports import free_port

_EACH = 100
_HEADERS = "headers, a byte a second"  # granian's own limit of a minute; no thread is involved


# Fails if others wait for a body that does not end (`_read` in config/server/rsgi.py for one request at a time), and if
# such a body has no deadline (`body_seconds` there).
@pytest.mark.ci
def test_500_stalled_clients_beside_normal_traffic(processes, callers):
    port = free_port()
    web = processes.start_web(port=port)

    with SlowClients(port, each=_EACH) as slow:
        with Traffic(callers, [web.base], per_second=40) as traffic:
            until(lambda: len(traffic.answers) > 20, what="20 answers")
            stalled = _stalled_bodies(slow)
            until(lambda: _stalled_bodies(slow) == 0, what="every late body refused")
        answers = slow.answers()

    print_figures(
        "500 stalled clients", answered=len(traffic.answers), stalled_bodies_after_20_answers=stalled,
        slowest_seconds=max(answer.seconds for answer in traffic.answers),
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {200, 201}
    assert stalled > 0
    assert answers == Counter({(kind, "waiting" if kind == _HEADERS else "408"): _EACH for kind in KINDS})


def _stalled_bodies(slow):
    return sum(count for (kind, status), count in slow.answers().items() if status == "waiting" and kind != _HEADERS)
