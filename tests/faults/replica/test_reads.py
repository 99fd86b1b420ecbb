"""What is read from the replica, and what from the primary."""

import os
import subprocess
import sys

import requests
from django.contrib.auth.models import User
from django.urls import reverse

from config.env import BASE_DIR
from dev import embedded
from tests.faults.replica.browser import Browser
from tests.faults.waiting import DEADLINE_SECONDS


class TestReplica:
    def test_answers_lists_reports_files_and_the_admin(self, browser, page_of, replica, end_delivery):
        pages = {
            "list": page_of("deliveries"),
            "file of the list": page_of("deliveries_export"),
            "report": page_of("report_deliveries"),
            "file of the report": page_of("report_deliveries_export"),
            "admin": reverse("admin:delivery_delivery_changelist"),
        }
        with replica.paused():
            delivery = end_delivery()
            shown = {name for name, path in pages.items() if delivery in browser.get(path)}
            single = browser.get(page_of("delivery", delivery))
        replica.catch_up()

        assert shown == set()
        assert delivery in single
        assert {name for name, path in pages.items() if delivery in browser.get(path)} == set(pages)

    def test_is_not_asked_by_somebody_who_has_just_changed_something(self, browser, other_browser, page_of, replica):
        with replica.paused():
            browser.post(page_of("tokens"), name="Token of the replica")
            own, others = browser.get(page_of("activity")), other_browser.get(page_of("activity"))

        assert "Token of the replica" in own
        assert "Token of the replica" not in others

    def test_does_not_say_what_a_person_may_see(self, web, account, page_of, replica):
        member = User.objects.create(username="replica-member")
        account.integrator.members.add(member)
        browser, pages = Browser(web, member), [page_of("deliveries"), page_of("report"), page_of("deliveries_export")]
        replica.catch_up()
        for page in pages:
            browser.get(page)
        with replica.paused():
            account.integrator.members.remove(member)
            statuses = [browser.status_of(page) for page in pages]

        assert statuses == [404, 404, 404]

    def test_does_not_answer_calls_of_the_api(self, web, account, replica, end_delivery):
        headers = {"Authorization": f"Bearer {account.clear_text}"}
        with replica.paused():
            delivery = end_delivery()
            answer = requests.get(f"{web.address}/api/deliveries", headers=headers, timeout=DEADLINE_SECONDS)

        assert answer.json()["data"][0]["deliveryId"] == delivery


def manage(*arguments, replica):
    """A command with this DATABASE_REPLICA_URL."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR, env={**os.environ, "DATABASE_REPLICA_URL": replica},
        check=False, capture_output=True, text=True, timeout=DEADLINE_SECONDS,
    )  # fmt: skip  # one call


class TestConnection:
    def test_to_the_primary_is_refused(self):
        code = "from django.db import connections; connections['replica'].ensure_connection()"

        done = manage("shell", "--command", code, replica=f"{embedded.postgres_url()}?keepalives=1")

        assert done.returncode == 1
        assert "not in hot standby" in done.stderr


class TestMigrations:
    def test_are_for_the_primary(self, replica):
        done = manage("migrate", replica=replica.url)
        of_models = manage("makemigrations", "--check", replica=replica.url)

        assert (done.returncode, of_models.returncode) == (0, 0), done.stderr + of_models.stderr
        assert "No migrations to apply" in done.stdout
