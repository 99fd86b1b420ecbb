"""GET /api/photos/{signed}."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import proofs
from delivery.models import ProofPhoto
from tests.factories import DeliveryFactory
from tests.photos import photo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("photo_folder")]


@pytest.fixture
def kept():
    delivery, now = DeliveryFactory.create(collected=True), timezone.now()
    values = {"upload": delivery.pk, "delivery": delivery.pk, "point": "B", "content": photo()}
    return proofs.add(driver=delivery.driver, taken_at=now, at=now, **values)[0]


class TestPhoto:
    def test_is_shown_to_everybody_who_has_the_address(self, client, kept, photo_folder):
        answer = client.get(kept.path)

        assert answer.status_code == 200
        assert answer.content == (photo_folder / kept.name).read_bytes()

    def test_is_shown_as_a_photo_and_nothing_else(self, client, kept):
        headers = client.get(kept.path).headers

        assert headers["Content-Type"] == "image/jpeg"
        assert headers["Content-Disposition"] == 'inline; filename="photo.jpg"'
        assert headers["Cache-Control"] == "no-store, private"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].endswith("; sandbox")

    def test_is_not_found_after_an_hour(self, client, kept, monkeypatch):
        later = timezone.now() + timedelta(minutes=61)
        path = kept.path
        monkeypatch.setattr("django.core.signing.time.time", later.timestamp)

        answer = client.get(path)

        assert (answer.status_code, answer.json()["code"]) == (404, "photo_not_found")

    def test_is_not_found_at_another_address_nor_by_its_id(self, client, kept):
        changed = [kept.path[:-1], f"{kept.path}x", kept.path + "x" * 3000]

        for path in (*changed, f"/api/photos/{kept.pk}", f"/api/photos/{kept.pk.hex}"):
            assert client.get(path).status_code == 404

    def test_is_not_found_once_it_is_deleted(self, client, kept):
        path = kept.path
        proofs.files().delete(kept.name)

        assert client.get(path).status_code == 404
        ProofPhoto.objects.all().delete()
        assert client.get(path).status_code == 404
