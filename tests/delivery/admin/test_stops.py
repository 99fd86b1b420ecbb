"""What a delivery's page in the admin shows of its stops beside the table."""

import re
from uuid import uuid4

import pytest
from django.utils import timezone

from delivery.actions import proofs, receivers
from delivery.actions.proofs import Proof
from delivery.models import Delivery
from delivery.payload import Options
from tests.delivery.admin.moving import page
from tests.delivery.proofs import asking_for, pin_of
from tests.factories import BY
from tests.photos import photo


@pytest.fixture
def asked(db):
    return asking_for(Options(instructions="Ring twice", has_pin=True, needs_photo=True), Options(), collected=True)


def section(client, delivery):
    found = re.search(r'<section[^>]+id="stops".*?</section>', client.get(page(delivery)).content.decode(), re.DOTALL)
    assert found
    return found[0]


class TestStops:
    def test_show_what_was_asked_for_without_the_pin(self, dispatcher, asked):
        content = section(dispatcher, asked)

        assert "Ring twice" in content
        assert "one is asked for" in content
        assert pin_of(asked) not in content

    def test_have_a_link_to_copy_each(self, dispatcher, asked):
        addresses = receivers.addresses(list(asked.stops.all()), at=timezone.now()).values()

        assert re.findall(r'data-copy="(.*?)"', section(dispatcher, asked)) == list(addresses)

    def test_show_the_proof(self, dispatcher, asked, photo_folder):
        now, driver = timezone.now(), Delivery.objects.select_related("driver").get(pk=asked.pk).driver
        assert driver is not None
        upload = uuid4()
        proofs.add(driver=driver, upload=upload, delivery=asked.pk, point="B", content=photo(), taken_at=now, at=now)
        proof = Proof(received_by="Dona Rita", pin=pin_of(asked), photos=(upload,))
        proofs.deliver(delivery=asked, point="B", proof=proof, by=BY, at=now)

        content = section(dispatcher, asked)

        (address,) = re.findall(r'src="(/api/photos/[^"]+)"', content)
        assert dispatcher.get(address)["Content-Type"] == "image/jpeg"
        assert "Dona Rita" in content
        assert "confirmed at" in content

    def test_show_nothing_to_a_member_of_staff_who_may_not_see_deliveries(self, client, asked, django_user_model):
        client.force_login(django_user_model.objects.create_user("ines", is_staff=True))

        assert client.get(page(asked)).status_code == 403
