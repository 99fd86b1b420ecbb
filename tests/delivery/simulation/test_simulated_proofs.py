"""What simulated drivers bring from stops whose request asked for proof."""

import io

import pytest
from django.utils import timezone
from PIL import Image

from delivery import photos
from delivery.actions import deliveries, proofs
from delivery.models import ProofPhoto, Stop, StopProof
from delivery.payload import Options
from delivery.simulation import simulated_driver, simulated_proofs
from tests.delivery.simulated import advance, history, request
from tests.factories import BY

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("photo_folder")]
ASKED = Options(needs_photo=True, has_pin=True)


class TestSimulatedDriver:
    def test_brings_photo_name_and_pin(self):
        delivery = request(at=timezone.now(), options=ASKED)

        advance()

        assert [name for name, _seconds in history(delivery)][-2:] == ["deliver B", "deliver C"]
        assert {(proof.received_by, proof.wrong_pins) for proof in StopProof.objects.all()} == {
            ("Simulated receiver", 0)
        }
        assert StopProof.objects.exclude(pin_confirmed_at=None).count() == 2
        assert [photo.stop.label for photo in ProofPhoto.objects.order_by("stop__index")] == ["B", "C"]

    def test_takes_the_same_photo_everywhere_without_a_file_or_the_encoder(self, monkeypatch, photo_folder):
        monkeypatch.setattr(photos, "encode", None)
        request(at=timezone.now(), options=ASKED, stops=2)

        advance()

        taken = ProofPhoto.objects.all()
        assert len(taken) == 2
        (content,) = {proofs.read(photo) for photo in taken}
        assert {(photo.width, photo.height) for photo in taken} == {Image.open(io.BytesIO(content or b"")).size}
        assert {photo.size for photo in taken} == {len(content or b"")}
        assert not photo_folder.exists()

    def test_photographs_what_could_not_be_delivered(self):
        request("sim-fail-1", at=timezone.now(), options=Options(needs_photo=True), stops=1)

        advance()

        assert Stop.objects.get().status == "FAILED"
        assert ProofPhoto.objects.count() == 1
        assert not StopProof.objects.exists()

    def test_brings_nothing_that_was_not_asked_for(self):
        request(at=timezone.now(), options=Options(instructions="Ring twice"))

        advance()

        assert not StopProof.objects.exists()
        assert not ProofPhoto.objects.exists()

    def test_takes_each_photo_once(self):
        now = timezone.now()
        delivery = request("sim-manual-1", at=now, options=ASKED, stops=1)
        simulated_driver.accept(delivery=delivery, by=BY, at=now)
        deliveries.collect(delivery=delivery, by=BY, at=now)
        stop = Stop.objects.select_related("delivery__driver").get()

        for _time in range(2):
            simulated_proofs.take_photo(stop, at=now)

        assert ProofPhoto.objects.count() == 1
