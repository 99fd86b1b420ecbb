"""Heavy calls: which ones they are, and the process that answers them, forked as the web server does it."""

import json
import subprocess
import sys
import time

import psutil
import pytest
from django.urls import get_resolver

from common import heavy
from config.env import BASE_DIR
from tests.access.rights_by_url import ROUTES
from tests.faults.waiting import until

ACCOUNT = "/panel/accounts/019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50/live/"


class TestExpressions:
    @pytest.mark.parametrize(
        ("method", "address"),
        [
            ("GET", "/api/integration/orders/A/1/label?"),
            ("GET", "/api/integration/orders/A/label?format=zpl"),
            ("POST", "/api/integration/labels?"),
            ("GET", "/api/integration/manifests/7?format=pdf"),
            ("GET", "/api/integration/manifests/7?a=b&format=pdf&c=d"),
            ("GET", "/panel/sellers/1/sandbox/manifests/7/file/?"),
            ("POST", "/panel/sellers/1/live/orders/labels/?"),
            ("POST", f"{ACCOUNT}deliveries/upload/?"),
            ("GET", f"{ACCOUNT}report/?since=2026-01-01"),
            ("GET", f"{ACCOUNT}endpoints/2/events/export/?"),
            ("POST", "/panel/personal-data/?"),
            ("POST", "/admin/delivery/tariff/import/?"),
        ],
    )
    def test_find_heavy_calls(self, method, address):
        assert heavy.expressions()[method].fullmatch(address)

    @pytest.mark.parametrize(
        ("method", "address"),
        [
            ("POST", "/api/quotation-delivery?"),
            ("POST", "/api/integration/shipping/quote?x=/api/integration/labels"),
            ("GET", "/api/integration/labels?"),
            ("GET", "/api/integration/manifests/7?"),
            ("GET", "/api/integration/manifests/7?format=json"),
            ("GET", "/api/integration/manifests/x?format=pdf"),
            ("GET", "/api/integration/orders/A?label"),
            ("GET", f"{ACCOUNT}deliveries/upload/?"),
            ("GET", f"{ACCOUNT}deliveries/?export/"),
            ("GET", "/panel/personal-data/?"),
        ],
    )
    def test_find_no_others(self, method, address):
        assert not heavy.expressions()[method].fullmatch(address)

    def test_find_every_label_report_and_export_of_the_url_map(self):
        declared = {expression for _method, expression in heavy._declared(get_resolver(), "")}
        wanted = [route for route in ROUTES if route.rstrip("/").endswith(("/label", "labels", "report", "/export"))]

        found = {route for route in wanted if any(_parts(route) == _parts(each[1:]) for each in declared)}
        light = {
            "panel/accounts/<uuid:account>/<environment:environment>/deliveries/upload/template/export/",
        }
        assert len(found) > 15
        assert set(wanted) - found == light


def _parts(route):
    """The fixed parts of a route or an expression."""
    return [part for part in route.removesuffix(r"\?.*").replace("\\", "").split("/") if part and part[0] not in "<("]


SCRIPT = """
import asyncio, json, os, sys, time
import django
django.setup()
from config.heavy_calls import Lane, Lost, Refused

def wsgi(environ, start_response):
    class Body(list):
        def close(self): pass
    body = environ["wsgi.input"].read().decode()
    if body == "die":
        os._exit(9)
    if body == "fail":
        raise OSError("of the application")
    time.sleep(float(environ["QUERY_STRING"] or 0))
    start_response("201 Created", [("X-Pid", str(os.getpid()))])
    return Body([body.upper().encode()])

async def ask(caller, body="", seconds=0, after=0):
    await asyncio.sleep(after)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "QUERY_STRING": str(seconds), "REMOTE_ADDR": caller}
    try:
        answer = await lane.ask(environ, body.encode())
    except (Refused, Lost) as outcome:
        return type(outcome).__name__
    return [answer.status, dict(answer.headers), answer.body.decode(), os.getpid()]

async def run():
    await ask("first")  # it has started
    return await asyncio.gather(*(ask(*each) for each in json.load(sys.stdin)))

lane = Lane()
lane.start(wsgi, [])
print(json.dumps(asyncio.run(run())), flush=True)
if "stay" in sys.argv:
    time.sleep(60)
"""


@pytest.fixture
def ask():
    """What becomes of calls that are made at the same time: caller, body, seconds, and seconds after the first one."""

    def run(*calls):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=json.dumps(calls),
            cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=50,
        )  # fmt: skip  # a command in few lines
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


class TestLane:
    def test_gives_the_answer_of_another_process(self, ask):
        ((status, headers, body, own),) = ask(["ana", "é" * 3_000_000])

        assert (status, body) == (201, "É" * 3_000_000)
        assert int(headers["x-pid"]) != own

    def test_has_one_call_of_a_caller_and_the_others_in_turn(self, ask):
        first, again, other, later = ask(
            ["ana", "a", 0.6], ["ana", "b", 0, 0.2], ["bia", "c", 0, 0.2], ["ana", "d", 0, 1.5]
        )

        assert [first[2], again, other[2], later[2]] == ["A", "Refused", "C", "D"]

    def test_lets_seven_wait(self, ask):
        calls = [[f"caller {number}", "x", 0.1, 0.02 * number] for number in range(9)]

        found = ask(["first", "x", 1], *calls)

        assert [each if each == "Refused" else each[2] for each in found] == ["X"] * 8 + ["Refused"] * 2

    def test_tells_what_is_lost_and_goes_on(self, ask):
        lost, next_one = ask(["ana", "die"], ["bia", "b", 0, 2])

        assert (lost, next_one[2]) == ("Lost", "B")

    def test_goes_on_after_an_exception(self, ask):
        before, failed, after = ask(["ana", "a"], ["bia", "fail", 0, 0.3], ["caio", "c", 0, 0.6])

        assert failed == "Lost"
        assert before[1] == after[1]  # the same process

    def test_ends_with_the_web_server(self):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "stay"],
            cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip  # a command in few lines
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("[]")
        process.stdin.close()
        assert process.stdout.readline() == "[]\n"
        processes = psutil.Process(process.pid).children(recursive=True)
        assert len(processes) == 2

        process.kill()
        process.wait()
        process.stdout.close()

        until(lambda: not any(each.is_running() for each in processes), what="the end of the processes")


class TestTakes:
    @pytest.mark.parametrize(("method", "takes"), [("GET", True), ("HEAD", True), ("POST", False), ("PATCH", False)])
    def test_follows_method_path_and_query(self, method, takes):
        from config.heavy_calls import Lane

        lane = Lane()
        try:
            environ = {"REQUEST_METHOD": method, "PATH_INFO": "/api/integration/orders/1/label", "QUERY_STRING": ""}
            started = time.perf_counter()
            assert lane.takes(environ) is takes
            assert not lane.takes(environ | {"QUERY_STRING": "x" * 100_000})
            assert time.perf_counter() - started < 0.5
        finally:
            lane._calls.close()
            lane._incoming.close()
