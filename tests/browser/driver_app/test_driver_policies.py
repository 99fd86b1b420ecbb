"""Orders left at the door, second attempts and pickups on drivers' phones."""

from playwright.sync_api import expect

from delivery.lifecycle import Mode, OnFailure
from delivery.models import StopProof
from delivery.payload import Options
from tests.browser.driver_app.test_driver_proof import delivered, statuses, take_photo
from tests.delivery.proofs import asking_for
from tests.factories import DeliveryFactory

LEAVE, RETRY = Options(on_failure=OnFailure.LEAVE, has_pin=True), Options(on_failure=OnFailure.RETRY)


class TestLeftAtTheDoor:
    def test_needs_a_photo_and_neither_a_name_nor_a_pin(self, ana):
        delivery = asking_for(LEAVE, collected=True, driver=ana.driver)
        ana.press("Delivered")
        sheet = ana.page.locator("dialog")

        sheet.get_by_label("Nobody is there: I leave it at the door").check()

        expect(sheet.get_by_label("Who received it?")).to_be_hidden()
        expect(sheet.get_by_label("PIN that the receiver tells you")).to_be_hidden()
        ana.press_in_sheet("Confirm delivery")
        expect(sheet.locator(".problem:not(:empty)")).to_have_text("Take a photo first.")
        assert ana.look("left") == []
        take_photo(ana)
        ana.confirm("Confirm delivery")
        delivered(ana)
        assert statuses(delivery) == ["DELIVERED"]
        assert StopProof.objects.get().left_at_door


class TestSecondAttempt:
    def test_comes_after_the_other_stops_also_without_a_signal(self, ana):
        delivery = asking_for(RETRY, Options(), collected=True, driver=ana.driver)
        now = ana.page.locator("article.now")
        expect(now.locator(".label")).to_have_text("B")
        ana.lose_signal()

        ana.press("Couldn't deliver")
        sheet = ana.page.locator("dialog")
        expect(sheet.get_by_text("You come here again")).to_be_visible()
        expect(sheet.get_by_text("Call first")).to_be_hidden()
        sheet.get_by_label("Nobody there").check()
        ana.confirm("Not delivered")

        expect(now.locator(".label")).to_have_text("C")
        ana.press("Delivered")
        ana.confirm("Confirm delivery")
        expect(now.locator(".label")).to_have_text("B")
        expect(now.get_by_text("Second attempt")).to_be_visible()
        ana.find_signal()
        expect(ana.page.get_by_text("Waiting to be sent")).to_have_count(0)
        assert statuses(delivery) == ["COLLECTED", "DELIVERED"]


class TestStateOfTheVersionBefore:
    """A phone has kept it, or a server that is not replaced yet answers with it."""

    OLD = {
        "deliveryId": "1", "status": "COLLECTED", "returnsToA": False,
        "points": [{"label": "A", "status": None}, *({"label": label, "status": "COLLECTED"} for label in "BC")],
    }  # fmt: skip  # a table

    def test_is_predicted_too(self, ana):
        after = ana.page.evaluate(
            """async (old) => {
              const { predicted, nextMove } = await import("/static/driver_app/predicted.js");
              const moves = ["B", "C"].map((point) => ({ deliveryId: "1", trigger: "deliver", point }));
              return [0, 1, 2].map((count) => predicted(old, moves.slice(0, count)))
                .map((route) => [route.status, nextMove(route)?.point.label]);
            }""",
            self.OLD,
        )

        assert after == [["COLLECTED", "B"], ["COLLECTED", "C"], ["FINISHED", None]]


class TestPickups:
    def test_lead_from_stop_to_stop_and_then_to_a(self, ana):
        delivery = DeliveryFactory.create(stops=2, mode=Mode.REVERSE, accepted=True, driver=ana.driver)
        now = ana.page.locator("article.now")
        expect(now.get_by_text("Collect here")).to_be_visible()

        ana.press("Collected")
        ana.confirm("Yes, collected")
        expect(now.locator(".label")).to_have_text("C")
        ana.press("Couldn't collect")
        ana.page.locator("dialog").get_by_label("Place closed").check()
        ana.confirm("Not collected")

        expect(now.get_by_text("Bring everything to A")).to_be_visible()
        assert ana.look("bring") == []
        ana.press("Everything is at A")
        expect(ana.page.locator("dialog .goods li")).to_have_count(1)
        ana.confirm("Yes, handed over")
        delivered(ana)
        assert statuses(delivery) == ["DELIVERED", "FAILED"]
