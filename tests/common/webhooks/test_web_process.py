"""What a web process imports to record an event."""

import os
import subprocess
import sys

from config.env import BASE_DIR

_WEB_PROCESS = """
import sys
import config.server.rsgi
import config.urls
from common.workers import wake_up
from delivery.webhooks.outbox import OUTBOX
wake_up.send(OUTBOX.task)
print(*sorted({"aiohttp", "apprise", "common.webhooks.sender", "delivery.tasks"} & set(sys.modules)))
"""


class TestWebProcess:
    def test_wakes_a_worker_without_importing_what_sends(self):
        result = subprocess.run(
            [sys.executable, "-c", _WEB_PROCESS],
            cwd=BASE_DIR,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            check=False,
        )

        assert result.returncode == 0, result.stderr
        assert result.stdout.strip() == ""
        assert "No worker was woken" not in result.stderr
