"""A production start without its secrets fails, and says how to make them."""

import os
import subprocess
import sys

import pytest

from config.env import BASE_DIR

PRODUCTION = {
    "DATABASE_URL": "postgres://rota@127.0.0.1:1/rota",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "x" * 60,
    "CREDENTIALS_KEYS": "bm90LWEtcmVhbC1rZXktYnV0LW9mLTMyLWJ5dGVzISE=",
    "ALLOWED_HOSTS": "rota.example.com",
}


def load(**environment):
    """Read the settings in a process of their own."""
    keep = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    return subprocess.run(
        [sys.executable, "-c", "from django.conf import settings; print(settings.SESSION_COOKIE_SECURE)"],
        cwd=BASE_DIR,
        env={**keep, "DJANGO_SETTINGS_MODULE": "config.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class TestProduction:
    def test_starts_with_everything_set_and_is_strict(self):
        result = load(**PRODUCTION)

        assert (result.returncode, result.stdout.strip()) == (0, "True"), result.stderr

    @pytest.mark.parametrize("missing", ["SECRET_KEY", "CREDENTIALS_KEYS", "ALLOWED_HOSTS"])
    def test_refuses_without_a_secret_and_says_how_to_make_it(self, missing):
        result = load(**{**PRODUCTION, missing: ""})

        assert result.returncode != 0
        assert f"  {missing}: " in result.stderr

    def test_refuses_webhooks_to_loopback(self):
        result = load(**PRODUCTION, WEBHOOK_ALLOW_LOOPBACK="1")

        assert result.returncode != 0
        assert "embedded mode only" in result.stderr
