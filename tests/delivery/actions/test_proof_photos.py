"""Photos of stops: their files and rows, and how long both are kept."""

import os
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile

from delivery import photos
from delivery.actions import deliveries, proofs
from delivery.errors import InvalidPhoto, NotYourRoute, PhotosBusy, PhotoTooLate, StopNotFound, TooManyPhotos
from delivery.lifecycle import OnFailure
from delivery.models import ProofPhoto
from delivery.payload import Options
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, DriverFactory
from tests.overlapping import overlap
from tests.photos import photo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("photo_folder")]
NOW = datetime(2026, 11, 22, 1, 30, tzinfo=UTC)
TAKEN = NOW - timedelta(minutes=10)


@pytest.fixture
def delivery(db):
    return DeliveryFactory.create(collected=True, stops=2, at=NOW - timedelta(hours=1))


@pytest.fixture
def patient(monkeypatch):
    """Photos wait for each other as long as it takes."""
    monkeypatch.setattr(photos, "_WAIT_SECONDS", 60)


def add(delivery, /, *, driver=None, at=NOW, **changes):
    values = {
        "upload": uuid4(),
        "point": "B",
        "content": photo(),
        "taken_at": TAKEN,
        "delivery": delivery.pk,
        **changes,
    }
    return proofs.add(driver=driver or delivery.driver, at=at, **values)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


class TestAdd:
    def test_keeps_the_photo_of_the_stop(self, delivery, photo_folder):
        kept, is_new = add(delivery, point="C")

        assert is_new
        assert (kept.stop.label, kept.driver, kept.taken_at) == ("C", delivery.driver, TAKEN)
        assert names(photo_folder) == [f"2026-11-22/{kept.pk}.jpg"]
        assert (photo_folder / kept.name).stat().st_size == kept.size
        assert (photo_folder / kept.name).stat().st_mode & 0o777 == 0o600

    def test_refuses_it_for_now_while_the_folder_cannot_be_written_to(self, delivery, photo_folder, caplog):
        photo_folder.write_text("no folder")

        with pytest.raises(PhotosBusy) as refused:
            add(delivery)

        assert (refused.value.status, refused.value.retryable) == (503, True)
        assert not ProofPhoto.objects.exists()
        assert photo_folder.read_text() == "no folder"
        assert "A photo cannot be kept" in caplog.text

    def test_keeps_a_repeated_upload_once(self, delivery, photo_folder):
        upload = uuid4()

        first, second = add(delivery, upload=upload), add(delivery, upload=upload, content=b"other")

        assert (first[0].pk, True, False) == (second[0].pk, first[1], second[1])
        assert len(names(photo_folder)) == ProofPhoto.objects.count() == 1

    def test_keeps_uploads_of_two_drivers_with_one_id(self, delivery):
        other, upload = DeliveryFactory.create(collected=True, at=NOW - timedelta(hours=1)), uuid4()

        kept = [add(each, upload=upload) for each in (delivery, other)]

        assert [(photo.driver, is_new) for photo, is_new in kept] == [(delivery.driver, True), (other.driver, True)]

    @pytest.mark.django_db(transaction=True)
    def test_keeps_uploads_of_the_same_photo_at_once_once(self, delivery, photo_folder, at_once, patient):
        upload = uuid4()

        results = at_once(*[partial(add, delivery, upload=upload)] * 2)

        assert sorted(is_new for _photo, is_new in results) == [False, True]
        assert len(names(photo_folder)) == ProofPhoto.objects.count() == 1

    @pytest.mark.parametrize(
        ("taken_at", "kept"), [(NOW + timedelta(1), NOW), (NOW - timedelta(1), NOW - timedelta(hours=1))]
    )
    def test_trusts_no_clock_beyond_now_and_the_request(self, delivery, taken_at, kept):
        assert add(delivery, taken_at=taken_at)[0].taken_at == kept

    def test_takes_photos_of_a_route_for_a_day_after_its_end(self, delivery, photo_folder):
        for point in "BC":
            deliveries.deliver(delivery=delivery, point=point, by=BY, at=NOW)

        kept, _is_new = add(delivery, at=NOW + timedelta(hours=24))
        with pytest.raises(PhotoTooLate):
            add(delivery, at=NOW + timedelta(hours=24, microseconds=1))

        assert names(photo_folder) == [kept.name]
        # A phone sends it again until it has the answer.
        assert add(delivery, upload=kept.upload, at=NOW + timedelta(days=3)) == (kept, False)

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"driver": DriverFactory.create}, NotYourRoute),
            ({"delivery": uuid4}, NotYourRoute),
            ({"point": lambda: "A"}, StopNotFound),
            ({"point": lambda: "D"}, StopNotFound),
            ({"content": lambda: b"<script>"}, InvalidPhoto),
        ],
    )
    def test_refuses(self, delivery, photo_folder, changes, error):
        with pytest.raises(error):
            add(delivery, **{name: make() for name, make in changes.items()})

        assert not ProofPhoto.objects.exists()
        assert names(photo_folder) == []

    @pytest.mark.django_db(transaction=True)
    def test_refuses_more_photos_of_a_stop_than_are_kept(self, delivery, photo_folder, monkeypatch):
        monkeypatch.setattr(proofs, "MOST_PHOTOS", 2)
        add(delivery)

        _kept, refused = overlap(*[partial(add, delivery)] * 2)

        assert type(refused) is TooManyPhotos
        assert len(names(photo_folder)) == ProofPhoto.objects.count() == 2

    def test_takes_as_many_again_after_a_first_attempt(self, monkeypatch):
        retry = Options(on_failure=OnFailure.RETRY)
        delivery = asking_for(retry, collected=True, at=NOW - timedelta(hours=1))
        monkeypatch.setattr(proofs, "MOST_PHOTOS", 2)
        for _number in range(2):
            add(delivery, at=NOW - timedelta(minutes=5))
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=NOW)

        for _number in range(2):
            add(delivery, at=NOW + timedelta(minutes=5))
        with pytest.raises(TooManyPhotos):
            add(delivery, at=NOW + timedelta(minutes=5))

    def test_leaves_no_file_when_the_row_cannot_be_written(self, delivery, photo_folder, monkeypatch):
        def fail(*_args, **_options):
            raise RuntimeError

        monkeypatch.setattr(ProofPhoto, "save", fail)

        with pytest.raises(RuntimeError):
            add(delivery)

        assert names(photo_folder) == []


