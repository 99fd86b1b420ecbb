"""The worker that copies streets around the pickup points, beside others and through interruptions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import DispatchRules
from delivery.streets import actions, copying, work
from delivery.streets.models import Choice, CopyState, Streets
from tests.delivery.streets.conftest import PLACE
from tests.factories import IntegratorFactory, PickupPointFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(server, settings, monkeypatch):
    settings.MAP_SOURCE_URL = server.url
    settings.WEBHOOK_ALLOW_LOOPBACK = True
    monkeypatch.setattr(copying, "_RANGE_BYTES", 4096)
    monkeypatch.setattr(copying, "_RANGES_AT_ONCE", 1)
    monkeypatch.setattr("delivery.streets.ranges._PAUSES", ())
    return server


@pytest.fixture
def streets(map_file, server):
    """Chosen to be copied, around one pickup point."""
    PickupPointFactory.create(integrator=IntegratorFactory.create(), latitude=PLACE[0], longitude=PLACE[1])
    actions.choose(Choice.COPY, by="user sofia")
    return Streets.objects.get()


class TestCopyDue:
    def test_copies_and_says_how_far_it_is(self, streets, server, map_file):
        work.copy_due()

        streets.refresh_from_db()
        assert map_file.exists()
        assert (streets.state, streets.percent, streets.source) == (CopyState.DONE, 100, server.url)
        assert streets.total_bytes == streets.copied_bytes > 0
        assert streets.leased_until is None

    def test_does_nothing_until_it_is_chosen_and_once_it_is_done(self, streets, server):
        for state in (CopyState.NEVER, CopyState.DONE, CopyState.FAILED, CopyState.STOPPED):
            Streets.objects.update(state=state)

            work.copy_due()

        assert server.asked == []

    def test_leaves_it_to_the_worker_that_is_at_it(self, streets, server):
        Streets.objects.update(state=CopyState.COPYING, leased_until=timezone.now() + timedelta(minutes=1))

        work.copy_due()

        assert server.asked == []

    def test_goes_on_for_a_worker_that_is_gone(self, streets, map_file):
        Streets.objects.update(state=CopyState.COPYING, leased_until=timezone.now() - timedelta(seconds=1))

        work.copy_due()

        assert map_file.exists()

    def test_goes_on_after_the_process_was_stopped(self, streets, server, map_file):
        work.copy_due(is_stopping=lambda: True)
        streets.refresh_from_db()
        stopped = streets.state, streets.leased_until, map_file.exists()

        work.copy_due()

        assert stopped == (CopyState.COPYING, None, False)
        assert map_file.exists()

    def test_ends_when_a_person_stops_it(self, streets, monkeypatch, map_file):
        def places():
            actions.stop()
            return actions.places()

        monkeypatch.setattr(work, "places", places)

        work.copy_due()

        streets.refresh_from_db()
        assert (streets.state, map_file.exists()) == (CopyState.STOPPED, False)

    def test_keeps_the_reason_for_a_failure(self, streets, server):
        server.instead = lambda _number, handler: handler.answer(404) or True

        work.copy_due()

        streets.refresh_from_db()
        assert (streets.state, streets.error) == (CopyState.FAILED, "map_source_missing")
        assert streets.reason

    def test_says_so_where_it_may_not_write(self, streets, map_file):
        map_file.parent.parent.joinpath("data").write_text("a file in the folder's place")

        work.copy_due()

        streets.refresh_from_db()
        assert streets.error == "map_not_written"


class TestChoose:
    def test_turns_openstreetmap_on_and_off(self):
        found = []
        for choice in (Choice.OPENSTREETMAP, Choice.NONE):
            actions.choose(choice, by="user sofia")
            found.append(DispatchRules.objects.get().streets_from_openstreetmap)

        assert found == [True, False]

    def test_again_while_it_copies_leaves_it_as_it_is(self, streets):
        until = timezone.now() + timedelta(minutes=1)
        Streets.objects.update(state=CopyState.COPYING, leased_until=until, total_bytes=10, copied_bytes=5)

        actions.choose(Choice.COPY, by="user sofia")

        streets.refresh_from_db()
        assert (streets.state, streets.leased_until, streets.copied_bytes) == (CopyState.COPYING, until, 5)

    def test_another_ends_the_copying(self, streets):
        actions.choose(Choice.NONE, by="user sofia")

        streets.refresh_from_db()
        assert (streets.choice, streets.state) == (Choice.NONE, CopyState.STOPPED)


def test_places_are_those_of_pickup_points_in_use_and_near_ones_once(db):
    integrator = IntegratorFactory.create()
    for latitude, active in ((-23.5501, True), (-23.5502, True), (-22.9, True), (-3.7, False)):
        PickupPointFactory.create(integrator=integrator, latitude=latitude, longitude=-46.63, active=active)

    assert [point.latitude for point in actions.places()] == [-23.55, -22.9]
