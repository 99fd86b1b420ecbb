"""The page of the app, its manifest and its service worker, which phones keep."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from django.conf import settings

from delivery.drivers import shell
from delivery.lifecycle import FailureCode
from tests.delivery.drivers.phones import phone

FOLDER = settings.BASE_DIR / "delivery" / "static" / "driver_app"
COMMON = settings.BASE_DIR / "common" / "static" / "offline"


def worker(client, language="en"):
    """What the service worker is told: version, shell and files."""
    text = client.get("/driver/sw.js", headers={"accept-language": language}).content.decode()
    return json.loads(text.partition("self.rota = ")[2].partition(";\n")[0])


class TestShell:
    @pytest.mark.django_db
    def test_is_the_same_with_and_without_a_session(self, client):
        ana = phone(name="Ana Lima")

        assert ana.get("").content == client.get("/driver/", headers={"accept-language": "en"}).content

    def test_has_each_part_once(self, client):
        ids = re.findall(r' id="([^"]+)"', client.get("/driver/").content.decode())

        assert [each for each in set(ids) if ids.count(each) > 1] == []

    def test_loads_every_module_at_once(self, client):
        page = client.get("/driver/").content.decode()

        modules = {f"{folder.name}/{path.name}" for folder in (FOLDER, COMMON) for path in folder.glob("*.js")}
        preloaded = set(re.findall(r'modulepreload" href="/static/([^"]+)"', page))
        assert preloaded == modules - {"driver_app/worker.js", "offline/worker.js"}

    def test_shows_five_reasons_of_a_failure_and_unfolds_the_others(self, client):
        first, others = client.get("/driver/").content.decode().split('<details class="others">')

        shown, folded = (re.findall(r'name="code" value="(\w+)"', part) for part in (first, others))
        assert shown == ["ABSENT", "REFUSED", "ADDRESS_NOT_FOUND", "ADDRESS_INCOMPLETE", "CLOSED"]
        assert {*shown, *folded} == {*FailureCode}

    @pytest.mark.parametrize(
        ("language", "heading"), [("en", "You are off duty"), ("pt-br", "Você está fora de serviço")]
    )
    def test_is_in_the_language_of_the_phone(self, client, language, heading):
        page = client.get("/driver/", headers={"accept-language": language}).content.decode()

        assert heading in page
        assert f'<html lang="{language}">' in page


class TestManifest:
    def test_names_pages_and_icons_that_exist(self, client):
        response = client.get("/driver/manifest.webmanifest")

        manifest = response.json()
        assert response.headers["Content-Type"] == "application/manifest+json"
        assert (manifest["start_url"], manifest["scope"]) == ("/driver/", "/driver/")
        assert [(icon["sizes"], icon["purpose"]) for icon in manifest["icons"]] == [
            ("192x192", "any"), ("512x512", "any"), ("512x512", "maskable"),
        ]  # fmt: skip
        for icon in manifest["icons"]:
            header = (settings.BASE_DIR / "delivery" / icon["src"].lstrip("/")).read_bytes()[:24]
            size = int.from_bytes(header[16:20]), int.from_bytes(header[20:24])  # of a PNG
            assert "{}x{}".format(*size) == icon["sizes"]


class TestWorker:
    def test_keeps_the_shell_and_every_file(self, client):
        told = worker(client)

        assert told["shell"] == "/driver/"
        own = {f"{folder.name}/{path.name}" for folder in (FOLDER, COMMON) for path in folder.iterdir()}
        kept = own - {"driver_app/worker.js", "offline/worker.js"} | {
            "panel/colours.css",
            "panel/theme.js",
            "panel/old_browsers.js",
        }
        assert set(told["files"]) == {f"/static/{name}" for name in kept}

    def test_has_a_version_of_each_language(self, client):
        english, portuguese = worker(client)["version"], worker(client, "pt-br")["version"]

        assert english != portuguese
        assert worker(client)["version"] == english

    @pytest.mark.parametrize("name", ["queue.js", "worker.js", "app.css"])
    def test_has_another_version_when_a_file_changes(self, client, monkeypatch, tmp_path, name):
        before = worker(client)["version"]
        copy = shutil.copytree(FOLDER, tmp_path / "driver_app")
        with (copy / name).open("a") as file:
            file.write("\n")
        monkeypatch.setattr(shell, "APP", replace(shell.APP, folder=copy))

        assert worker(client)["version"] != before