class TestPrune:
    def test_deletes_rows_and_files_of_days_that_are_no_longer_kept(self, delivery, photo_folder, settings):
        settings.PROOF_PHOTOS_KEPT = timedelta(days=90)
        old = add(delivery, at=NOW - timedelta(days=91))[0]
        kept = add(delivery, at=NOW - timedelta(days=90))[0]

        proofs.prune(at=NOW)

        assert list(ProofPhoto.objects.all()) == [kept]
        assert names(photo_folder) == [kept.name]
        assert not (photo_folder / old.name).parent.exists()

    def test_deletes_files_without_a_row_after_an_hour(self, delivery, photo_folder):
        kept = add(delivery)[0]
        for day, name, age in (
            ("2026-11-21", "lost.jpg", 3700), ("2026-11-21", ".part", 3700), ("2026-11-21", "under-way.jpg", 60),
            ("2026-11-20", "of two days ago.jpg", 3700), ("2026-11-22", "of today.jpg", 3700),
        ):  # fmt: skip  # a table
            path = photo_folder / day / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x")
            os.utime(path, (NOW.timestamp() - age,) * 2)

        proofs.prune(at=NOW)

        assert names(photo_folder) == ["2026-11-21/under-way.jpg", kept.name]

    def test_has_nothing_to_do_before_the_first_photo(self, photo_folder):
        proofs.prune(at=NOW)

        assert not photo_folder.exists()

    def test_goes_on_where_a_deletion_was_interrupted(self, delivery, photo_folder):
        old = add(delivery, at=NOW - timedelta(days=200))[0]
        proofs.files().delete(old.name)

        proofs.prune(at=NOW)

        assert not ProofPhoto.objects.exists()


class TestFiles:
    def test_are_absent_when_writing_them_is_interrupted(self, photo_folder):
        class Interrupted(ContentFile[bytes]):
            def chunks(self, chunk_size=None):
                yield b"start"
                raise BrokenPipeError

        with pytest.raises(BrokenPipeError):
            proofs.files().save("2026-11-22/a.jpg", Interrupted(b"x"))

        assert names(photo_folder) == []
