"""Dockerfile and compose.yaml, examined by the programs that read them. No container is built here."""

import os
import re
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
import yaml

from config.env import BASE_DIR
from config.processes import commands
from tests.ports import free_port

COMPOSE = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OWN = [name for name, service in SERVICES.items() if service["image"].startswith("${ROTA_IMAGE")]


def run(*command, cwd=BASE_DIR, **environment):
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, check=False, capture_output=True, text=True, timeout=50
    )


class TestDockerfile:
    def test_passes_the_linter(self):
        result = run(f"{sys.prefix}/bin/hadolint", "Dockerfile")

        assert (result.stdout, result.returncode) == ("", 0)

    def test_gets_every_package_and_nothing_secret(self):
        contracts = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["tool"]["importlinter"]
        lines = (BASE_DIR / ".dockerignore").read_text().splitlines()
        included = {line[1:] for line in lines if line.startswith("!")}

        assert "*" in lines
        assert {*contracts["root_packages"]} - {"dev"} <= included
        assert not {".env", ".git", "dev", "var", "tests"} & included
        assert all((BASE_DIR / name).exists() for name in included)

    def test_ends_as_a_user_without_rights(self):
        text = (BASE_DIR / "Dockerfile").read_text()

        assert re.findall(r"^USER (\S+)$", text, re.MULTILINE) == ["10001:10001"]
        assert text.index("USER 10001") > text.rindex("RUN ")


class TestCompose:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "compose.yaml").write_text((BASE_DIR / "compose.yaml").read_text())
        (tmp_path / ".env").write_text(
            (BASE_DIR / ".env.example").read_text()
            + "POSTGRES_PASSWORD=abc\nREDIS_PASSWORD=def\nALLOWED_HOSTS=rota.example.com\n"
        )
        return tmp_path

    def test_is_accepted(self, program, folder):
        result = run(program("docker-compose"), "config", cwd=folder)

        assert result.returncode == 0, result.stderr
        web = yaml.safe_load(result.stdout)["services"]["web"]
        url = "postgres://rota:abc@postgres:5432/rota"  # pragma: allowlist secret
        assert web["environment"]["DATABASE_URL"] == url
        assert web["depends_on"]["migrate"]["condition"] == "service_completed_successfully"

    def test_is_refused_without_a_password(self, program, folder):
        (folder / ".env").write_text("ALLOWED_HOSTS=rota.example.com\nREDIS_PASSWORD=def\n")

        result = run(program("docker-compose"), "config", cwd=folder)

        assert result.returncode != 0
        assert "POSTGRES_PASSWORD" in result.stderr

    def test_starts_every_process(self):
        started = [SERVICES[name].get("command", ["python", "-m", "config.processes", "web"]) for name in OWN]

        assert sorted(OWN) == sorted(["migrate", *commands(8000)])
        for name in commands(8000):
            assert ["python", "-m", "config.processes", name] in started

    def test_switches_no_check_off(self):
        """`docker compose up --wait` takes a check that is switched off for a failure (docker/compose, issue 13522)."""
        switched_off = [name for name, service in SERVICES.items() if service.get("healthcheck", {}).get("disable")]

        assert switched_off == []
        assert "HEALTHCHECK" not in (BASE_DIR / "Dockerfile").read_text()  # it would be that of worker and beat too

    def test_pins_its_images(self):
        images = [service["image"] for name, service in SERVICES.items() if name not in OWN]

        assert [image for image in images if not re.search(r":[\w.-]*\d[\w.-]*$", image)] == []

    @pytest.mark.parametrize("name", OWN)
    def test_gives_the_service_no_rights(self, name):
        service = SERVICES[name]

        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "ports" not in service


class TestHealthcheck:
    @pytest.fixture
    def asked(self):
        """A web server that answers 200 at /healthz only. Yields its port and the hosts it was asked for."""
        hosts = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                hosts.append(self.headers["Host"])
                self.send_response(200 if self.path == "/healthz" else 503)
                self.end_headers()
                self.wfile.write(b'{"status": "unready"}')

            def log_message(self, *_arguments):
                """Nothing to standard error."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, hosts
        server.shutdown()
        thread.join()
        server.server_close()

    def check(self, port, *arguments):
        hosts = ".example.com, b.example.com"
        done = run(sys.executable, "deploy/healthcheck.py", *arguments, PORT=str(port), ALLOWED_HOSTS=hosts)
        return done.returncode, done.stdout

    def test_passes_while_the_server_answers(self, asked):
        port, hosts = asked

        assert self.check(port) == (0, "")
        assert hosts == ["example.com"]

    def test_fails_with_the_answer_if_the_server_is_unready(self, asked):
        assert self.check(asked[0], "/readyz") == (1, '{"status": "unready"}\n')

    def test_fails_without_a_server(self):
        assert self.check(free_port()) == (1, "")
