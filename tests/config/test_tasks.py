"""What beat sends, and the periodic work that belongs to no area."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from config import tasks
from config.env import BASE_DIR


def sessions(ages):
    """A session for each age: how long ago it ended."""
    Session.objects.bulk_create(
        Session(session_key=f"{number}", session_data="", expire_date=timezone.now() - age)
        for number, age in enumerate(ages)
    )


def test_every_task_of_the_schedule_is_one_that_workers_know():
    """In a process of its own, which has imported nothing but what a worker imports."""
    known = (
        "from config import celery_app as app; app.loader.import_default_modules();"
        "print({entry['task'] for entry in app.conf.beat_schedule.values()} - set(app.tasks))"
    )

    result = subprocess.run(
        [sys.executable, "-c", known], cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=50
    )

    assert (result.returncode, result.stdout.strip()) == (0, "set()"), result.stderr


@pytest.mark.django_db
class TestClearSessions:
    def test_deletes_those_that_have_expired(self):
        sessions([timedelta(seconds=1), timedelta(days=1), -timedelta(hours=1)])

        tasks.clear_sessions()

        assert list(Session.objects.values_list("session_key", flat=True)) == ["2"]

    @pytest.mark.parametrize(("expired", "batches"), [(0, 1), (1, 1), (2, 2), (5, 3)])
    def test_does_so_in_batches(self, monkeypatch, django_assert_num_queries, expired, batches):
        monkeypatch.setattr(tasks, "_BATCH", 2)
        sessions([timedelta(days=1)] * expired)

        with django_assert_num_queries(batches):
            tasks.clear_sessions()

        assert not Session.objects.exists()

    def test_leaves_people_logged_in(self, admin_user):
        browser = Client()
        browser.force_login(admin_user)

        tasks.clear_sessions()

        assert browser.get("/panel/").status_code == 200
