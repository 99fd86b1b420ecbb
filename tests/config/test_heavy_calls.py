"""Heavy calls: which ones they are, and the process that answers them, forked as the web server does it."""

import inspect
import json
import subprocess
import sys
import time

import psutil
import pytest
from django.urls import URLResolver, get_resolver

from common import heavy
from config.env import BASE_DIR
from tests.access.rights_by_url import ROUTES
from tests.faults.waiting import until

ACCOUNT = "/panel/accounts/019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50/live/"

# What takes the time: whoever calls one of them is a heavy call, unless it is named below.
COSTLY = {
    "common.table_files.response", "common.table_files.read", "common.kept_uploads.claim", "integration.nfe.read_file",
    "integration.papers.files.labels", "integration.papers.files.manifest", "access.personal_data.export",
}  # fmt: skip  # a list
# One invoice takes less than 100 ms, and sellers send several at once. Templates have one row.
_ONE_ROW = {
    f"admin/{name}/template/" for name in ("delivery/tariff", "integration/freightrate", "integration/order/movements")
}
_ONE_INVOICE = {"panel/sellers/<int:seller>/<environment:environment>/invoices/<int:invoice>/"}
LIGHT = {
    "GET": {
        *_ONE_ROW,
        *_ONE_INVOICE,
        "panel/accounts/<uuid:account>/<environment:environment>/deliveries/upload/template/export/",
    },
    "POST": {*_ONE_ROW, *_ONE_INVOICE, "api/integration/invoices/marketplace"},
}


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
            ("POST", f"{ACCOUNT}deliveries/upload/019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50/advance/?"),
            ("GET", f"{ACCOUNT}deliveries/export/?q=a&format=xlsx"),
            ("POST", "/panel/sellers/1/live/orders/2/invoice/?"),
            ("POST", "/admin/integration/order/movements/?"),
            ("POST", "/admin/delivery/tariff/process_import/?"),
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

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_find_every_call_that_makes_or_reads_a_file_or_a_report(self, method):
        costly = [(route, view) for route, view in _views(get_resolver(), method) if _calls(view) & COSTLY]

        assert len(costly) > 10
        assert {route for route, view in costly if not _is_heavy(view)} == LIGHT[method]

    def test_finds_each_of_what_takes_the_time(self):
        called = {name for method in LIGHT for _route, view in _views(get_resolver(), method) for name in _calls(view)}

        assert called >= COSTLY

    def test_find_every_route_that_is_named_as_one(self):
        declared = {route for method in LIGHT for route, view in _views(get_resolver(), method) if _is_heavy(view)}
        named = {route for route in ROUTES if route.rstrip("/").endswith(("label", "labels", "report", "export"))}

        assert len(named & declared) > 15
        assert named - declared <= LIGHT["GET"]


def _is_heavy(view):
    return hasattr(view[0], "heavy_query")


def _views(resolver, method, prefix=""):
    """Each route with the function that answers this method, and its class."""
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _views(entry, method, route)
        elif (function := heavy._method(entry, method)) is not None:
            view = entry.callback
            owner = getattr(view, "view_class", None) or getattr(view, "cls", None) or _admin_of(view)
            yield route, (function, owner)


def _admin_of(view):
    """The class of the method that the site of the admin has wrapped."""
    return type(getattr(inspect.unwrap(view), "__self__", None))


def _calls(view):
    """Names of what a function of this project calls, and what that calls. Finds too much rather than too little."""
    function, owner = view
    found, left = set(), [inspect.unwrap(function)]
    while left:
        called = left.pop()
        code = getattr(called, "__code__", None)
        if (
            code is None
            or f"{called.__module__}.{called.__qualname__}" in found
            or called.__module__.startswith("django")
        ):
            continue
        found.add(f"{called.__module__}.{called.__qualname__}")
        names = _names(code)
        spaces = [owner, *(called.__globals__.get(name) for name in names)]
        values = [called.__globals__.get(name) for name in names]
        values += [getattr(space, name, None) for space in spaces if _is_space(space) for name in names]
        left += [inspect.unwrap(value) for value in values if callable(value)]
    return found


def _is_space(value):
    return inspect.ismodule(value) or inspect.isclass(value)


def _names(code):
    """The names that a function uses, and those of functions in it."""
    inner = (each for each in code.co_consts if inspect.iscode(each))
    return {*code.co_names, *(name for each in inner for name in _names(each))}


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


class TestCaller:
    def test_is_a_key_or_a_session_whose_pages_count_apart(self):
        from config.heavy_calls import _caller

        person = {"REMOTE_ADDR": "1.2.3.4", "HTTP_COOKIE": "a=b; sessionid=s1"}
        key = person | {"HTTP_AUTHORIZATION": "Basic x"}

        assert _caller(person) == _caller(person | {"REMOTE_ADDR": "5.6.7.8"})
        assert _caller(person) != _caller(person | {"HTTP_COOKIE": "sessionid=s2"})
        assert _caller(person) != _caller(person | {"HTTP_HX_REQUEST": "true"})
        assert _caller(person | {"HTTP_HX_REQUEST": "true"}) == _caller(person | {"HTTP_HX_REQUEST": "1"})
        assert _caller(key) == _caller(key | {"HTTP_HX_REQUEST": "true", "HTTP_COOKIE": "sessionid=s2"})
