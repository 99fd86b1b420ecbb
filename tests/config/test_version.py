"""The version of this installation, and who is told it."""

import subprocess
import sys

import pytest

from config.env import BASE_DIR, VERSION
from config.monitoring import readiness
from tests.cases import in_turn


@pytest.mark.parametrize("argument", ["--version", "version"])
def test_is_printed_by_manage_in_any_environment(argument):
    done = subprocess.run(
        [sys.executable, "manage.py", argument],
        cwd=BASE_DIR, env={"SECRET_KEY": "", "PORT": "x"}, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{VERSION}\n", "")


def test_is_not_in_the_answer_of_readyz_which_is_for_everybody(client, monkeypatch):
    monkeypatch.setattr(readiness, "results", dict)

    assert client.get("/readyz").json() == {"status": "ready", "checks": {}}


class TestHeader:
    def test_is_for_staff(self, admin_client):
        assert admin_client.get("/admin/")["X-Rota-Version"] == VERSION

    def test_is_not_for_members_of_an_account(self, client, django_user_model):
        client.force_login(django_user_model.objects.create_user("maria"))

        assert "X-Rota-Version" not in client.get("/panel/")

    @in_turn("path", ["/account/login/", "/admin/", "/healthz", "/nowhere", "/api/request-delivery"])
    def test_is_not_for_strangers(self, client, db, path):
        assert "X-Rota-Version" not in client.get(path)
