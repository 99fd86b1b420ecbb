"""The files of the proxies, and the wrapper of manage.py, for machines without containers."""

import os
import re
import subprocess
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from threading import Thread

import pytest
import requests
from redis import Redis

from config.env import BASE_DIR
from config.monitoring.logs import BEFORE_SECRETS
from tests.faults.waiting import until
from tests.ports import free_port, listens

PROXY = BASE_DIR / "deploy" / "proxy"
UNANSWERED, NAMING = "/none?receiver=Maria", "https://rota.example.com/panel/?search=Maria"


@pytest.fixture
def web():
    """A web server that repeats what a proxy says of the client, and gives none to /none and to links. Its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path.startswith(("/none", *BEFORE_SECRETS)):
                self.close_connection = True
                return
            body = f"{self.headers['Host']} {self.headers['X-Forwarded-Proto']} {self.headers['X-Forwarded-For']}"
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def without_addresses(text):
    """The settings of a Caddyfile that do not say where the servers are."""
    text = re.sub(r"\t\t# Every (container|web server).*?(?=\t\tlb_policy|\t\t# While)", "", text, flags=re.DOTALL)
    return text.replace("{$ALLOWED_HOSTS}", "rota.example.com")


class TestCaddy:
    def test_differs_from_the_one_for_containers_in_addresses_only(self):
        of_containers = (BASE_DIR / "deploy" / "Caddyfile").read_text()

        assert without_addresses((PROXY / "Caddyfile").read_text()) == without_addresses(of_containers)
        assert without_addresses(of_containers).count("lb_policy") == 1

    @pytest.mark.parametrize("path", ["deploy/Caddyfile", "deploy/proxy/Caddyfile"])
    def test_is_valid(self, tmp_path, path):
        done = subprocess.run(
            [f"{sys.prefix}/bin/caddy", "validate", "--adapter", "caddyfile", "--config", path],
            cwd=BASE_DIR, env={"HOME": str(tmp_path), "ALLOWED_HOSTS": "rota.example.com"},
            capture_output=True, text=True, check=False, timeout=50,
        )  # fmt: skip  # a command in few lines

        assert done.returncode == 0, done.stderr

    def test_logs_a_call_without_answer_but_not_whom_it_names(self, tmp_path, web):
        port, text = free_port(), (PROXY / "Caddyfile").read_text().partition("https://")[0]
        text = text.replace("http://rota.example.com", f"http://127.0.0.1:{port}").replace("{\n", "{\n\tadmin off\n", 1)
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{web}").replace("try_duration 30s", "try_duration 1s")
        (tmp_path / "Caddyfile").write_text(text)
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                [f"{sys.prefix}/bin/caddy", "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")],
                env={"HOME": str(tmp_path)}, stderr=log,
            )  # fmt: skip  # a command in few lines
        try:
            until(lambda: listens(port), seconds=30, what="caddy")
            answer = requests.get(f"http://127.0.0.1:{port}{UNANSWERED}", headers={"Referer": NAMING}, timeout=10)
            for prefix in BEFORE_SECRETS:
                requests.get(f"http://127.0.0.1:{port}{prefix}MariaToken:1xXHuQ:G0Vs", timeout=10)
        finally:
            process.terminate()
            process.wait(20)

        logged = (tmp_path / "log").read_text()
        assert answer.status_code == HTTPStatus.BAD_GATEWAY
        assert all(f'"uri":"{path}"' in logged for path in ("/none", *BEFORE_SECRETS))
        assert "Maria" not in logged


class TestNginx:
    @pytest.fixture
    def proxy(self, program, tmp_path, web):
        """nginx with its file, but for ports and TLS. Its port."""
        port, text = free_port(), (PROXY / "nginx.conf").read_text()
        text = re.sub(r"^\t(listen|ssl_).*\n", "", text, flags=re.MULTILINE)
        text = text.replace("server {\n", f"server {{\n\tlisten 127.0.0.1:{port};\n", 1)
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{web}")
        head = f"pid {tmp_path}/pid;\nerror_log {tmp_path}/errors;\nevents {{}}\n"
        folders = "".join(
            f"{name}_temp_path {tmp_path}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(f"{head}http {{\n{folders}{text}}}\n")
        process = subprocess.Popen(
            [program("nginx"), "-p", tmp_path, "-e", "stderr", "-c", tmp_path / "nginx.conf", "-g", "daemon off;"]
        )
        until(lambda: listens(port), seconds=30, what="nginx")
        yield port
        process.terminate()
        process.wait(20)

    def test_says_how_and_from_where_a_client_came_whatever_the_client_says(self, proxy):
        forged = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.1", "Host": "rota.example.com"}

        answer = requests.get(f"http://127.0.0.1:{proxy}/", headers=forged, timeout=10)

        assert answer.text == "rota.example.com http 127.0.0.1"

    def test_does_not_log_whom_a_call_without_answer_names(self, proxy, tmp_path):
        answer = requests.get(f"http://127.0.0.1:{proxy}{UNANSWERED}", headers={"Referer": NAMING}, timeout=10)

        assert answer.status_code == HTTPStatus.BAD_GATEWAY
        assert "Maria" not in (tmp_path / "errors").read_text()


class TestRotaManage:
    @pytest.fixture
    def fake(self, tmp_path, monkeypatch):
        """A systemd-run that prints its arguments, one a line."""
        file = tmp_path / "systemd-run"
        file.write_text('#!/bin/sh\nfor each; do echo "$each"; done\n')
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def test_runs_the_command_as_the_service_and_shows_no_password(self, fake, monkeypatch):
        password = "hunter2"  # pragma: allowlist secret
        monkeypatch.setenv("ROTA_SUPERUSER_PASSWORD", password)

        done = subprocess.run(
            [BASE_DIR / "deploy" / "rota-manage", "create_integrator", "Loja do João"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=30,
        )  # fmt: skip  # a command in few lines

        given = done.stdout.splitlines()
        assert {"--pipe", "--uid=rota", "--setenv=ROTA_SUPERUSER_PASSWORD"} <= set(given)
        assert "--setenv=ROTA_MANAGE=rota-manage" in given
        assert "--property=EnvironmentFile=/etc/rota/environment" in given
        assert given[-4:] == ["/srv/rota/.venv/bin/python", "manage.py", "create_integrator", "Loja do João"]
        assert password not in done.stdout

    @pytest.mark.parametrize(("to_terminal", "given"), [(True, "--pty"), (False, "--pipe")])
    def test_gives_a_terminal_only_if_no_program_reads_the_answer(self, fake, to_terminal, given):
        terminal, inside = os.openpty()
        output, end = (terminal, inside) if to_terminal else os.pipe()

        subprocess.run(
            [BASE_DIR / "deploy" / "rota-manage", "bootstrap"], stdin=inside, stdout=end, check=True, timeout=30
        )

        told = b""
        while told.split()[-1:] != [b"bootstrap"]:  # a terminal passes on in parts what was written
            assert select([output], [], [], 10)[0]
            told += os.read(output, 10_000)
        lines = told.decode().split()
        assert [line for line in lines if line in {"--pty", "--pipe"}] == [given]
        for descriptor in {terminal, inside, output, end}:
            os.close(descriptor)


class TestDeploymentPage:
    def test_has_settings_that_redis_takes(self, program):
        port, page = free_port(), (BASE_DIR / "docs" / "deployment.md").read_text()
        (settings,) = re.findall(r"(?:^    (?:requirepass|save|appendonly|maxmemory\S*) .*\n)+", page, re.MULTILINE)
        server = subprocess.Popen(
            [program("redis-server"), "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert server.stdin is not None
        server.stdin.write(f"port {port}\nbind 127.0.0.1\n{settings}")
        server.stdin.close()
        until(lambda: listens(port), what="redis-server")

        with Redis(port=port, password="…") as client:
            found = client.config_get("maxmemory-policy", "maxmemory", "save")

        server.terminate()
        server.wait(10)
        assert found == {"maxmemory-policy": "noeviction", "maxmemory": str(256 * 1024**2), "save": ""}

    def test_names_the_version_of_uv_that_the_makefile_does(self):
        (version,) = re.findall(r"^UV_VERSION := (\S+)$", (BASE_DIR / "Makefile").read_text(), re.MULTILINE)

        assert f"pip install uv=={version}\n" in (BASE_DIR / "docs" / "deployment.md").read_text()
