"""The environment of the tests is theirs, whatever the caller's."""

import os
import re
import subprocess
import sys

from config.env import BASE_DIR
from config.variables import VARIABLES
from tests.servers import CLEARED, SECRETS, SET

_READ = re.compile(r'(?:\benv\.\w+\(|os\.environ(?:\.get\(|\.setdefault\(|\[)|_required\()"([A-Z_0-9]+)"')
# Where the servers of the tests and their data are.
_LEFT = {"DATABASE_URL", "REDIS_URL", "DATA_DIR"}


def test_every_variable_that_is_read_is_set_or_cleared():
    packages = (
        "access",
        "common",
        "config",
        "delivery",
        "driver_app",
        "integration",
        "mail",
        "panel",
        "privacy",
        "tracking",
    )
    paths = [BASE_DIR / "manage.py", *(path for name in packages for path in (BASE_DIR / name).rglob("*.py"))]
    read = {name for path in paths for name in _READ.findall(path.read_text())}

    assert {"OFFER_TTL", "SECRET_KEY", "WEB_THREADS"} <= read
    assert read - CLEARED - SECRETS - set(SET) == _LEFT
    assert read == {*VARIABLES, "DJANGO_SETTINGS_MODULE"}


def test_a_hostile_environment_changes_no_setting():
    hostile = {
        "LOG_LEVEL": "ERROR",
        "REQUIRE_TWO_FACTOR": "1",
        "TIME_ZONE": "Asia/Tokyo",
        "SECRET_KEY": "x",
        "PORT": "x",
    }
    code = (
        "import tests.servers; from django.conf import settings as s;"
        "print(s.LOGGING['root']['level'], s.REQUIRE_TWO_FACTOR, s.TIME_ZONE, len(s.SECRET_KEY) > 50)"
    )

    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=BASE_DIR,
        env={**os.environ, **hostile},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert result.stdout == "WARNING False America/Sao_Paulo True\n", result.stderr
