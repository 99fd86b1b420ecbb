"""An environment that production starts in. Nothing listens at its servers' port."""

import json
import subprocess
import sys

from config.env import BASE_DIR

ENVIRONMENT = {
    "DATABASE_URL": "postgres://rota@127.0.0.1:1/rota",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "not-a-secret-" * 5,  # pragma: allowlist secret
    # pragma: allowlist nextline secret  # reads 'not-a-real-key…'
    "CREDENTIALS_KEYS": "bm90LWEtcmVhbC1rZXktYnV0LW9mLTMyLWJ5dGVzISE=",
    "ALLOWED_HOSTS": "rota.example.com",
}


def settings_of(*expressions, module="config.settings", **environment):
    """Expressions of the settings `s`, in a process of production that imports the module."""
    values = f"json.dumps([{', '.join(expressions)}])"
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}, json; from django.conf import settings as s; print({values})"],
        cwd=BASE_DIR, env={"DJANGO_SETTINGS_MODULE": "config.settings", **ENVIRONMENT, **environment},
        capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
