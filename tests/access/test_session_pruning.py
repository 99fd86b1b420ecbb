"""Deleting sessions that have ended."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from access import tasks

pytestmark = pytest.mark.django_db


def sessions(ages):
    """A session for each age: how long ago it ended."""
    Session.objects.bulk_create(
        Session(session_key=f"{number}", session_data="", expire_date=timezone.now() - age)
        for number, age in enumerate(ages)
    )


class TestPrune:
    def test_deletes_sessions_that_have_expired(self):
        sessions([timedelta(seconds=1), timedelta(days=1), -timedelta(hours=1)])

        tasks.prune_sessions()

        assert list(Session.objects.values_list("session_key", flat=True)) == ["2"]

    @pytest.mark.parametrize(("expired", "batches"), [(0, 1), (1, 1), (2, 2), (5, 3)])
    def test_does_so_in_batches(self, monkeypatch, django_assert_num_queries, expired, batches):
        monkeypatch.setattr("access.sessions._BATCH", 2)
        sessions([timedelta(days=1)] * expired)

        with django_assert_num_queries(batches + 2):  # one for the clock, one for the lists, which are empty
            tasks.prune_sessions()

        assert not Session.objects.exists()

    def test_leaves_people_logged_in(self, log_in):
        browser = log_in()

        tasks.prune_sessions()

        assert browser.get("/panel/").status_code == 200
        assert UserSession.objects.count() == 1

    @pytest.mark.parametrize(("age", "left"), [(timedelta(hours=11, minutes=59), 1), (timedelta(hours=12), 0)])
    def test_deletes_the_addresses_of_sessions_that_have_ended(self, log_in, age, left):
        log_in()
        UserSession.objects.update(created_at=timezone.now() - age)

        tasks.prune_sessions()

        assert UserSession.objects.count() == left
