"""The question where maps have their streets from: who is asked, when, and what the page says."""

import pytest
from django.urls import reverse

from delivery.models import DispatchRules, PickupPoint
from delivery.streets.models import Choice, CopyState, Streets
from tests.factories import IntegratorFactory, PickupPointFactory
from tests.panel import archives

PAGE, PROGRESS, WORK = reverse("panel:streets"), reverse("panel:streets_progress"), reverse("panel:work")


@pytest.fixture
def superuser(as_role):
    return as_role("superuser")


@pytest.fixture
def pickup(db):
    return PickupPointFactory.create(integrator=IntegratorFactory.create())


@pytest.fixture
def no_file(settings, tmp_path):
    settings.MAP_FILE = tmp_path / "map.pmtiles"
    return settings.MAP_FILE


@pytest.mark.usefixtures("no_file")
class TestQuestion:
    def test_is_asked_after_the_log_in_until_a_superuser_has_chosen(self, superuser):
        before = superuser.get(WORK)

        superuser.post(PAGE, {"choice": "none"})

        assert before["Location"] == PAGE
        assert superuser.get(WORK)["Location"] == reverse("panel:board")

    @pytest.mark.parametrize("role", ["dispatcher", "account staff"])
    def test_is_for_superusers_alone(self, as_role, role):
        browser = as_role(role)

        assert browser.get(WORK)["Location"] != PAGE
        assert {browser.get(PAGE).status_code, browser.post(PAGE, {"choice": "none"}).status_code} == {403}
        assert not Streets.objects.exists()

    def test_is_not_asked_where_maps_have_streets(self, superuser, rules):
        rules(streets_from_openstreetmap=True)

        assert superuser.get(WORK)["Location"] == reverse("panel:board")

    def test_says_the_licence_and_the_bound_of_the_size(self, superuser, pickup):
        text = superuser.get(PAGE).content.decode()

        assert "OpenStreetMap contributors" in text
        assert "https://www.openstreetmap.org/copyright" in text
        assert "1 GB at most" in text


@pytest.mark.usefixtures("no_file")
class TestChoice:
    def test_to_copy_is_taken_up_by_a_worker(self, superuser, pickup, django_capture_on_commit_callbacks, monkeypatch):
        sent: list[str] = []
        monkeypatch.setattr("common.workers.wake_up.send", sent.append)

        with django_capture_on_commit_callbacks(execute=True):
            superuser.post(PAGE, {"choice": "copy"})

        assert Streets.objects.get().state == CopyState.WAITING
        assert sent == ["delivery.copy_streets"]

    def test_to_copy_needs_a_pickup_point(self, superuser):
        PickupPoint.objects.update(active=False)

        superuser.post(PAGE, {"choice": "copy"})

        assert not Streets.objects.exists()
        assert "There is no pickup point in use yet." in superuser.get(PAGE).content.decode()

    def test_of_openstreetmap_holds_for_all_maps(self, superuser):
        superuser.post(PAGE, {"choice": "openstreetmap"})

        assert DispatchRules.objects.get().streets_from_openstreetmap

    def test_on_a_map_is_the_same_choice(self, superuser):
        superuser.post(reverse("panel:map_streets"))

        assert Streets.objects.get().choice == Choice.OPENSTREETMAP
        assert DispatchRules.objects.get().streets_from_openstreetmap

    @pytest.mark.parametrize("sent", ["", "else", "COPY", "copy\0"])
    def test_of_another_kind_changes_nothing(self, superuser, pickup, sent):
        assert superuser.post(PAGE, {"choice": sent}).status_code == 302

        assert not Streets.objects.exists()


@pytest.mark.usefixtures("no_file")
class TestProgress:
    @pytest.mark.parametrize(
        ("values", "said", "asks_again"),
        [
            ({"state": "waiting"}, "being looked for", True),
            (
                {"state": "copying", "total_bytes": 40 * 1024**2, "copied_bytes": 10 * 1024**2},
                "10.0\xa0MB of 40.0\xa0MB",
                True,
            ),
            ({"state": "failed", "error": "map_no_room"}, "The disk has no room", False),
            ({"state": "stopped"}, "was stopped", False),
            ({"state": "done", "total_bytes": 1024**2}, "every web server", False),  # by a worker elsewhere
        ],
    )
    def test_says_how_far_it_is(self, superuser, values, said, asks_again):
        Streets.objects.create(choice=Choice.COPY, **values)

        text = superuser.get(PROGRESS).content.decode()

        assert said in text
        assert ("every 2s" in text) is asks_again

    def test_says_that_it_is_done(self, superuser, no_file):
        archives.write(no_file, -23.5, -46.6, zooms=range(1))
        Streets.objects.create(choice=Choice.COPY, state=CopyState.DONE, total_bytes=1024**2)

        assert "Copied: 1.0\xa0MB of streets." in superuser.get(PROGRESS).content.decode()

    def test_can_be_stopped(self, superuser):
        Streets.objects.create(choice=Choice.COPY, state=CopyState.COPYING)

        superuser.post(PAGE, {"choice": "stop"})

        assert Streets.objects.get().state == CopyState.STOPPED
