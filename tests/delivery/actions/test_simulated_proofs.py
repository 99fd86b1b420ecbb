"""What simulated drivers bring from stops whose request asked for proof."""

import io
import logging

import pytest
from django.utils import timezone
from PIL import Image

from delivery.actions import proof_photos, simulated_proofs, simulations
from delivery.driver_errors import PhotosBusy
from delivery.models import ProofPhoto, Simulation, Stop, StopProof
from delivery.payload import Options
from tests.delivery.proofs import photo_folder
from tests.delivery.simulated import advance, history, request

__all__ = ["photo_folder"]
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

    def test_takes_a_photo_that_shows_the_order(self):
        delivery = request(at=timezone.now(), options=ASKED, stops=2)
        advance()
        photos = [proof_photos.read(photo) or b"" for photo in ProofPhoto.objects.filter(stop__delivery=delivery)]

        assert photos[0] != photos[1]
        assert {Image.open(io.BytesIO(photo)).size for photo in photos} == {(800, 600)}

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

    def test_tries_again_when_no_photo_can_be_taken(self, monkeypatch, caplog):
        delivery = request(at=timezone.now(), options=ASKED, stops=1)
        add = proof_photos.add
        answers = iter([PhotosBusy("Other photos are being read.")] * 100)
        monkeypatch.setattr(proof_photos, "add", lambda **_values: _raise(next(answers)))
        caplog.set_level(logging.WARNING)
        while not Simulation.objects.get().failures:
            simulations.advance_due(at=Simulation.objects.next_due() or timezone.now())
        assert Stop.objects.get().status == "COLLECTED"

        monkeypatch.setattr(proof_photos, "add", add)
        advance()

        assert Stop.objects.get().status == "DELIVERED"
        assert f"has no photo of a stop of delivery {delivery.pk}" in caplog.text

    def test_takes_each_photo_once(self):
        request(at=timezone.now(), options=ASKED, stops=1)
        while not ProofPhoto.objects.exists():
            simulations.advance_due(at=Simulation.objects.next_due() or timezone.now())
        stop = Stop.objects.select_related("delivery__driver").get()

        simulated_proofs.take_photo(stop, at=timezone.now())

        assert ProofPhoto.objects.count() == 1


def _raise(error):
    raise error
