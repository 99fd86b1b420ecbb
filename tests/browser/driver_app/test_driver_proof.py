"""Proof of delivery on drivers' phones: photos from the camera, the PIN, and who received."""

from io import BytesIO

import pytest
from django.core.files.storage import storages
from PIL import Image
from playwright.sync_api import expect

from delivery.models import ProofPhoto, StopProof
from delivery.payload import Options
from tests.browser.waiting import until
from tests.delivery.proofs import asking_for, first_stop, pin_of, wrong_pin_of

CAMERA = (2000, 1500)  # larger than what is kept


def photo_file(size):
    """A photo with a camera's noise."""
    out = BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(out, "JPEG", quality=70)
    return {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": out.getvalue()}


@pytest.fixture
def at_the_door(ana):
    """Opens the sheet for a delivery at B, whose request asked for these options."""

    def go(**options):
        delivery = asking_for(Options(**options), collected=True, driver=ana.driver)
        ana.press("Delivered")
        return delivery

    return go


def statuses(delivery):
    return [stop.status for stop in delivery.stops.order_by("index")]


def take_photo(phone, size=(800, 600)):
    phone.page.locator("dialog input[type=file]").set_input_files(photo_file(size))
    phone.page.locator(".photo canvas").wait_for()


def enter_pin(phone, pin):
    for digit in pin:
        phone.page.locator(".pad").get_by_role("button", name=digit, exact=True).click()


def deliver(phone):
    """Confirm the delivery of the last stop, and wait until the service has recorded it."""
    phone.confirm("Confirm delivery")
    delivered(phone)


def delivered(phone):
    phone.go_on_after_route()
    expect(phone.page.get_by_text("Waiting to be sent")).to_have_count(0)


class TestPhoto:
    def test_is_made_small_on_the_phone_and_kept_with_the_name(self, ana, at_the_door):
        delivery = at_the_door(needs_photo=True)
        sizes = []

        def measure(request):
            if "/photos/" in request.url:
                sizes.append(len(request.post_data_buffer))

        ana.page.on("request", measure)
        take_photo(ana, CAMERA)
        ana.page.get_by_label("Who received it?").fill("José da portaria")

        deliver(ana)

        photo = ProofPhoto.objects.get()
        assert (photo.stop, photo.width, photo.height) == (first_stop(delivery), 1600, 1200)
        assert StopProof.objects.get().received_by == "José da portaria"
        assert len(sizes) == 1
        assert sizes[0] < 2_000_000
        assert ana.complaints == []

    def test_is_asked_for_and_has_to_be_one(self, ana, at_the_door):
        delivery = at_the_door(needs_photo=True)

        file = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"<script>alert(1)</script>"}
        ana.page.locator("dialog input[type=file]").set_input_files(file)
        expect(ana.page.locator("dialog .problem:not(:empty)")).to_have_text(
            "This photo cannot be read. Take it again."
        )
        ana.press_in_sheet("Confirm delivery")

        expect(ana.page.locator("dialog .problem:not(:empty)")).to_have_text("Take a photo first.")
        assert ana.page.locator(".photo").count() == 0
        delivery.refresh_from_db()
        assert delivery.route_status == "COLLECTED"

    def test_is_there_again_after_the_camera_has_ended_the_page(self, ana, at_the_door):
        at_the_door(needs_photo=True)
        take_photo(ana)

        ana.page.reload()
        ana.press("Delivered")

        ana.page.locator(".photo canvas").wait_for()
        deliver(ana)
        assert ProofPhoto.objects.count() == 1

    def test_without_a_signal_is_kept_and_sent_before_its_move(self, ana, at_the_door):
        delivery = at_the_door(needs_photo=True)
        ana.lose_signal()
        take_photo(ana)
        ana.confirm("Confirm delivery")
        ana.page.get_by_text("Waiting to be sent: Delivered at B").wait_for()
        ana.page.close()
        ana.page = ana.context.new_page()
        ana.page.goto(f"{ana.base}/driver/")
        ana.page.get_by_text("Waiting to be sent: Delivered at B").wait_for()

        ana.find_signal()

        delivered(ana)
        photo = ProofPhoto.objects.get()
        assert photo.stop == first_stop(delivery)
        assert storages["proofs"].exists(photo.name)
        delivery.refresh_from_db()
        assert delivery.status == "DELIVERED"

    def test_that_does_not_get_through_is_made_smaller(self, open_phone):
        """Each try fails after some milliseconds, which are as many seconds here."""
        quick = "const late = performance.now.bind(performance); performance.now = () => late() * 1_000;"
        ana = open_phone(name="Ana Lima", on_duty=True, script=quick)
        asking_for(Options(needs_photo=True), collected=True, driver=ana.driver)
        sizes = []

        def lose_three(route):
            sizes.append(len(route.request.post_data_buffer))
            ana.page.wait_for_timeout(50)
            if len(sizes) <= 3:
                route.abort()
            else:
                route.continue_()

        ana.page.route("**/driver/photos/**", lose_three)
        ana.press("Delivered")
        take_photo(ana, CAMERA)
        deliver(ana)

        photo = ProofPhoto.objects.get()
        assert (photo.width, photo.height) == (640, 480)
        assert sizes[0] > sizes[1] > sizes[2] == sizes[3]

    def test_lets_moves_at_other_points_pass(self, ana):
        delivery = asking_for(Options(needs_photo=True), Options(), collected=True, driver=ana.driver)
        held = []
        ana.page.route("**/driver/photos/**", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks the function
        ana.press("Delivered")
        take_photo(ana)
        ana.confirm("Confirm delivery")
        ana.page.locator(".now .label").get_by_text("C", exact=True).wait_for()
        ana.press("Delivered")
        ana.confirm("Confirm delivery")

        until(ana.page, lambda: statuses(delivery) == ["COLLECTED", "DELIVERED"])
        assert len(held) == 1
        held[0].continue_()

        delivered(ana)
        assert statuses(delivery) == ["DELIVERED", "DELIVERED"]

    def test_of_a_failure_is_kept_too(self, ana, at_the_door):
        at_the_door()
        ana.confirm("Back")
        ana.press("Couldn't deliver")
        ana.page.get_by_text("Other reasons").click()
        ana.page.get_by_label("Another reason").check()
        ana.page.get_by_label("More about it").fill("Rua interditada")
        take_photo(ana)

        ana.confirm("Not delivered")

        ana.page.get_by_role("button", name="Returned to A").wait_for()
        expect(ana.page.get_by_text("Waiting to be sent")).to_have_count(0)
        photo = ProofPhoto.objects.get()
        assert photo.stop.failure_reason == "Rua interditada"


class TestPin:
    def test_is_entered_on_large_keys(self, ana, at_the_door):
        delivery = at_the_door(has_pin=True)
        ana.press_in_sheet("Confirm delivery")
        expect(ana.page.locator("dialog .problem:not(:empty)")).to_have_text("Enter the four digits.")

        enter_pin(ana, pin_of(delivery))
        deliver(ana)

        assert StopProof.objects.get().pin_confirmed_at

    def test_that_is_wrong_is_explained_and_the_rest_stays_entered(self, ana, at_the_door):
        delivery = at_the_door(has_pin=True, needs_photo=True)
        take_photo(ana)
        ana.page.get_by_label("Who received it?").fill("Maria")
        enter_pin(ana, wrong_pin_of(delivery))
        ana.press_in_sheet("Confirm delivery")

        expect(ana.page.locator(".pin .problem")).to_contain_text("4")
        expect(ana.page.locator(".notice.bad:visible")).to_have_count(0)
        expect(ana.page.get_by_label("Who received it?")).to_have_value("Maria")
        expect(ana.page.locator(".photo canvas")).to_have_count(1)
        expect(ana.page.get_by_label("PIN that the receiver tells you")).to_have_value("")
        enter_pin(ana, pin_of(delivery))
        deliver(ana)

        assert StopProof.objects.get().received_by == "Maria"
        assert ProofPhoto.objects.count() == 1
