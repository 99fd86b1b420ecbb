"""What a request asks for at a drop-off with the optional keys."""

import pytest

from delivery.models import Delivery, DropoffOptions
from delivery.payload import Options
from tests.delivery.proofs import asking_for
from tests.factories import DeliveryFactory

ASKED = Options(instructions="Ring twice", email="ana@example.com", needs_photo=True, has_pin=True)


@pytest.mark.django_db
class TestRequestWithOptions:
    @pytest.mark.parametrize(("number", "pin"), [(7, "0007"), (9999, "9999")])
    def test_keeps_them_at_their_stops(self, monkeypatch, number, pin):
        monkeypatch.setattr("delivery.actions.deliveries.secrets.randbelow", lambda most: min(number, most - 1))
        delivery = asking_for(Options(), ASKED, Options(needs_photo=True))

        kept, without_pin = DropoffOptions.objects.order_by("pk")
        assert (kept.stop.delivery, kept.stop.label) == (delivery, "C")
        assert (kept.instructions, kept.contact_email, kept.needs_photo) == ("Ring twice", "ana@example.com", True)
        assert kept.pin == pin
        assert kept.pin not in kept.pin_ciphertext
        assert without_pin.pin == ""

    def test_writes_no_rows_on_the_plain_path(self):
        DeliveryFactory.create()

        assert Delivery.objects.count() == 1
        assert not DropoffOptions.objects.exists()
