"""Photos that phones upload, and moves that name them."""

from uuid import uuid4

import pytest

from common.observability.metrics import REGISTRY
from common.pages import attempts
from delivery.drivers.work import AT_ONCE, REFUSED
from delivery.models import ProofPhoto, Stop, StopProof
from delivery.payload import Options
from tests.delivery.drivers.phones import Phone, move, now, phone
from tests.delivery.proofs import asking_for, first_stop, pin_of, wrong_pin_of
from tests.photos import photo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("photo_folder")]


@pytest.fixture
def delivery(ana):
    return asking_for(Options(needs_photo=True, has_pin=True), collected=True, driver=ana.driver)


def send(phone, delivery, trigger="deliver", **proof):
    return phone.post("moves/", {"sentAt": now(), "moves": [move(delivery, trigger, point="B", **proof)]})


def unreadable_photos():
    return REGISTRY.get_sample_value("rota_unreadable_items_total", {"list": "photos"}) or 0


class TestUpload:
    def test_keeps_a_photo_once(self, ana, delivery):
        upload = uuid4()

        first, second = (ana.upload(photo(), delivery, upload=upload) for _time in range(2))

        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json() == {"id": str(upload)}
        assert ProofPhoto.objects.get().stop == first_stop(delivery)

    def test_takes_more_than_other_bodies_may_have(self, ana, delivery):
        content = photo() + b"\0" * (8 * 1024 * 1024 - len(photo()))

        assert ana.upload(content, delivery).status_code == 201

    @pytest.mark.parametrize(
        ("content", "status", "code"),
        [
            (photo() + b"\0" * 8 * 1024 * 1024, 413, "photo_too_large"),
            (b"<svg/>", 422, "invalid_photo"),
            (b"", 422, "invalid_photo"),
        ],
    )
    def test_says_what_is_wrong(self, ana, delivery, content, status, code):
        answer = ana.upload(content, delivery)

        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert not ProofPhoto.objects.exists()

    def test_refuses_a_query_it_does_not_understand(self, ana):
        for query in ("", "?id=1&deliveryId=2&point=B&takenAt=2026", "?point=" + "B" * 2000, "?takenAt=x"):
            answer = ana.client.post(f"/driver/photos/{query}", photo(), content_type="image/jpeg")

            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_report")


class TestLimits:
    def test_are_one_upload_at_a_time_for_a_driver(self, ana, delivery):
        bia = phone(name="Bia")
        theirs = asking_for(Options(needs_photo=True), collected=True, driver=bia.driver)
        upload = attempts.count(AT_ONCE, str(ana.driver.pk))

        busy, other = ana.upload(photo(), delivery), bia.upload(photo(), theirs)

        assert (busy.status_code, busy.json()["code"], other.status_code) == (503, "photos_busy", 201)
        upload.forgive()
        assert [ana.upload(photo(), delivery).status_code for _time in range(2)] == [201, 201]

    def test_refuse_photos_of_a_driver_after_ten_that_cannot_be_used(self, ana, delivery):
        refused = [ana.upload(b"no photo", delivery).status_code for _time in range(REFUSED.amount)]

        answer = ana.upload(photo(), delivery)

        assert refused == [422] * 10
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_refused_photos")
        assert not ProofPhoto.objects.exists()
        bia = phone(name="Bia")
        assert bia.upload(photo(), asking_for(Options(), collected=True, driver=bia.driver)).status_code == 201

    def test_count_no_photos_that_were_kept_or_refused_for_another_reason(self, ana, delivery):
        other = asking_for(Options(needs_photo=True), collected=True)

        for _time in range(REFUSED.amount):
            assert ana.upload(photo(), other).json()["code"] == "not_your_route"

        assert ana.upload(photo(), delivery).status_code == 201


class TestMovesWithProof:
    def test_deliver_with_photo_pin_and_name(self, ana, delivery):
        upload = uuid4()
        ana.upload(photo(), delivery, upload=upload)

        answer = send(ana, delivery, photos=[str(upload)], pin=pin_of(delivery), receivedBy=" Célia ").json()

        assert answer["outcomes"][0]["done"] is True
        assert StopProof.objects.get().received_by == "Célia"
        assert StopProof.objects.get().pin_confirmed_at is not None

    @pytest.mark.parametrize("unreadable", ["x", "", None, 5, {}])
    def test_leave_out_a_photo_whose_id_cannot_be_read(self, ana, delivery, unreadable):
        upload = uuid4()
        ana.upload(photo(), delivery, upload=upload)
        before = unreadable_photos()

        alone, beside = (
            send(ana, delivery, photos=photos, pin=pin_of(delivery)).json()["outcomes"][0]
            for photos in ([unreadable], [unreadable, str(upload)])
        )

        assert (alone["code"], beside["done"]) == ("photo_required", True)
        assert unreadable_photos() - before == 2

    def test_are_refused_with_a_wrong_pin_in_the_phones_language(self, delivery, ana):
        upload = uuid4()
        ana.upload(photo(), delivery, upload=upload)
        portuguese = Phone(ana.driver, language="pt-br")

        outcome = send(portuguese, delivery, photos=[str(upload)], pin=wrong_pin_of(delivery)).json()["outcomes"][0]

        assert (outcome["code"], outcome["done"]) == ("wrong_pin", False)
        assert "4" in outcome["detail"]
        assert "receiver" not in outcome["detail"]
        assert StopProof.objects.get().wrong_pins == 1

    def test_fail_with_a_photo(self, ana, delivery):
        upload = uuid4()
        ana.upload(photo(), delivery, upload=upload)

        answer = send(ana, delivery, "fail", reason="Nobody there", photos=[str(upload)]).json()

        assert answer["outcomes"][0]["done"] is True
        assert first_stop(delivery).photos.count() == 1

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("photos", ["x", {"1": 1}, [str(uuid4())] * 11]),
            ("pin", [1234, "1" * 11]),
            ("receivedBy", ["x" * 121, ["x"], "\0", "\udfff"]),
        ],
    )
    def test_refuse_what_they_do_not_understand(self, ana, delivery, name, values):
        for value in values:
            (outcome,) = send(ana, delivery, **{name: value}).json()["outcomes"]

            assert (outcome["done"], outcome["code"]) == (False, "invalid_report")
        assert Stop.objects.get().status == "COLLECTED"
