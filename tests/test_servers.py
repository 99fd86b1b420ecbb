"""The environment of the tests is theirs, whatever the caller's."""

import os
import re
import subprocess
import sys

from config.env import BASE_DIR
from config.environment import VARIABLES
from tests.servers import CLEARED, SECRETS, SET
from tests.sources import PACKAGES

_READ = re.compile(r'os\.environ(?:\.get\(|\.setdefault\(|\[)"([A-Z_0-9]+)"')
# Where the servers of the tests and their data are.
_LEFT = {"DATABASE_URL", "REDIS_URL", "DATA_DIR"}


def test_every_variable_that_is_read_is_set_or_cleared():
    paths = [BASE_DIR / "manage.py", *(path for name in PACKAGES for path in (BASE_DIR / name).rglob("*.py"))]
    read = {name for path in paths for name in _READ.findall(path.read_text())}

    assert "DATA_DIR" in read
    assert read <= {*VARIABLES, "CELERY_SKIP_CHECKS", "DJANGO_SETTINGS_MODULE", "PYTHONWARNINGS"}
    assert set(VARIABLES) - CLEARED - SECRETS - set(SET) == _LEFT


def test_a_hostile_environment_changes_no_setting():
    hostile = {
        "LOG_LEVEL": "ERROR",
        "TRUSTED_PROXIES": "7",
        "TIME_ZONE": "Asia/Tokyo",
        "SECRET_KEY": "x",
        "PORT": "x",
    }
    code = (
        "import tests.servers; from django.conf import settings as s;"
        "print(s.LOGGING['root']['level'], s.TRUSTED_PROXIES, s.TIME_ZONE, len(s.SECRET_KEY) > 50)"
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

    assert result.stdout == "WARNING 0 America/Sao_Paulo True\n", result.stderr
