"""Heavy calls: which ones they are, and the process that answers them, forked as the web server does it."""

import asyncio
import base64
import inspect
import json
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from django.conf import settings
from django.db import OperationalError
from django.urls import URLResolver, get_resolver

from common import clock, credentials
from common.api import heavy
from config.env import BASE_DIR
from config.server import heavy_callers, heavy_calls
from config.server.heavy_callers import caller_of
from config.server.limits import HEAVY_CALL
from config.server.rsgi import Application, _Body
from integration.models import ApiKey
from tests.access.rights_by_url import ROUTES
from tests.cases import in_turn
from tests.config.server.echo_server import Response
from tests.faults.waiting import until
from tests.integration.factories import SellerFactory, key_of

ACCOUNT = "/panel/accounts/019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50/live/"

# What takes the time: whoever calls one of them is a heavy call, unless it is named below.
COSTLY = {
    "common.files.table_files.response", "common.files.table_files.read", "common.files.kept_uploads.claim",
    "integration.invoices.nfe.read_file",
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
        "panel/sellers/<int:seller>/<environment:environment>/orders/import/template/export/",
    },
    "POST": {*_ONE_ROW, *_ONE_INVOICE},
}


class TestExpressions:
    @in_turn(
        ("method", "address"),
        [
            ("GET", "/api/integration/orders/A/1/label?"),
            ("GET", "/api/integration/orders/A/label?format=zpl"),
            ("GET", "/api/integration/orders/A/label.pdf?size=a4"),
            ("GET", "/api/integration/orders/A/label.zpl?"),
            ("POST", "/api/integration/labels?"),
            ("POST", "/api/integration/labels.pdf?"),
            ("POST", "/api/integration/labels.zpl?"),
            ("GET", "/api/integration/manifests/7.pdf?"),
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

    @in_turn(
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

    @pytest.mark.parametrize("path", ["marketplace", *settings.INVOICE_PATHS])
    def test_find_invoices_that_are_large(self, path):
        address = f"/api/integration/invoices/{path}?"

        assert heavy.expressions(large=True)["POST"].fullmatch(address)
        assert not heavy.expressions()["POST"].fullmatch(address)

    def test_find_no_other_calls_that_are_large(self):
        assert not heavy.expressions(large=True)["POST"].fullmatch("/api/integration/orders?")
        assert heavy.expressions(large=True)["POST"].fullmatch("/api/integration/labels?")

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
        named = {
            route
            for route in ROUTES
            if route.rstrip("/").endswith(("label", "labels", ".pdf", ".zpl", "report", "export"))
        }

        assert len(named & declared) >= 15
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
import asyncio, hashlib, json, os, sys, time
import django
django.setup()
from config.server.heavy_calls import Lane, Lost, Refused

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
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "QUERY_STRING": str(seconds)}
    try:
        answer = await lane.ask(hashlib.sha256(caller.encode()).digest(), environ, body.encode())
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
        from config.server.heavy_calls import Lane

        lane = Lane()
        try:
            environ = {"REQUEST_METHOD": method, "PATH_INFO": "/api/integration/orders/1/label", "QUERY_STRING": ""}
            started = time.perf_counter()
            assert lane.takes(environ) is takes
            assert not lane.takes(environ | {"QUERY_STRING": "x" * 100_000})
            assert time.perf_counter() - started < 0.5
            invoice = environ | {"REQUEST_METHOD": "POST", "PATH_INFO": "/api/integration/invoices/marketplace"}
            assert not lane.takes(invoice | {"CONTENT_LENGTH": "204800"})
            assert lane.takes(invoice | {"CONTENT_LENGTH": "204801"})
        finally:
            lane._calls.close()
            lane._incoming.close()


@pytest.mark.django_db
class TestCaller:
    @pytest.fixture(autouse=True)
    def _keep_connection(self, monkeypatch):
        """That of the test's transaction."""
        monkeypatch.setattr(heavy_callers, "close_old_connections", lambda: None)

    @pytest.fixture
    def seller(self):
        return SellerFactory.create()

    PAGE, CALL = {"PATH_INFO": "/panel/reports/"}, {"PATH_INFO": "/api/integration/labels"}

    def of_key(self, header, **more):
        return caller_of(self.CALL | {"HTTP_AUTHORIZATION": header} | more)

    def of_session(self, cookie, **more):
        return caller_of(self.PAGE | {"HTTP_COOKIE": f"a=b; sessionid={cookie}"} | more)

    def test_is_a_key_however_it_is_written(self, seller):
        key, other = key_of(seller), key_of(seller)
        texts = [f"Basic {key}", f"basic {key}", f"BASIC {key}", f"Basic    {key}", f" Basic {key}  "]
        texts += [f"Basic {base64.b64encode(text.encode()).decode()}" for text in (f"{key}:", f"x:{key}", f"{key}:x")]

        assert self.of_key(texts[0])
        assert len({self.of_key(text) for text in texts}) == 1
        assert self.of_key(texts[0]) != self.of_key(f"Basic {other}")

    def test_is_not_the_session_of_a_call_nor_the_header_of_a_page(self, seller, client, django_user_model):
        client.force_login(django_user_model.objects.create(username="ana"))
        session = client.session.session_key
        key = f"Basic {key_of(seller)}"

        assert self.of_key(key, HTTP_COOKIE=f"sessionid={session}") == self.of_key(key)
        assert self.of_key("Basic x", HTTP_COOKIE=f"sessionid={session}") is None
        assert self.of_session(session, HTTP_AUTHORIZATION="x") == self.of_session(session)
        assert self.of_session("x" * 32, HTTP_AUTHORIZATION=key) is None

    def test_is_a_person_whose_pages_count_apart(self, client, django_user_model):
        sessions = []
        for name in ("ana", "ana", "bia"):
            client.cookies.clear()
            client.force_login(django_user_model.objects.get_or_create(username=name)[0])
            sessions.append(client.session.session_key)
        ana, again, bia = sessions

        assert len(set(sessions)) == 3
        assert self.of_session(ana) == self.of_session(again) != self.of_session(bia)
        assert self.of_session(ana) != self.of_session(ana, HTTP_HX_REQUEST="true")
        assert self.of_session(ana, HTTP_HX_REQUEST="true") == self.of_session(ana, HTTP_HX_REQUEST="1")

    def test_is_unknown_without_valid_credentials(self, seller, client):
        revoked = key_of(seller)
        seller.keys.all()[0].revoke(by="x", at=clock.now())
        client.get("/accounts/login/")
        anonymous = client.session
        anonymous["a"] = 1
        anonymous.save()

        assert {
            self.of_key(f"Basic {revoked}"), self.of_key(f"Basic {credentials.random_token('rota_key_')}"),
            self.of_key("Basic \xff"), self.of_key("\xff"), self.of_key(f"Basic {'x' * 100_000}"), caller_of(self.CALL),
            self.of_session(anonymous.session_key), self.of_session("\xff"), self.of_session("x" * 100_000),
            caller_of(self.PAGE),
        } == {None}  # fmt: skip  # one kind of value

    def test_is_unknown_without_postgresql(self, seller, monkeypatch):
        def fail(_text):
            raise OperationalError

        header = f"Basic {key_of(seller)}"
        assert self.of_key(header)
        monkeypatch.setattr(ApiKey, "find", fail)

        assert self.of_key(header) is None


class TestApplication:
    """A heavy call of the web server: who answers it."""

    @pytest.fixture(params=[heavy_calls.Away])
    def answered(self, monkeypatch, request):
        async def ask(_lane, caller, _environ, body):
            asked.append((caller, body))
            raise request.param

        asked: list[tuple[bytes, bytes]] = []
        lane = heavy_calls.Lane()
        monkeypatch.setattr(heavy_calls, "lane", lane)
        monkeypatch.setattr(heavy_calls.Lane, "ask", ask)
        yield asked
        lane._calls.close()
        lane._incoming.close()

    @pytest.mark.parametrize(("caller", "asked"), [(b"ana", [(b"ana", b"body")]), (None, [])])
    def test_is_the_process_if_the_caller_is_known(self, answered, caller, asked):
        sent = asyncio.run(_send(caller))

        assert answered == asked
        assert sent == [(200, b"BODY")]  # by a thread: the process is away

    @pytest.mark.parametrize(
        ("answered", "outcome"), [(heavy_calls.Refused, b"running"), (heavy_calls.Lost, b"lost")], indirect=["answered"]
    )
    @pytest.mark.usefixtures("answered")
    def test_is_refused_by_a_thread_that_knows_why(self, outcome):
        assert asyncio.run(_send(b"ana")) == [(200, b"BODY " + outcome)]


async def _send(caller):
    """The answers to a heavy call with a body."""
    sent = []
    streams: Any = SimpleNamespace()  # no answer is one
    application = Application(_upper, threads=1, streams=streams, caller_of=lambda _environ: caller)
    application._loop = asyncio.get_running_loop()
    threading.Thread(target=application._serve, daemon=True).start()
    protocol: Any = SimpleNamespace(response_bytes=lambda status, _headers, content: sent.append((status, content)))
    body = _Body(bytearray(b"body"))
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/api/integration/labels", "QUERY_STRING": ""}
    await application._respond(environ, protocol, body)
    return sent


def _upper(environ, start_response):
    start_response("200 OK", [])
    why = environ.get(HEAVY_CALL, "").encode()
    return Response(b" ".join(filter(None, [environ["wsgi.input"].read().upper(), why])))
