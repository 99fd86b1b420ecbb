"""A seller who asks for labels again and again must not keep others from being served."""

import json
import threading
import time
from collections import Counter

import pytest
import requests

from common.credentials import LIVE_KEY, random_token
from tests.faults.report import print_figures
from tests.integration.factories import create_order, key_of, load_tariff

QUOTE = {
    "origin": "01310100", "destination": "40020000", "width": "1", "height": "1", "length": "1", "weight": 1,
    "declared_amount": 1,
}  # fmt: skip  # a body reads as one


# Fails if threads of the web server answer heavy calls (`lane.takes` in config/server/rsgi.py): quotes then wait for
# minutes.
@pytest.mark.ci
def test_quotes_beside_labels(processes, seller):
    load_tariff()
    orders = [create_order(seller, orderId=f"labels-{number}", volumes=99).code for number in range(2)]
    web = processes.start_web(WEB_WORKERS="1")
    statuses: Counter[int] = Counter()
    ended = threading.Event()

    def post(path, body, key=""):
        headers = {"Authorization": f"Basic {key or own}", "Content-Type": "application/json"}
        return requests.post(f"{web.base}/api/integration/{path}", json.dumps(body), headers=headers, timeout=60)

    def print_labels():
        while not ended.is_set():
            statuses[post("labels", {"orderIds": orders, "format": "zpl"}).status_code] += 1

    own = key_of(seller)
    threads = [threading.Thread(target=print_labels) for _connection in range(6)]
    for thread in threads:
        thread.start()
    seconds: list[float] = []
    try:
        while len(seconds) < 100 or statuses[200] == 0:
            started = time.monotonic()
            assert post("shipping/quote", QUOTE).status_code == 200
            seconds.append(time.monotonic() - started)
            assert post("labels", {}, random_token(LIVE_KEY)).status_code == 401  # whoever waits
    finally:
        ended.set()
        for thread in threads:
            thread.join()

    print_figures("Labels beside quotes", slowest_seconds=max(seconds), quotes=len(seconds), labels=dict(statuses))
    assert statuses.keys() == {200, 429}
    assert sorted(seconds)[len(seconds) // 2] < 0.5
    assert max(seconds) < 5
